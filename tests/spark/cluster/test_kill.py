"""Streams that are killed while rules change: all matches are correct and written exactly once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.spark.support import processes
from tests.spark.support.workload import as_json, as_rules, events, plain_matches, subscriptions

from tamis.spark import apply_changes, build_index

FILES = 6
# Each version is a delta upon those before, and takes seconds.
MAX_VERSIONS = 3
EVENTS = events(FILES * 25)


class KilledStream:
    """A stream of files, the versions published while it runs, and the rules of each version."""

    def __init__(self, spark: SparkSession, folder: Path, seed: int) -> None:
        self.spark, self.folder, self.draw = spark, folder, random.Random(seed)
        self.rules: dict[Any, str] = dict(subscriptions(80, seed))
        self.states: dict[str, dict[Any, str]] = {"v0": dict(self.rules)}
        self.fresh = subscriptions(500, seed + 1)
        build_index(spark.createDataFrame(as_rules(self.rules)), folder / "store", version="v0")
        (folder / "in").mkdir()
        (folder / "held").mkdir()
        for number in range(FILES):
            some = EVENTS[number * 25 : number * 25 + 25]
            pq.write_table(as_json(some), folder / f"held/{number:02}.parquet")

    def step(self) -> None:
        """Once all files of the stream are matched, publish another version and add the next file."""
        if len(self.numbers("commits")) < FILES - len(self.held()):
            time.sleep(0.002)
            return
        if self.numbers("commits") and len(self.states) <= MAX_VERSIONS:
            self.change()
        for path in self.held()[:1]:
            path.rename(self.folder / "in" / path.name)

    def held(self) -> list[Path]:
        return sorted((self.folder / "held").iterdir())

    def change(self) -> None:
        rows: list[tuple[Any, ...]] = []
        for id in self.draw.sample(range(120), 12):
            if self.draw.random() < 0.5:
                rows.append((id, None, "delete"))
                self.rules.pop(id, None)
            else:
                self.rules[id] = self.fresh[self.draw.randrange(500)]
                rows.append((id, self.rules[id], "upsert"))
        version = f"v{len(self.states)}"
        # Before it is published: a batch may use it at once.
        self.states[version] = dict(self.rules)
        table = self.spark.createDataFrame(rows, "id bigint, expression string, op string")
        apply_changes(table, self.folder / "store", version=version, shards=1)

    def start(self, master: str, trigger: str) -> subprocess.Popen[bytes]:
        return processes.start("stream_driver.py", master, self.folder, trigger, log=self.folder / "log")

    def numbers(self, below: str) -> set[int]:
        folder = self.folder / "checkpoint" / below
        found = folder.iterdir() if folder.exists() else []
        return {int(path.stem) for path in found if path.stem.isdigit()}

    def wait_within_a_batch(self, process: subprocess.Popen[bytes], batches: int) -> None:
        """Run until `batches` batches are committed and another is pinned but not committed."""
        while len(done := self.numbers("commits")) < batches or not self.numbers("pins") - done:
            assert process.poll() is None, self.log()
            assert len(done) < FILES, "every batch was committed before it was observed"
            self.step()

    def finish(self, master: str) -> None:
        for path in self.held():
            path.rename(self.folder / "in" / path.name)
        process = self.start(master, "available")
        try:
            assert process.wait() == 0, self.log()
        finally:
            processes.kill(process)

    def log(self) -> str:
        return processes.tail(self.folder / "log")

    def check(self) -> None:
        """Compare the matches of each batch with plain tamis and the rules of the batch's version."""
        pins = {
            int(path.stem): json.loads(path.read_text())["version"]
            for path in (self.folder / "checkpoint/pins").glob("*.json")
        }
        by_id = {event["event_id"]: event for event in EVENTS}
        seen: list[int] = []
        for batch, version in pins.items():
            table = pq.read_table(self.folder / f"out/batch_id={batch}", partitioning=None)
            rows = table.to_pylist()
            matched = {(row["event_id"], id) for row in rows for id in row["ids"]}
            drawn = [by_id[row["event_id"]] for row in rows]
            assert matched == plain_matches(self.states[version], drawn), (batch, version)
            seen += [row["event_id"] for row in rows]
        assert sorted(seen) == sorted(by_id)
        assert len(pins) == FILES and len(set(pins.values())) > 1, pins


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path, random_seed: int) -> KilledStream:
    return KilledStream(spark, tmp_path, random_seed)


def test_a_driver_that_is_killed_twice(stream: KilledStream) -> None:
    for batches in (1, 3):
        process = stream.start("local[2]", "forever")
        try:
            stream.wait_within_a_batch(process, batches)
        finally:
            processes.kill(process)
    stream.finish("local[2]")
    stream.check()


def test_an_executor_that_is_killed(stream: KilledStream) -> None:
    process = stream.start("local-cluster[2,1,1024]", "forever")
    try:
        stream.wait_within_a_batch(process, 1)
        executors = [
            pid for pid, line in processes.descendants(process.pid) if "CoarseGrainedExecutorBackend" in line
        ]
        assert len(executors) == 2
        os.kill(executors[0], signal.SIGKILL)
        while len(stream.numbers("commits")) < FILES:
            assert process.poll() is None, stream.log()
            stream.step()
    finally:
        processes.kill(process)
        processes.remove_work_folders(stream.folder / "log")
    stream.check()
