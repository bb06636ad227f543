"""A build in which Spark starts a late task again: `python speculation.py MASTER FOLDER`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
from pyspark import TaskContext

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.spark.workload import as_json, as_rules, events, plain_matches, subscriptions

from tamis.spark import build_index, local_session, match, vacuum
from tamis.spark.shards import ShardBuilder

SHARDS = 4
SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
    "spark.executor.memory": "512m",
}


class Late(ShardBuilder):
    """A builder whose first attempt at the first shard writes everything, but says so after the second."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = list(super().__call__(batches))
        context = TaskContext.get()
        assert context is not None
        second = Path(self.uri).with_name("second")
        if context.partitionId() == 0:
            while context.attemptNumber() == 0 and not second.exists():
                time.sleep(0.05)
            second.touch()
        yield from written


def main() -> None:
    """Build, and compare with plain tamis."""
    master, folder = sys.argv[1], Path(sys.argv[2])
    rules, drawn = subscriptions(200), events(60)
    spark = local_session(master, settings=SETTINGS)
    try:
        store = folder / "store"
        with patch("tamis.spark.building.ShardBuilder", Late):
            ref = build_index(spark.createDataFrame(as_rules(rules)), store, version="v", shards=SHARDS)
        assert (ref.shards, ref.subscriptions) == (SHARDS, 200)
        # Both attempts have written their file; the manifest knows the one that was heard.
        assert len(list(store.glob("versions/v/shard-*"))) == SHARDS + 1
        table, expected = spark.createDataFrame(as_json(drawn)), plain_matches(rules, drawn)
        assert {tuple(row) for row in match(table, ref).collect()} == expected
        assert len(vacuum(spark, store, grace=timedelta())) == 1
        assert {tuple(row) for row in match(table, ref).collect()} == expected
        print("done", flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
