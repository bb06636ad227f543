"""The lock files install anywhere: every line pinned and hashed, no host or machine path in them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def entries(lock: Path) -> list[str]:
    """The lock's requirements, each joined with its continuation lines."""
    joined = lock.read_text().replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def test_there_is_a_lock_for_development() -> None:
    assert "dev.lock" in [lock.name for lock in LOCKS]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_entry_is_pinned_and_hashed(lock: Path) -> None:
    loose = [e for e in entries(lock) if not re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", e)]
    assert loose == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_no_host_or_path_is_written_down(lock: Path) -> None:
    suspicious = [
        line for line in lock.read_text().splitlines() if "://" in line or "index" in line or "/" in line
    ]
    assert suspicious == []


def test_the_lock_holds_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["tooling"]]
    pins = dict(entry.split()[0].split("==") for entry in entries(ROOT / "requirements" / "dev.lock"))
    unmet = []
    for requirement in map(Requirement, asked):
        pin = pins.get(canonicalize_name(requirement.name))
        if pin is None or pin not in requirement.specifier:
            unmet.append(str(requirement))
    assert unmet == []
