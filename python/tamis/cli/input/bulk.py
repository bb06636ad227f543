"""Bulk calls over rows of which some are bad.

A bulk call succeeds for all its rows, or raises an error that names one of them. Repeating the call without
that row, rather than row by row, keeps the bulk speed when bad rows are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from tamis import TamisError

Result = TypeVar("Result")

# Rows per call after a bad row. A failed call is repeated, so with many bad rows large calls would cost
# quadratic time.
_ROWS_AFTER_ERROR = 256


def run_in_bulk(
    count: int,
    work: Callable[[int, int], Result],
    report: Callable[[int, TamisError], None],
) -> Iterator[tuple[int, int, Result]]:
    """Call ``work(start, stop)`` on ranges that cover all rows but the bad ones, in order.

    ``work`` raises a ``TamisError`` whose ``row`` is relative to ``start``. Each bad row is passed to
    ``report``, after the results of the rows before it were yielded; ``report`` may raise to stop. An error
    without a row does not concern one row, and is raised.

    >>> from tamis.files import InputError
    >>> def work(start, stop):
    ...     if start <= 2 < stop:
    ...         raise InputError("line 3", "bad", row=2 - start)
    ...     return "fine"
    >>> list(run_in_bulk(5, work, lambda row, error: print("row", row, "is bad")))
    row 2 is bad
    [(0, 2, 'fine'), (3, 5, 'fine')]
    """
    pending = [(0, count)]
    bad: dict[int, TamisError] = {}
    while pending:
        start, stop = pending.pop()
        if start in bad:
            report(start, bad.pop(start))
            continue
        try:
            result = work(start, stop)
        except TamisError as error:
            row: int | None = getattr(error, "row", None)
            if row is None:
                raise
            bad[start + row] = error
            pending += reversed(_split_at(start, start + row, stop))
        else:
            yield start, stop, result


def _split_at(start: int, bad: int, stop: int) -> list[tuple[int, int]]:
    """Divide a range into the rows before the bad one, the bad one, and small ranges after it."""
    before = [(start, bad)] if start < bad else []
    after = [(at, min(at + _ROWS_AFTER_ERROR, stop)) for at in range(bad + 1, stop, _ROWS_AFTER_ERROR)]
    return [*before, (bad, bad + 1), *after]
