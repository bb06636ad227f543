from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession


def interpreter(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable] * len(batch)})


def test_workers_run_this_python(spark: SparkSession) -> None:
    rows = spark.range(3).mapInArrow(interpreter, "python string").collect()
    assert {row["python"] for row in rows} == {sys.executable}
