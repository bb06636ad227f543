"""Puts figures into the documentation: the record, the tables of two pages, the picture."""

from __future__ import annotations

import re
import sys

from benchmarking import picture, record, tables
from benchmarking.record import Run

PAGE = record.ROOT / "docs" / "benchmarks.md"
FRONT = record.ROOT / "README.md"
PICTURE = record.ROOT / "docs" / "pictures" / "benchmarks.svg"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def refresh() -> int:
    """Take the last run into the record, and write what is shown of the record."""
    old = record.read(record.RECORD) if record.RECORD.is_file() else Run("", True)
    if record.LATEST.is_file():
        new = record.read(record.LATEST)
        if not new.is_complete:
            print(
                f"{record.shown(record.LATEST)} is of a run with --engines or --subscriptions: the "
                "documentation shows complete runs only (--only is fine)",
                file=sys.stderr,
            )
            return 2
        old = record.merged(old, new)
        record.write(old, record.RECORD)
    if not old.cases:
        print("there is no run to show; `python3 dev.py bench` makes one", file=sys.stderr)
        return 2
    PAGE.write_text(with_results(PAGE.read_text(encoding="utf-8"), old), encoding="utf-8")
    FRONT.write_text(with_summary(FRONT.read_text(encoding="utf-8"), old), encoding="utf-8")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture.draw(old), encoding="utf-8")
    for path in (record.RECORD, PAGE, FRONT, PICTURE):
        print(f"written: {record.shown(path)}")
    return 0


def with_results(page: str, run: Run) -> str:
    """The page with the run's tables between its two markers."""
    return _between_markers(page, f"{_measured_on(run)}\n\n{tables.markdown(run.cases)}")


def with_summary(page: str, run: Run) -> str:
    """The page with a table of what users get by default."""
    return _between_markers(page, f"{tables.summary(run.cases, 'compiled')}\n\n{_measured_on(run)}")


def _measured_on(run: Run) -> str:
    return f"Measured on {'; '.join(sorted({case.machine for case in run.cases}))}."


def _between_markers(page: str, text: str) -> str:
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"the page has no {BEGIN} ... {END}")
    # A function, so that backslashes in the text stay what they are.
    return pattern.sub(lambda _: f"{BEGIN}\n\n{text}\n\n{END}", page)
