"""A build in which Spark starts a late task twice: `python speculative_build.py MASTER FOLDER RESULTS`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
from pyspark import TaskContext
from tests.spark.support.frames import frame_rows
from tests.spark.support.workload import as_json, as_rules, events, subscriptions

from tamis.spark import build_index, local_session, match, vacuum
from tamis.spark.build.shard_builder import ShardBuilder

SHARDS = 4
SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
    "spark.executor.memory": "512m",
}


class LateShardBuilder(ShardBuilder):
    """A builder whose first two attempts at the first shard return after both have written their file."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = list(super().__call__(batches))
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 0:
            attempt, store = context.attemptNumber(), Path(self.uri)
            store.with_name(f"attempt-{attempt}").touch()
            while attempt < 2 and not store.with_name(f"attempt-{1 - attempt}").exists():
                time.sleep(0.05)
        yield from written


def main() -> None:
    """Build, match, vacuum and match again."""
    master, folder, results = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    spark = local_session(master, settings=SETTINGS)
    try:
        store = folder / "store"
        with patch("tamis.spark.build.version.ShardBuilder", LateShardBuilder):
            rules = spark.createDataFrame(as_rules(subscriptions(200)))
            ref = build_index(rules, store, version="v", shards=SHARDS)
        table = spark.createDataFrame(as_json(events(60)))
        found = {
            "shards": ref.shards,
            "rules": ref.subscriptions,
            "shard files": len(list(store.glob("versions/v/shard-*"))),
            "matches": frame_rows(match(table, ref)),
            "removed": len(vacuum(spark, store, grace=timedelta())),
            "matches after vacuum": frame_rows(match(table, ref)),
        }
        results.write_text(json.dumps(found))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
