"""Bulk work around bad rows."""

from __future__ import annotations

import pytest

from tamis import TamisError
from tamis.cli.input.bulk import run_in_bulk
from tamis.files import InputError


def collect(count: int, bad: set[int]) -> tuple[list[int], list[int], int]:
    calls = 0

    def work(start: int, stop: int) -> list[int]:
        nonlocal calls
        calls += 1
        for row in range(start, stop):
            if row in bad:
                raise InputError("row", "bad", row - start)
        return list(range(start, stop))

    reported: list[int] = []
    results = run_in_bulk(count, work, lambda row, error: reported.append(row))
    good = [row for _, _, rows in results for row in rows]
    return good, reported, calls


@pytest.mark.parametrize(
    ("count", "bad"),
    [
        (0, set()),
        (1, {0}),
        (5, set()),
        (5, {0}),
        (5, {4}),
        (5, {0, 1, 2, 3, 4}),
        (2000, {0, 1, 255, 256, 257, 1024, 1999}),
        (2000, set(range(0, 2000, 2))),
    ],
)
def test_all_rows_are_good_or_reported_in_order(count: int, bad: set[int]) -> None:
    good, reported, calls = collect(count, bad)
    assert good == [row for row in range(count) if row not in bad]
    assert reported == sorted(bad)
    assert calls <= 1 + 2 * len(bad) + count / 100


def test_an_error_that_names_a_later_row_first() -> None:
    """A bulk call may look for one kind of fault in all rows before it looks for another."""

    def work(start: int, stop: int) -> int:
        for bad in (3, 1):
            if start <= bad < stop:
                raise InputError("row", "bad", bad - start)
        return stop - start

    reported: list[int] = []
    results = list(run_in_bulk(5, work, lambda row, error: reported.append(row)))
    assert results == [(0, 1, 1), (2, 3, 1), (4, 5, 1)]
    assert reported == [1, 3]


def test_an_error_about_no_row_ends_the_work() -> None:
    def work(start: int, stop: int) -> None:
        raise InputError("file", "unreadable")

    with pytest.raises(InputError, match="unreadable"):
        list(run_in_bulk(5, work, lambda row, error: None))


def test_a_report_that_raises_ends_the_work_after_the_rows_before() -> None:
    def work(start: int, stop: int) -> str:
        if start <= 2 < stop:
            raise InputError("row", "bad", 2 - start)
        return "good"

    def report(row: int, error: TamisError) -> None:
        raise error

    results = run_in_bulk(5, work, report)
    assert next(results) == (0, 2, "good")
    with pytest.raises(InputError):
        next(results)
