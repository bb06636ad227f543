"""docs/security.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
# A file, or a file and a test in it.
NAMED = sorted({*re.findall(r"`((?:tests|crates|fuzz)/[^`*{}]+)`", PAGE)})
# A test and the file that has it.
TESTS = sorted({*re.findall(r"`([a-z_:]+)` in\s+`((?:tests|crates)/[^`]+)`", PAGE)})


def defines(path: str, name: str) -> bool:
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.search(rf"\b(fn|def) {re.escape(name)}\b", text) is not None


def test_every_promise_has_tests() -> None:
    promises, tests = PAGE.count("**Promise"), PAGE.count("**Tests.**")
    assert promises == tests > 5


@pytest.mark.parametrize("named", NAMED)
def test_a_named_file_exists(named: str) -> None:
    path, _, test = named.partition("::")
    assert (ROOT / path).exists()
    assert not test or defines(path, test)


@pytest.mark.parametrize(("test", "path"), TESTS)
def test_a_named_test_exists(test: str, path: str) -> None:
    assert defines(path, test.rpartition("::")[2])
