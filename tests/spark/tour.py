"""Everything once, on whatever Spark is asked for: run as `python tour.py KIND FOLDER`.

A process has one Spark, and here it is another one: with executors of their own, or a Connect server.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.spark.workload import (
    as_columns,
    as_json,
    as_rules,
    attributes_of,
    events,
    plain_index,
    plain_matches,
    subscriptions,
)

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


def start(kind: str) -> SparkSession:
    """Start a cluster with executors of their own, or a Connect server."""
    if kind == "cluster":
        return local_session("local-cluster[2,1,1024]", settings=VALIDATE)
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    for name, value in VALIDATE.items():
        session.conf.set(name, value)
    return session


def found(matches: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in matches.collect())


def tour(spark: SparkSession, folder: Path) -> None:
    """Build, match in every way, change, compact, explain, stream; compare with plain tamis each time."""
    rules: dict[Any, str] = dict(subscriptions(150))
    drawn = events(80)
    expected = sorted(plain_matches(rules, drawn))
    assert expected
    store = folder / "store"
    table = spark.createDataFrame(as_rules({**rules, 999: "a >"}))
    try:
        build_index(table, store)
    except tamis.ParseError as error:
        assert "subscription 999" in str(error) and "^" in str(error)
    else:
        raise AssertionError("an expression that is none was taken")
    index = build_index(table, store, shards=3, on_error="quarantine")
    assert [row["id"] for row in read_quarantine(spark, index).collect()] == ["999"]

    columns, texts = spark.createDataFrame(as_columns(drawn)), spark.createDataFrame(as_json(drawn))
    assert found(match(columns, index)) == expected
    assert found(match(texts, index)) == expected
    ages: list[dict[str, Any]] = [{name: e[name] for name in ("event_id", "age") if name in e} for e in drawn]
    rows = [(event["event_id"], attributes_of(event)) for event in ages]
    for kind in ("int", "double"):
        typed = [(id, {name: float(v) if kind == "double" else v for name, v in e.items()}) for id, e in rows]
        maps = spark.createDataFrame(typed, f"event_id bigint, event map<string,{kind}>")
        assert found(match(maps, index)) == sorted(plain_matches(rules, ages))
    assert found(match(texts, spark.createDataFrame(as_rules(rules)))) == expected
    assert len(match(texts, index, output="array", groups=2).collect()) == len(drawn)

    pq.write_table(as_json(drawn), folder / "e.parquet", row_group_size=20)
    assert found(match_files(spark, folder / "e.parquet", index)) == expected

    plain = plain_index(rules)
    best = [(e["event_id"], *pair) for e in drawn for pair in plain.top_k(attributes_of(e), 2)]
    assert found(match(texts, index, top_k=2, groups=2)) == sorted(best)
    assert explain(match(texts, index), texts, index, limit=3).count() == 3

    changes = [(5, None, "delete"), (1000, "true", "upsert")]
    apply_changes(spark.createDataFrame(changes, "id int, expression string, op string"), store)
    del rules[5]
    rules[1000] = "true"
    expected = sorted(plain_matches(rules, drawn))
    assert found(match(texts, open_index(spark, store))) == expected
    assert found(match(texts, compact(spark, store))) == expected
    assert vacuum(spark, store) == []
    try:
        open_index(spark, store, "nope")
    except tamis.FileError as error:
        assert "has no version 'nope'" in str(error)
    else:
        raise AssertionError("a version that is not there was opened")

    (folder / "in").mkdir()
    (folder / "e.parquet").rename(folder / "in/e.parquet")
    stream = spark.readStream.schema("event_id bigint, event string").parquet(str(folder / "in"))
    query = match_stream(
        stream,
        index_uri=store,
        out=folder / "out",
        checkpoint=folder / "checkpoint",
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    assert found(spark.read.parquet(str(folder / "out")).select("event_id", "id")) == expected


def main() -> None:
    """Do all of it and say so."""
    kind, folder = sys.argv[1], Path(sys.argv[2])
    spark = start(kind)
    try:
        if kind == "cluster":
            print("application", spark.sparkContext.applicationId, flush=True)
        tour(spark, folder)
        print("done", flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
