"""The seed of a run repeats its random tests, also when only some of them run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DRAWS = """
from hypothesis import given, settings
from hypothesis import strategies as st
{more}
drawn = []

@settings(max_examples=200)
@given(st.lists(st.integers() | st.floats(allow_nan=False) | st.text()))
def test_draws(values):
    drawn.append(values)

def test_shows():
    print("drawn:", hash(repr(drawn)))
"""
# Constants of other modules: enough to be drawn if anything looks for them.
OTHERS = "\n".join(f"x{n} = {123_456_789 + n}; y{n} = {n}.123; z{n} = 'word {n}'" for n in range(50))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A project of its own with the conftest of this one."""
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    return tmp_path


def draws(project: Path, seed: str, more: str = "") -> str:
    (project / "test_draws.py").write_text(DRAWS.format(more=more))
    env = {**os.environ, "TAMIS_SEED": seed, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "test_draws.py"]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"TAMIS_SEED={seed} repeats this run" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "drawn:" in line]
    return line


def test_the_seed_repeats_a_run_whatever_else_is_loaded(run: Path) -> None:
    first = draws(run, "7")
    assert draws(run, "7") == first
    (run / "others.py").write_text(OTHERS)
    assert draws(run, "7", more="import others") == first
    assert draws(run, "8") != first
