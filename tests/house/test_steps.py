"""Steps of dev.py that run beside each other: order, failures, and the times of test binaries."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from development.steps import Step, binaries, run_beside


def step(title: str, code: str, *needs: str) -> Step:
    return Step(title, [sys.executable, "-c", code], needs=needs)


def test_a_step_starts_when_all_that_it_needs_are_done(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def append(title: str, *needs: str) -> Step:
        return step(title, f"open({str(log)!r}, 'a').write('{title} ')", *needs)

    run_beside([append("last", "second", "first"), append("second", "first"), append("first")], os.environ, 3)
    assert log.read_text().split() == ["first", "second", "last"]


def test_a_failure_shows_its_output_stops_the_others_and_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    steps = [
        step("endless", "import time; time.sleep(600)"),
        step("broken", "print('the reason'); raise SystemExit(3)"),
        step("never", "print('not reached')", "broken"),
    ]
    with pytest.raises(SystemExit) as ended:
        run_beside(steps, os.environ, 3)
    shown = capfd.readouterr()
    assert ended.value.code == 3
    assert "the reason" in shown.out and "not reached" not in shown.out
    assert "exit code 3: broken" in shown.err


def test_only_a_success_is_followed_up() -> None:
    followed: list[str] = []

    def followed_up(title: str, code: str, *needs: str) -> Step:
        return dataclasses.replace(step(title, code, *needs), on_success=lambda: followed.append(title))

    with pytest.raises(SystemExit):
        run_beside(
            [followed_up("good", ""), followed_up("bad", "raise SystemExit(1)", "good")], os.environ, 2
        )
    assert followed == ["good"]


def test_no_more_steps_at_once_than_allowed(tmp_path: Path) -> None:
    code = (
        "import pathlib, time, sys\n"
        f"mark = pathlib.Path({str(tmp_path)!r}) / 'running'\n"
        "mark.touch(exist_ok=False); time.sleep(0.05); mark.unlink()"
    )
    run_beside([step(f"step {n}", code) for n in range(4)], os.environ, 1)


def test_times_of_test_binaries() -> None:
    output = """
     Running unittests src/lib.rs (target/debug/deps/tamis_core-0f1e)
test result: ok. 12 passed; 0 failed; finished in 0.50s
     Running tests/kill.rs (target/debug/deps/kill-1f)
test result: ok. 2 passed; 0 failed; finished in 2.50s
   Doc-tests tamis_core
test result: ok. 1 passed; 0 failed; finished in 1.00s
"""
    expected = [("tamis_core src/lib.rs", 0.5), ("tests/kill.rs", 2.5), ("doc-tests tamis_core", 1.0)]
    assert binaries(output) == expected
