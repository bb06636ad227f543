"""Work through rows in bulk, although some of them are bad.

A bulk call either works for all its rows or raises an error that names one of them. Going on around
that row, rather than row by row from the start, keeps the bulk speed when bad rows are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from tamis.errors import TamisError

Result = TypeVar("Result")

# After a bad row, the next calls take few rows, as more bad ones may follow: a call that fails is
# work lost, and with many bad rows in a large range the loss would grow with the square.
_CAREFUL_ROWS = 256


def around_bad_rows(
    count: int,
    work: Callable[[int, int], Result],
    report: Callable[[int, TamisError], None],
) -> Iterator[tuple[int, int, Result]]:
    """Call ``work(start, stop)`` on ranges that cover all rows but the bad ones, in order.

    ``work`` raises a ``TamisError`` whose ``row`` counts from its ``start``. Each bad row goes to
    ``report``, after the results of the rows before it have been given; ``report`` raises to stop
    there. An error without a row is not about one row, and ends the work.

    >>> from tamis.files import InputError
    >>> def work(start, stop):
    ...     if start <= 2 < stop:
    ...         raise InputError("line 3", "bad", row=2 - start)
    ...     return "fine"
    >>> list(around_bad_rows(5, work, lambda row, error: print("row", row, "is bad")))
    row 2 is bad
    [(0, 2, 'fine'), (3, 5, 'fine')]
    """
    todo = [(0, count)]
    bad: dict[int, TamisError] = {}
    while todo:
        start, stop = todo.pop()
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
            todo += reversed(_around(start, start + row, stop))
        else:
            yield start, stop, result


def _around(start: int, bad: int, stop: int) -> list[tuple[int, int]]:
    """Cut a range into the rows before the bad one, the bad one, and careful pieces after it."""
    before = [(start, bad)] if start < bad else []
    after = [(at, min(at + _CAREFUL_ROWS, stop)) for at in range(bad + 1, stop, _CAREFUL_ROWS)]
    return [*before, (bad, bad + 1), *after]
