"""Files for command lines, and a fixture that runs command lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.commands import RunCommand, command_runner

RULES = """# id = line number
age between 18 and 35 and country in ('US', 'DE')
not device = 'tv'

age > 30 ^ 2.5
"""

EVENTS = """{"name": "ann", "age": 24, "country": "US", "device": "phone"}
{"name": "bob", "age": 33, "country": "DE"}

{"name": "cy", "age": 70, "country": "FR", "device": "tv"}
{"name": "dee"}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with rules.txt and events.jsonl, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.txt").write_text(RULES, encoding="utf-8")
    (tmp_path / "events.jsonl").write_text(EVENTS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run a command line; return its exit code, stdout and stderr."""
    return command_runner(capsys)
