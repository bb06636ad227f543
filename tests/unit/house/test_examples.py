"""Every script in examples/ runs and prints what its reader is told to expect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"

EXPECTED = {
    "quickstart.py": [
        "['young-travellers', 'big-spenders']",
        "['big-spenders', 'not-on-tv']",
        "3 rules loaded, True",
    ],
    "builder.py": ["True", "None", "['plain', 'weighted', 'either']"],
    "arrow.py": ["['event', 'id'] 4", "large: 1200", "november: 1200", "november: -30", "refund: -30"],
    "live_updates.py": ["seen: {True}", "rules: 101"],
}


def test_every_example_is_listed() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name: str, tmp_path: Path) -> None:
    # Run elsewhere, so that an example cannot lean on where it stands.
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in EXPECTED[name] if line not in lines] == []
    assert list(tmp_path.iterdir()) == []
