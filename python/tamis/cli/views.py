"""What is said of each event: its ids, how many they are, or its best ids with scores.

A view asks the index, and knows how one event's answer looks in each kind of output; the writers
in ``writers`` know how answers follow each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

from tamis.errors import EventError
from tamis.files import EventChunk, InputError
from tamis.index import Index

Id: TypeAlias = str | int
Scored: TypeAlias = tuple[Id, float]
Hit = TypeVar("Hit")

# A person does not read more than this of one event; a script reads --json or a pipe.
_MOST_IDS_IN_A_TABLE = 50


class View(Protocol[Hit]):
    """One event's answer is a sequence of hits: ids, or ids with scores."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What a table calls the cells."""

    def ask(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Hit]]:
        """Answer for each event of a chunk."""

    def cells(self, hits: Sequence[Hit]) -> tuple[str, ...]:
        """Show an answer in a table."""

    def lines(self, name: str, hits: Sequence[Hit]) -> Iterable[str]:
        """Show an answer as lines of tab-separated text."""

    def record(self, hits: Sequence[Hit]) -> Mapping[str, object]:
        """Show an answer as a part of a JSON object."""


class IdsView:
    """All ids that match."""

    columns = ("ids", "count")

    def __init__(self, threads: int | None) -> None:
        self._threads = threads

    def ask(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Id]]:
        """Match all events of the chunk in one call."""
        return chunk.match(index, self._threads)

    def cells(self, hits: Sequence[Id]) -> tuple[str, ...]:
        """Show the ids, and their number."""
        return _shorten([str(id) for id in hits]), str(len(hits))

    def lines(self, name: str, hits: Sequence[Id]) -> Iterable[str]:
        """Give a line per id."""
        return (f"{name}\t{one_line(id)}" for id in hits)

    def record(self, hits: Sequence[Id]) -> Mapping[str, object]:
        """Give the list of ids."""
        return {"ids": hits}


class CountsView:
    """How many ids match, and nothing else."""

    columns = ("count",)

    def __init__(self, threads: int | None) -> None:
        self._threads = threads

    def ask(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Id]]:
        """Match all events of the chunk in one call."""
        return chunk.match(index, self._threads)

    def cells(self, hits: Sequence[Id]) -> tuple[str, ...]:
        """Show the count."""
        return (str(len(hits)),)

    def lines(self, name: str, hits: Sequence[Id]) -> Iterable[str]:
        """Give one line, also when nothing matches."""
        return (f"{name}\t{len(hits)}",)

    def record(self, hits: Sequence[Id]) -> Mapping[str, object]:
        """Give the count."""
        return {"count": len(hits)}


class TopView:
    """The best ids that match, with their scores, best first."""

    columns = ("ids (score)", "count")

    def __init__(self, k: int) -> None:
        self._k = k

    def ask(self, index: Index, chunk: EventChunk) -> Sequence[Sequence[Scored]]:
        """Rank event by event; an event that cannot be ranked is named by its row."""
        answers = []
        for row, event in enumerate(chunk.mappings()):
            try:
                answers.append(index.top_k(event, k=self._k))
            except EventError as error:
                raise InputError(f"event {chunk.numbers[row]}", str(error), row) from error
        return answers

    def cells(self, hits: Sequence[Scored]) -> tuple[str, ...]:
        """Show the ids with scores, and their number."""
        return _shorten([f"{id} ({score:g})" for id, score in hits]), str(len(hits))

    def lines(self, name: str, hits: Sequence[Scored]) -> Iterable[str]:
        """Give a line per id, with the score at its end."""
        return (f"{name}\t{one_line(id)}\t{score!r}" for id, score in hits)

    def record(self, hits: Sequence[Scored]) -> Mapping[str, object]:
        """Give a list of ids with scores."""
        return {"ids": [{"id": id, "score": score} for id, score in hits]}


def one_line(value: object) -> str:
    r"""Keep a name or an id on its line and in its column; ``--json`` has the exact text.

    >>> one_line("two\nlines")
    'two lines'
    """
    text = str(value)
    if text.isprintable():
        return text
    return text.replace("\t", " ").replace("\r", " ").replace("\n", " ")


def _shorten(texts: list[str]) -> str:
    shown = ", ".join(texts[:_MOST_IDS_IN_A_TABLE])
    more = len(texts) - _MOST_IDS_IN_A_TABLE
    return f"{shown}, and {more} more" if more > 0 else shown
