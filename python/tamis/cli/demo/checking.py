"""Are the answers those of a plain scan? Read from the files that the demo wrote, past Spark."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from tamis.cli.demo.stream import BATCHES, versions_of
from tamis.cli.exits import CommandError
from tamis.index import Index

# A scan takes some milliseconds an event.
_EVENTS = 500
_EVENTS_OF_A_BATCH = 100


class Checker:
    """Compares with `scan`, which evaluates every expression.

    Attributes:
        events: How many events were compared so far.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self.events = 0

    def matches(self) -> str:
        """Compare all matches of some events."""
        some = self._some(self._folder / "events", _EVENTS)
        found = _matches(self._folder / "matches", some)
        self._compare(self._scan, some, found, "match")
        return f"checked {len(some):,} events against a plain scan: equal"

    def best(self, k: int) -> str:
        """Compare the best matches of some events, and their scores."""
        some = self._some(self._folder / "events", _EVENTS)
        table = _of_events(self._folder / "best", some)
        best: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for row in table:
            best[row["event_id"]].append((row["id"], row["score"]))
        for id, event in some.items():
            expected = self._scan.top_k(json.loads(event), k)
            _refuse_difference("top-k", id, best[id], expected)
        self.events += len(some)
        return f"checked the {k} best matches of {len(some):,} events against a plain scan: equal"

    def stream(self) -> str:
        """Compare events of each batch with the subscriptions that it must have seen."""
        compared = 0
        for number in range(BATCHES):
            some = self._some(self._folder / f"stream/events/{number}.parquet", _EVENTS_OF_A_BATCH)
            found = _matches(self._folder / f"stream/matches/batch_id={number}", some)
            index = self._scan if number == 0 else self._changed_scan
            self._compare(index, some, found, f"batch {number} of the stream")
            compared += len(some)
        versions = len(set(versions_of(self._folder)))
        return f"checked {compared:,} events of the stream, {versions} versions, against a plain scan: equal"

    @cached_property
    def _scan(self) -> Index:
        return _scan_of(self._subscriptions)

    @cached_property
    def _changed_scan(self) -> Index:
        changed = dict(self._subscriptions)
        for row in pq.read_table(self._folder / "changes").to_pylist():
            changed.pop(row["id"], None)
            if row["op"] == "upsert":
                changed[row["id"]] = row["expression"]
        return _scan_of(changed)

    @cached_property
    def _subscriptions(self) -> dict[int, str]:
        table = pq.read_table(self._folder / "subscriptions")
        return dict(zip(table["id"].to_pylist(), table["expression"].to_pylist(), strict=True))

    def _some(self, path: Path, most: int) -> dict[int, str]:
        """Draw events by their ids, so that it does not matter how they are stored."""
        ids = sorted(pq.read_table(path, columns=["event_id"])["event_id"].to_pylist())
        drawn = self._random.sample(ids, min(most, len(ids)))
        table = ds.dataset(path).to_table(filter=ds.field("event_id").isin(drawn))
        return dict(zip(table["event_id"].to_pylist(), table["event"].to_pylist(), strict=True))

    def _compare(self, index: Index, events: dict[int, str], found: dict[int, list[int]], what: str) -> None:
        answers: Iterable[Sequence[Any]] = index.match_json_many(list(events.values()), ordered=True)
        for id, expected in zip(events, answers, strict=True):
            _refuse_difference(what, id, sorted(found[id]), sorted(expected))
        self.events += len(events)


def _refuse_difference(what: str, event: int, found: Sequence[Any], expected: Sequence[Any]) -> None:
    if list(found) != list(expected):
        raise CommandError(
            f"tamis: error: {what}: event {event} has the matches {found}, a plain scan finds {expected}"
        )


def _scan_of(subscriptions: dict[int, str]) -> Index:
    """Index in the order of ids, by which equal scores rank."""
    index = Index(engine="scan")
    index.add_many(dict(sorted(subscriptions.items())))
    return index


def _matches(path: Path, events: dict[int, str]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for row in _of_events(path, events):
        found[row["event_id"]].append(row["id"])
    return found


def _of_events(path: Path, events: Iterable[int]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        ds.dataset(path).to_table(filter=ds.field("event_id").isin(list(events))).to_pylist()
    )
    return rows
