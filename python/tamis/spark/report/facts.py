"""The data of a report: steps, matches, attributes, shards and batches of a run of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the pipeline.

    Attributes:
        name: Its name.
        text: Its result.
        rows: The number of rows it processed.
        unit: What a row is.
        seconds: Its duration.
    """

    name: str
    text: str
    rows: int
    unit: str
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second; 0 if the duration is 0."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Attribute:
    """The use of an attribute in events and rules.

    Attributes:
        name: Its name.
        frequency: The share of events that have it.
        rule_share: The share of rules that test it.
        selectivity: The mean selectivity of predicates on it; None if there are none.
    """

    name: str
    frequency: float
    rule_share: float
    selectivity: float | None


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard file of the index."""

    name: str
    subscriptions: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A micro-batch of a stream: the version it was matched with, and its counts."""

    number: int
    version: str
    subscriptions: int
    events: int
    matches: int


@dataclass(frozen=True, slots=True)
class Run:
    """All data of a report.

    Attributes:
        title: The title.
        settings: The settings of the run, in the order to show.
        steps: The steps.
        matched: The number of events by number of matches.
        attributes: The attributes to show, in order.
        shards: The shards of the index.
        batches: The micro-batches of the stream.
        checks: The results of comparisons, as sentences.
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
        """The number of all matches."""
        return sum(count * events for count, events in self.matched.items())

    @property
    def events(self) -> int:
        """The number of all events."""
        return sum(self.matched.values())


def bins_of(matched: Mapping[int, int], most: int = 24) -> list[tuple[int, int, int]]:
    """Divide numbers of matches into at most `most` bins of equal width: first, last, number of events.

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
