"""What is known of a run of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the pipeline.

    Attributes:
        name: One word.
        text: What it did.
        rows: How many things it worked on.
        unit: What they are.
        seconds: How long it took.
    """

    name: str
    text: str
    rows: int
    unit: str
    seconds: float

    @property
    def rate(self) -> float:
        """How many things it worked on in a second."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute, as events have it and subscriptions ask about it.

    Attributes:
        name: Its name.
        frequency: The share of events that have it.
        asked: The share of subscriptions that ask about it.
        selectivity: The mean share of events for which a predicate on it holds; None if none was asked.
    """

    name: str
    frequency: float
    asked: float
    selectivity: float | None


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of the index."""

    name: str
    subscriptions: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a stream: with which version it was matched, and what that found."""

    number: int
    version: str
    subscriptions: int
    events: int
    matches: int


@dataclass(frozen=True, slots=True)
class Run:
    """All that a page shows.

    Attributes:
        title: What was run.
        settings: With what, in the order to show.
        steps: What was done.
        matched: For a number of matches, how many events have so many.
        attributes: The ones to show, in the order to show.
        shards: The files of the index.
        batches: The batches of the stream.
        checks: What was compared with what, in sentences.
    """

    title: str
    settings: Mapping[str, str]
    steps: tuple[Step, ...]
    matched: Mapping[int, int]
    attributes: tuple[Attribute, ...]
    shards: tuple[Shard, ...]
    batches: tuple[Batch, ...]
    checks: tuple[str, ...]

    @property
    def matches(self) -> int:
        """How many matches there are in all."""
        return sum(count * events for count, events in self.matched.items())

    @property
    def events(self) -> int:
        """How many events there are in all."""
        return sum(self.matched.values())


def bins_of(matched: Mapping[int, int], most: int = 24) -> list[tuple[int, int, int]]:
    """Put numbers of matches into bins of equal width: first, last, and how many events.

    >>> bins_of({0: 5, 1: 2, 9: 1}, most=5)
    [(0, 1, 7), (2, 3, 0), (4, 5, 0), (6, 7, 0), (8, 9, 1)]
    >>> bins_of({})
    []
    """
    if not matched:
        return []
    width = -(-(max(matched) + 1) // most)
    counts: dict[int, int] = {}
    for number, events in matched.items():
        counts[number // width] = counts.get(number // width, 0) + events
    return [
        (at * width, at * width + width - 1, counts.get(at, 0)) for at in range(max(matched) // width + 1)
    ]
