"""Paths with characters that are special in URIs: every component must find the same file."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.spark.support.frames import file_rows, frame_rows
from tests.spark.support.workload import as_json, as_rules, events, plain_matches, subscriptions

from tamis.cli import main
from tamis.cli.exits import CommandError
from tamis.cli.pipeline.tables import format_of, read_table, refuse_existing
from tamis.spark import build_index, match_files, match_stream, open_index, read_quarantine
from tamis.spark.matching.parquet_files import list_files
from tamis.spark.store.uris import spark_uri, store_uri

# A percent sign that looks like an escape, a hash that looks like a fragment, a question mark like a query.
ODD = "50% off #1 a%20b?"

RULES = subscriptions(60)
EVENTS = events(40)
EXPECTED = sorted(plain_matches(RULES, EVENTS))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of that name, with rules, one of them bad, and events."""
    odd = tmp_path / ODD
    (odd / "events").mkdir(parents=True)
    pq.write_table(as_rules({**RULES, 999: "a >"}), odd / "rules.parquet")
    pq.write_table(as_json(EVENTS), odd / "events/e.parquet")
    return odd


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert spark_uri(ODD) == spark_uri(Path(ODD)) == f"file://{tmp_path}/{ODD}"
    assert spark_uri(f"{ODD}/") == spark_uri(f"file://{quote(str(tmp_path / ODD))}/") == spark_uri(ODD)
    assert spark_uri("file:/a/b") == "file:///a/b" and store_uri("file:/a/b") == "/a/b"
    assert spark_uri("s3a://bucket/50%25/") == store_uri("s3a://bucket/50%25/") == "s3a://bucket/50%25"


def test_files_as_workers_find_them(folder: Path) -> None:
    file = str(folder / "events/e.parquet")
    for place in (
        str(folder / "events"),
        file,
        f"file://{quote(str(folder))}/events/",
        f"file://{quote(file)}",
    ):
        (listing,) = list_files([store_uri(place)])
        assert listing.files == [file]


def test_functions(spark: SparkSession, folder: Path) -> None:
    rules = spark.read.parquet(spark_uri(folder / "rules.parquet"))
    store = folder / "store"
    index = build_index(rules, store, on_error="quarantine")
    assert open_index(spark, f"file://{quote(str(store))}") == index
    assert [row["id"] for row in read_quarantine(spark, index).collect()] == ["999"]
    found = match_files(spark, folder / "events", index)
    assert frame_rows(found) == EXPECTED
    stream = spark.readStream.schema("event_id bigint, event string").parquet(spark_uri(folder / "events"))
    query = match_stream(
        stream,
        index_uri=store,
        out=folder / "out",
        checkpoint=folder / "checkpoint",
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    assert file_rows(folder / "out/batch_id=0") == EXPECTED
    assert (folder / "checkpoint/pins/0.json").exists() and (folder / "checkpoint/commits/0").exists()


def test_commands(spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    at = {
        name: f"{ODD}/{name}" for name in ("rules", "rules.parquet", "events", "index", "matches", "profile")
    }
    for arguments in (
        ("ingest", at["rules.parquet"], at["rules"], "--as", "rules"),
        ("profile", at["events"], at["profile"]),
        ("build", at["rules"], at["index"], "--stats", f"{at['profile']}/sample"),
        ("match", at["events"], at["index"], at["matches"]),
        ("stream", at["events"], at["index"], f"{ODD}/streamed", "--checkpoint", f"{ODD}/place"),
    ):
        assert main(["spark", *arguments]) == 0, arguments
    for out in ("matches", "streamed/batch_id=0"):
        assert file_rows(folder / out) == EXPECTED
    assert [path.name for path in folder.parent.iterdir()] == [ODD]


def test_formats(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.jsonl").touch()
    assert format_of(spark, "events.jsonl") == format_of(spark, f"file://{tmp_path}/events.jsonl") == "json"
    assert format_of(spark, "s3://bucket/events") == "parquet"
    assert format_of(spark, "s3://bucket/events.csv") == "csv"
    for name, format in (("part-0.snappy.parquet", "parquet"), ("part-0.json", "json"), ("x.CSV", "csv")):
        folder = tmp_path / format
        folder.mkdir()
        (folder / "_SUCCESS").touch()
        (folder / name).touch()
        assert format_of(spark, str(folder)) == format_of(spark, format) == format
    # A table of Delta has Parquet files, too.
    table = tmp_path / "table"
    (table / "_delta_log").mkdir(parents=True)
    (table / "_delta_log/00000000000000000000.json").write_text("{}")
    (table / "part-0.parquet").touch()
    assert format_of(spark, "table") == "delta"
    with pytest.raises(CommandError, match="this Spark has no reader for the format delta; add its package"):
        read_table(spark, "table")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match=r"set --format to one of parquet, json, csv$"):
        format_of(spark, "empty")
    for missing in ("missing", "missing.csv"):
        with pytest.raises(CommandError, match=f"^{missing}: error: no such file or folder$"):
            format_of(spark, missing)


def test_what_is_there_is_kept(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    refuse_existing(spark, "missing", overwrite=False)
    refuse_existing(spark, "out", overwrite=True)
    refuse_existing(spark, "s3://bucket/out", overwrite=False)
    for out in ("out", f"file://{tmp_path}/out"):
        with pytest.raises(CommandError, match=r"out: error: it already exists; .* --overwrite$"):
            refuse_existing(spark, out, overwrite=False)
