"""Writers of results: a table on a terminal, tab-separated lines in a pipe, JSON on request.

A writer prints each chunk immediately, because events may come from an endless pipe.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Generic, Protocol, TypeVar

from tamis.cli.output.console import output_console, plain
from tamis.cli.output.event_names import EventName
from tamis.cli.output.views import Hit, View, one_line

_Hit = TypeVar("_Hit", contravariant=True)

# Rich formats a whole table at a time; with small tables the first rows appear early.
_ROWS_PER_TABLE = 100
_LINES_PER_WRITE = 10_000
_NARROWEST_NAME, _WIDEST_NAME = 7, 30
_COUNT_WIDTH = 7
_GAP = 3  # characters that rich puts between two columns


class Writer(Protocol[_Hit]):
    """Prints the results of events."""

    def write(self, names: Sequence[EventName], results: Sequence[Sequence[_Hit]]) -> None:
        """Print one result per event name."""


class JsonWriter(Generic[Hit]):
    """One JSON object per event and line."""

    def __init__(self, view: View[Hit]) -> None:
        self._view = view

    def write(self, names: Sequence[EventName], results: Sequence[Sequence[Hit]]) -> None:
        """Print an object per event."""
        encode = json.JSONEncoder(ensure_ascii=False).encode
        record = self._view.record
        pairs = zip(names, results, strict=True)
        _print_lines(encode({"event": name, **record(hits)}) for name, hits in pairs)


class LinesWriter(Generic[Hit]):
    """Tab-separated text, a line per hit."""

    def __init__(self, view: View[Hit]) -> None:
        self._view = view

    def write(self, names: Sequence[EventName], results: Sequence[Sequence[Hit]]) -> None:
        """Print the lines of each event."""
        lines = self._view.lines
        pairs = zip(names, results, strict=True)
        _print_lines(line for name, hits in pairs for line in lines(one_line(name), hits))


def _print_lines(lines: Iterator[str]) -> None:
    """Print lines in blocks: stdout may be unbuffered, and a call per line slow."""
    while block := list(islice(lines, _LINES_PER_WRITE)):
        sys.stdout.write("\n".join(block) + "\n")
    sys.stdout.flush()


class TableWriter(Generic[Hit]):
    """A table with a row per event, printed chunk by chunk."""

    def __init__(self, view: View[Hit]) -> None:
        self._view = view
        self._console = output_console()
        self._name_width: int | None = None

    def write(self, names: Sequence[EventName], results: Sequence[Sequence[Hit]]) -> None:
        """Print the rows, with the header before the first."""
        for first in range(0, len(names), _ROWS_PER_TABLE):
            last = first + _ROWS_PER_TABLE
            self._write_table(names[first:last], results[first:last])

    def _write_table(self, names: Sequence[EventName], results: Sequence[Sequence[Hit]]) -> None:
        from rich import box
        from rich.table import Table

        is_first = self._name_width is None
        if self._name_width is None:
            # All tables must have the same widths, so the first names set the width.
            longest = max(len(str(name)) for name in names)
            self._name_width = min(max(longest, _NARROWEST_NAME), _WIDEST_NAME)
        table = Table(box=box.SIMPLE_HEAD, show_header=is_first, show_edge=False, pad_edge=False)
        table.add_column("event", width=self._name_width, justify="right", overflow="ellipsis")
        wide = self._console.width - self._name_width - _COUNT_WIDTH - 2 * _GAP
        for title in self._view.columns:
            if title == "count":
                table.add_column(title, width=_COUNT_WIDTH, justify="right")
            else:
                table.add_column(title, width=max(wide, 10), overflow="fold")
        for name, hits in zip(names, results, strict=True):
            style = "" if hits else "dim"
            cells = [plain(cell) for cell in self._view.cells(hits)]
            table.add_row(plain(name), *cells, style=style)
        self._console.print(table)


def choose_writer(view: View[Hit], as_json: bool) -> Writer[Hit]:
    """Return the JSON writer if requested, else a table for a terminal and lines for a pipe."""
    if as_json:
        return JsonWriter(view)
    if sys.stdout.isatty():
        return TableWriter(view)
    return LinesWriter(view)
