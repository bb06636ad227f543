"""Every public function once: `python full_pipeline.py MASTER FOLDER RESULTS`.

MASTER is that of a cluster to start, or the URL of a Spark Connect server. RESULTS is a file for the rows
that each way of matching found; the test compares them with plain tamis.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from tests.spark.support.frames import frame_rows
from tests.spark.support.slow_workers import retry_slow_starts
from tests.spark.support.workload import as_columns, as_json, as_rules, attributes_of, events, subscriptions

import tamis
from tamis.spark import (
    apply_changes,
    build_index,
    compact,
    explain,
    local_session,
    match,
    match_files,
    match_stream,
    open_index,
    read_quarantine,
    vacuum,
)

VALIDATE = {"spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true"}


def start(master: str) -> SparkSession:
    """Start a cluster, or connect to a server."""
    if not master.startswith("sc://"):
        spark = local_session(master, settings=VALIDATE)
        # So that the folders of its executors can be found and removed.
        print("application", spark.sparkContext.applicationId, flush=True)
        return spark
    session = SparkSession.builder.remote(master).getOrCreate()
    for name, value in VALIDATE.items():
        session.conf.set(name, value)
    return session


def message(action: Any, kind: type[Exception]) -> str | None:
    """The message of the error that an action raises; None if it raises none."""
    try:
        action()
    except kind as error:
        return str(error)
    return None


def pipeline(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Build, match in every way, change, compact, explain, stream."""
    drawn, store = events(80), folder / "store"
    table = spark.createDataFrame(as_rules({**subscriptions(150), 999: "a >"}))
    results: dict[str, Any] = {"bad rule": message(lambda: build_index(table, store), tamis.ParseError)}
    index = build_index(table, store, shards=3, on_error="quarantine")
    results["quarantine"] = [row["id"] for row in read_quarantine(spark, index).collect()]

    columns, texts = spark.createDataFrame(as_columns(drawn)), spark.createDataFrame(as_json(drawn))
    results["columns"] = frame_rows(match(columns, index))
    results["json"] = frame_rows(match(texts, index))
    ages: list[dict[str, Any]] = [{name: e[name] for name in ("event_id", "age") if name in e} for e in drawn]
    for kind, convert in (("int", int), ("double", float)):
        rows = [(e["event_id"], {name: convert(v) for name, v in attributes_of(e).items()}) for e in ages]
        maps = spark.createDataFrame(rows, f"event_id bigint, event map<string,{kind}>")
        results[f"maps of {kind}"] = frame_rows(match(maps, index))
    results["temporary index"] = frame_rows(match(texts, table.where("id < 999")))
    arrays = match(texts, index, output="array", groups=2).collect()
    results["arrays"] = sorted((row["event_id"], id) for row in arrays for id in row["ids"])
    results["array rows"] = len(arrays)

    pq.write_table(as_json(drawn), folder / "e.parquet", row_group_size=20)
    results["files"] = frame_rows(match_files(spark, folder / "e.parquet", index))
    results["top-k"] = frame_rows(match(texts, index, top_k=2, groups=2))
    explained = explain(match(texts, index), texts, index, limit=3).collect()
    results["truths"] = [row["truth"] for row in explained]

    changes = [(5, None, "delete"), (1000, "true", "upsert")]
    apply_changes(spark.createDataFrame(changes, "id int, expression string, op string"), store)
    results["delta"] = frame_rows(match(texts, open_index(spark, store)))
    results["compacted"] = frame_rows(match(texts, compact(spark, store)))
    results["removed"] = vacuum(spark, store)
    results["missing version"] = message(lambda: open_index(spark, store, "nope"), tamis.FileError)

    (folder / "in").mkdir()
    (folder / "e.parquet").rename(folder / "in/e.parquet")
    stream = spark.readStream.schema("event_id bigint, event string").parquet(str(folder / "in"))

    def match_all() -> None:
        query = match_stream(
            stream,
            index_uri=store,
            out=folder / "out",
            checkpoint=folder / "checkpoint",
            trigger={"availableNow": True},
        )
        query.awaitTermination()

    retry_slow_starts(match_all)
    results["stream"] = frame_rows(spark.read.parquet(str(folder / "out")).select("event_id", "id"))
    return results


def main() -> None:
    """Run the pipeline, and write what it found."""
    master, folder, results = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    spark = start(master)
    try:
        results.write_text(json.dumps(pipeline(spark, folder)))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
