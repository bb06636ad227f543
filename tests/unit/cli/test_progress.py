"""The progress bar: only for a person, only when the work takes a while, and it leaves no trace."""

from __future__ import annotations

import io
import sys

import pytest

from tamis.cli.output import progress
from tamis.cli.output.progress import ProgressMeter


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def watch(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float) -> io.StringIO:
    """Put a stream in the place of stderr; called by tests, as pytest sets its own after fixtures."""
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_DELAY_SECONDS", patience)
    return stream


def test_long_work_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch, Terminal(), patience=-1.0)
    with ProgressMeter("loading rules", total=100) as meter:
        meter.advance(40)
        meter.advance(10)
    assert "loading rules" in terminal.getvalue()
    assert "50%" in terminal.getvalue()


def test_what_is_printed_meanwhile_goes_where_it_should(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = watch(monkeypatch, Terminal(), patience=-1.0)
    with ProgressMeter("matching events", total=100) as meter:
        meter.advance(40)
        print("an answer")
        print("a complaint", file=sys.stderr)
    assert capsys.readouterr().out == "an answer\n"
    assert "a complaint" in terminal.getvalue()
    assert "an answer" not in terminal.getvalue()


def test_work_of_unknown_size_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch, Terminal(), patience=-1.0)
    with ProgressMeter("matching events", total=None) as meter:
        meter.advance(40)
    assert "matching events" in terminal.getvalue()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch, Terminal(), patience=1e9)
    with ProgressMeter("loading rules", total=100) as meter:
        meter.advance(100)
    assert terminal.getvalue() == ""


def test_a_bar_that_is_not_wanted_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch, Terminal(), patience=-1.0)
    with ProgressMeter("loading rules", total=100, enabled=False) as meter:
        meter.advance(100)
    assert terminal.getvalue() == ""


def test_a_pipe_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = watch(monkeypatch, io.StringIO(), patience=-1.0)
    with ProgressMeter("loading rules", total=100) as meter:
        meter.advance(100)
    assert pipe.getvalue() == ""
