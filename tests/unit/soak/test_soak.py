"""The soak: its lives and its trouble end without a finding, and it finds what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tamis
from soaking import schedule
from soaking.life import Life
from soaking.reference import WrongAnswer
from soaking.trouble import TROUBLES

pytestmark = pytest.mark.filterwarnings("ignore::tamis.NeverMatchesWarning")

TOOLS = Path(schedule.__file__).parents[1]


@pytest.mark.parametrize("number", range(8))
def test_a_life(number: int, tmp_path: Path) -> None:
    life = Life(f"life {number}", tmp_path)
    life.run(80)
    assert life.operations > 80
    assert life.reference.answers > 0


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble(name: str, tmp_path: Path) -> None:
    assert TROUBLES[name]("trouble", tmp_path) > 0


def test_a_wrong_answer_is_found(tmp_path: Path) -> None:
    life = Life("wrong", tmp_path)
    life.index.add("other", "n is null")
    life.reference.rules["other"] = tamis.parse("n is not null")
    with pytest.raises(WrongAnswer):
        life.match_one()
    with pytest.raises(WrongAnswer, match="'other' is n IS NULL"):
        life.reference.check_contents(life.index)


def test_a_worker_reports_each_life(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "soaking.worker", "--seed", "7", "--seconds", "0.01"]
    worker = schedule.Worker("worker", command)
    assert schedule.run([worker], 60) == 0
    assert worker.totals["lives"] >= 1 and worker.totals["operations"] > 0


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "import os; os.abort()"])
def test_a_worker_that_fails_or_crashes_is_a_finding(code: str, capfd: pytest.CaptureFixture[str]) -> None:
    endless = schedule.Worker("endless", [sys.executable, "-c", "import time; time.sleep(600)"])
    broken = schedule.Worker("broken", [sys.executable, "-c", f"import sys; sys.stderr.write('why'); {code}"])
    assert schedule.run([endless, broken], 600) == 1
    shown = capfd.readouterr()
    assert "broken ended with" in shown.err and "why" in shown.err
    assert "endless ended" not in shown.err
    assert shown.out.endswith("findings: 1\n")


def test_help() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOLS / "soak.py"), "--help"], capture_output=True, text=True, check=True
    )
    assert "--minutes" in done.stdout and "--operations" in done.stdout
