"""Compares the demo's results with the engine `scan`. Reads the demo's files with pyarrow, without Spark."""

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

from tamis import Index
from tamis.cli.demo.stream import BATCHES, versions_of
from tamis.cli.exits import CommandError

# Events to compare, in all and per batch of the stream: a scan takes milliseconds per event.
_EVENTS = 500
_BATCH_EVENTS = 100


class ScanCheck:
    """Compares results with `scan`, which evaluates every expression.

    Attributes:
        events: The number of events compared so far.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self.events = 0

    def matches(self) -> str:
        """Compare all matches of a sample of events."""
        sample = self._sample(self._folder / "events", _EVENTS)
        found = _matches(self._folder / "matches", sample)
        self._compare(self._scan, sample, found, "match")
        return f"checked {len(sample):,} events against a plain scan: equal"

    def best(self, k: int) -> str:
        """Compare the best matches of a sample of events, and their scores."""
        sample = self._sample(self._folder / "events", _EVENTS)
        best: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for row in _event_rows(self._folder / "best", sample):
            best[row["event_id"]].append((row["id"], row["score"]))
        for id, event in sample.items():
            expected = self._scan.top_k(json.loads(event), k)
            _require_equal("top-k", id, best[id], expected)
        self.events += len(sample)
        return f"checked the {k} best matches of {len(sample):,} events against a plain scan: equal"

    def stream(self) -> str:
        """Compare a sample of each batch with the rules of the version that was current for it."""
        compared = 0
        for number in range(BATCHES):
            sample = self._sample(self._folder / f"stream/events/{number}.parquet", _BATCH_EVENTS)
            found = _matches(self._folder / f"stream/matches/batch_id={number}", sample)
            index = self._scan if number == 0 else self._changed_scan
            self._compare(index, sample, found, f"batch {number} of the stream")
            compared += len(sample)
        versions = len(set(versions_of(self._folder)))
        return f"checked {compared:,} events of the stream, {versions} versions, against a plain scan: equal"

    @cached_property
    def _scan(self) -> Index:
        return _scan_index(self._rules)

    @cached_property
    def _changed_scan(self) -> Index:
        changed = dict(self._rules)
        for row in pq.read_table(self._folder / "changes").to_pylist():
            changed.pop(row["id"], None)
            if row["op"] == "upsert":
                changed[row["id"]] = row["expression"]
        return _scan_index(changed)

    @cached_property
    def _rules(self) -> dict[int, str]:
        table = pq.read_table(self._folder / "subscriptions")
        return dict(zip(table["id"].to_pylist(), table["expression"].to_pylist(), strict=True))

    def _sample(self, path: Path, most: int) -> dict[int, str]:
        """Draw events by their sorted ids, so that the sample does not depend on their storage."""
        ids = sorted(pq.read_table(path, columns=["event_id"])["event_id"].to_pylist())
        drawn = self._random.sample(ids, min(most, len(ids)))
        table = ds.dataset(path).to_table(filter=ds.field("event_id").isin(drawn))
        return dict(zip(table["event_id"].to_pylist(), table["event"].to_pylist(), strict=True))

    def _compare(self, index: Index, events: dict[int, str], found: dict[int, list[int]], what: str) -> None:
        results: Iterable[Sequence[Any]] = index.match_json_many(list(events.values()), ordered=True)
        for id, expected in zip(events, results, strict=True):
            _require_equal(what, id, sorted(found[id]), sorted(expected))
        self.events += len(events)


def _require_equal(what: str, event: int, found: Sequence[Any], expected: Sequence[Any]) -> None:
    if list(found) != list(expected):
        raise CommandError(
            f"tamis: error: {what}: event {event} has the matches {found}, a plain scan finds {expected}"
        )


def _scan_index(rules: dict[int, str]) -> Index:
    """Index rules in the order of their ids, so that equal scores rank by id as on Spark."""
    index = Index(engine="scan")
    index.add_many(dict(sorted(rules.items())))
    return index


def _matches(path: Path, events: dict[int, str]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for row in _event_rows(path, events):
        found[row["event_id"]].append(row["id"])
    return found


def _event_rows(path: Path, events: Iterable[int]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        ds.dataset(path).to_table(filter=ds.field("event_id").isin(list(events))).to_pylist()
    )
    return rows
