"""What a person sees on a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "tamis.cli"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")


def on_terminal(*arguments: str) -> str:
    """Run a command with stdout on a terminal that is 80 columns wide; give what it shows."""
    import pty

    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen([*COMMAND, *arguments], stdout=terminal, env=environment):
        os.close(terminal)
        shown = b""
        while True:
            try:
                data = os.read(controller, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not data:
                break
            shown += data
    os.close(controller)
    return shown.decode().replace("\r\n", "\n")


def test_match_is_a_table(files: Path) -> None:
    lines = on_terminal("match", "rules.txt", "events.jsonl").splitlines()
    assert [part in lines[0] for part in ("event", "ids", "count")] == [True] * 3
    rows = [line for line in lines if "2, 3" in line]
    assert len(rows) == 1 and rows[0].split() == ["1", "2,", "3", "2"]


def test_columns_line_up_over_many_rows(files: Path) -> None:
    """Rows are laid out in pieces, and the pieces must look like one table."""
    (files / "r.tsv").write_text("only\tage > 1\n", encoding="utf-8")
    with Path("many.jsonl").open("w", encoding="utf-8") as file:
        file.writelines('{"age": 40}\n' for _ in range(250))
    lines = on_terminal("match", "r.tsv", "many.jsonl").splitlines()
    rows = [line for line in lines if "only" in line]
    assert len(rows) == 250
    assert {(row.index("only"), len(row)) for row in rows} == {(10, 80)}
    assert sum("event" in line for line in lines) == 1


def test_explain_has_a_colour_per_truth(files: Path) -> None:
    shown = on_terminal("explain", "rules.txt", "events.jsonl", "--id", "2", "--event", "4")
    assert "rule 2 does not match event 4" in shown
    assert "\x1b[1;31mFALSE" in shown


def test_control_characters_of_an_id_do_not_reach_the_terminal(files: Path) -> None:
    rule = {"id": "red\x1b[41m", "expression": "age > 1"}
    (files / "r.jsonl").write_text(json.dumps(rule), encoding="utf-8")
    shown = on_terminal("match", "r.jsonl", "events.jsonl")
    assert "\x1b[41m" not in shown and "red�[41m" in shown


def test_tour() -> None:
    shown = on_terminal("tour")
    assert "\x1b[" in shown and "200 events, 31 rules: " in shown
