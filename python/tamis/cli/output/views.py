"""What is printed per event: the ids of its rules, their number, or the best ids with scores.

A view queries the index and formats the result of one event for each kind of output; the writers in
``writers`` print sequences of results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

from tamis import EventError, Index
from tamis.files import EventChunk, InputError

Id: TypeAlias = str | int
Scored: TypeAlias = tuple[Id, float]
Hit = TypeVar("Hit")

# Maximum ids of one event in a table; --json and pipes have all.
_MAX_TABLE_IDS = 50


class View(Protocol[Hit]):
    """The result of an event is a sequence of hits: ids, or ids with scores."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The titles of the cells in a table."""

    def query(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Hit]]:
        """Return the result of each event of a chunk."""

    def cells(self, hits: Sequence[Hit]) -> tuple[str, ...]:
        """Format a result as cells of a table."""

    def lines(self, name: str, hits: Sequence[Hit]) -> Iterable[str]:
        """Format a result as lines of tab-separated text."""

    def record(self, hits: Sequence[Hit]) -> Mapping[str, object]:
        """Format a result as a part of a JSON object."""


class IdsView:
    """All ids of matching rules."""

    columns = ("ids", "count")

    def __init__(self, threads: int | None) -> None:
        self._threads = threads

    def query(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Id]]:
        """Match all events of the chunk in one call."""
        return chunk.match(index, self._threads)

    def cells(self, hits: Sequence[Id]) -> tuple[str, ...]:
        """Return the ids, and their number."""
        return _shorten([str(id) for id in hits]), str(len(hits))

    def lines(self, name: str, hits: Sequence[Id]) -> Iterable[str]:
        """Return a line per id."""
        return (f"{name}\t{one_line(id)}" for id in hits)

    def record(self, hits: Sequence[Id]) -> Mapping[str, object]:
        """Return the list of ids."""
        return {"ids": hits}


class CountsView:
    """The number of matching rules."""

    columns = ("count",)

    def __init__(self, threads: int | None) -> None:
        self._threads = threads

    def query(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Id]]:
        """Match all events of the chunk in one call."""
        return chunk.match(index, self._threads)

    def cells(self, hits: Sequence[Id]) -> tuple[str, ...]:
        """Return the count."""
        return (str(len(hits)),)

    def lines(self, name: str, hits: Sequence[Id]) -> Iterable[str]:
        """Return one line, also without a match."""
        return (f"{name}\t{len(hits)}",)

    def record(self, hits: Sequence[Id]) -> Mapping[str, object]:
        """Return the count."""
        return {"count": len(hits)}


class TopView:
    """The ids of the best matching rules with their scores, best first."""

    columns = ("ids (score)", "count")

    def __init__(self, k: int) -> None:
        self._k = k

    def query(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Scored]]:
        """Rank event by event; an error names the event."""
        results = []
        for row, event in enumerate(chunk.mappings()):
            try:
                # No event matches more rules than there are; the core takes no larger number than 64 bits
                # hold.
                results.append(index.top_k(event, k=min(self._k, len(index))))
            except EventError as error:
                raise InputError(f"event {chunk.numbers[row]}", str(error), row) from error
        return results

    def cells(self, hits: Sequence[Scored]) -> tuple[str, ...]:
        """Return the ids with scores, and their number."""
        return _shorten([f"{id} ({score:g})" for id, score in hits]), str(len(hits))

    def lines(self, name: str, hits: Sequence[Scored]) -> Iterable[str]:
        """Return a line per id, with the score at its end."""
        return (f"{name}\t{one_line(id)}\t{score!r}" for id, score in hits)

    def record(self, hits: Sequence[Scored]) -> Mapping[str, object]:
        """Return a list of ids with scores."""
        return {"ids": [{"id": id, "score": score} for id, score in hits]}


def one_line(value: object) -> str:
    r"""Replace tabs and line breaks in a name or an id; ``--json`` has the exact text.

    >>> one_line("two\nlines")
    'two lines'
    """
    text = str(value)
    if text.isprintable():
        return text
    return text.replace("\t", " ").replace("\r", " ").replace("\n", " ")


def _shorten(texts: list[str]) -> str:
    shown = ", ".join(texts[:_MAX_TABLE_IDS])
    more = len(texts) - _MAX_TABLE_IDS
    return f"{shown}, and {more} more" if more > 0 else shown
