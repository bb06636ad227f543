"""Events files: where events come from, in chunks that an index matches in one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from tamis.files.arrow_events import CsvSource, ParquetSource
from tamis.files.errors import InputError
from tamis.files.formats import EventsFormat, events_format
from tamis.files.json_events import JsonSource
from tamis.files.rule import Report, stop_at_first

if TYPE_CHECKING:
    from tamis.index import Index

STANDARD_INPUT = "-"


class EventChunk(Protocol):
    """Some events that follow each other in a file."""

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each event in its file, from 1, growing."""

    @property
    def size(self) -> int:
        """What reading the chunk adds to a source's progress, in the unit of its ``total``."""

    def __len__(self) -> int:
        """Count the events."""

    def part(self, start: int, stop: int) -> Self:
        """Give the events from ``start`` up to ``stop``, counted from 0."""

    def match(self, index: Index, threads: int | None) -> Sequence[Sequence[str | int]]:
        """Match the events: one list of ids per event, in insertion order."""

    def mappings(self) -> list[Mapping[str, object]]:
        """Give the events as Python mappings; a bad one raises ``InputError`` with its row."""

    def values(self, path: str) -> list[object]:
        """Give each event's value at a dotted path, None where it has none."""


class EventSource(Protocol):
    """An events file that is open for reading, once."""

    @property
    def total(self) -> int | None:
        """How much there is to read, in the unit of ``EventChunk.size``, or None if unknown."""

    def chunks(self) -> Iterator[EventChunk]:
        """Read the events, in the file's order."""

    def place(self, number: int) -> str:
        """Name the place of an event in the file."""


def open_events(
    path: Path | str, format: EventsFormat | None = None, report: Report = stop_at_first
) -> EventSource:
    """Open an events file; its format follows from its ending unless given.

    ``-`` reads JSON lines from standard input, as they come. Rows of a CSV file with too few or
    too many cells go to ``report``. Other bad events show when they are matched. A file that
    cannot be read at all raises ``InputError``.
    """
    if str(path) == STANDARD_INPUT:
        if format not in (None, EventsFormat.JSONL):
            raise InputError("standard input", f"only JSON lines can be read, not {format}")
        return JsonSource.standard_input()
    path = Path(path)
    chosen = events_format(path) if format is None else format
    try:
        path.stat()  # says "no such file" in the same words for every format
        if chosen is EventsFormat.CSV:
            return CsvSource(path, report)
        if chosen is EventsFormat.PARQUET:
            return ParquetSource(path)
        return JsonSource.file(path)
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from error
