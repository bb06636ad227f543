"""Every step refuses output that overlaps what it reads, and leaves both as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.spark.support.workload import as_json, as_rules, events, subscriptions
from tests.support.commands import RunCommand

import tamis
from tamis.cli import command_parser
from tamis.cli.pipeline.step_log import StepLog
from tamis.spark import build_index, ingest, match_stream, save_profile


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with tables of events and rules, a folder named as an index, and a link."""
    monkeypatch.chdir(tmp_path)
    for name in ("events", "rules", "index/versions"):
        (tmp_path / name).mkdir(parents=True)
    pq.write_table(as_json(events(20)), tmp_path / "events/e.parquet")
    pq.write_table(as_rules(subscriptions(20)), tmp_path / "rules/r.parquet")
    (tmp_path / "index/CURRENT").write_text("v\n")
    (tmp_path / "link").symlink_to("events")
    return tmp_path


def content(folder: Path) -> dict[str, bytes | None]:
    """All files and folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize(
    "command",
    [
        "match events index events --overwrite",
        "match events index index --overwrite",
        "match events index link --overwrite",
        "match link index events/out --overwrite",
        "match events index . --overwrite",
        "match events index index/versions --overwrite",
        "match events/* index events --format json --overwrite",
        "match events index file:{folder}/events --overwrite",
        "profile events events --overwrite",
        "profile rules events --sample link --overwrite",
        "ingest rules rules --as rules --overwrite",
        "ingest rules out --as rules --bad rules --overwrite",
        "ingest rules out --as rules --bad ./out --overwrite",
        "ingest rules out --as rules --bad out/bad --overwrite",
        "build rules rules",
        "build rules .",
        "build rules rules/index",
        "build rules events --stats events",
        "changes index/changes.jsonl index",
        "stream events index events --checkpoint place",
        "stream events index out --checkpoint events/place",
    ],
)
def test_steps(folder: Path, command: str) -> None:
    """The check comes before all else, so no session is needed."""
    before = content(folder)
    arguments = command_parser().parse_args(["spark", *command.replace("{folder}", str(folder)).split()])
    with pytest.raises(tamis.FileError, match=r"^the output .+ the input .+Nothing was changed"):
        arguments.execute(None, arguments, StepLog())
    assert content(folder) == before


@pytest.mark.parametrize(
    ("out", "checkpoint"),
    [
        ("index", "place"),
        ("out", "index/place"),
        ("out", "out"),
        ("out", "out/place"),
        ("place/out", "place"),
    ],
)
def test_folders_of_a_stream(folder: Path, out: str, checkpoint: str) -> None:
    stream: Any = SimpleNamespace(isStreaming=True, sparkSession=None)
    with pytest.raises(tamis.FileError, match=r"^the output .+ the input .+Nothing was changed"):
        match_stream(stream, index_uri="index", out=out, checkpoint=checkpoint)


def test_functions_that_know_only_tables(spark: SparkSession, folder: Path) -> None:
    before = content(folder)
    rules, table = (
        spark.read.parquet("file:" + str(folder / "rules")),
        spark.read.parquet(str(folder / "events")),
    )
    refused: list[Callable[[], object]] = [
        lambda: build_index(rules, folder / "rules"),
        lambda: build_index(rules, folder),
        lambda: build_index(rules, folder / "link", stats=table),
        lambda: save_profile(table, str(folder / "events"), mode="overwrite"),
        lambda: ingest.subscriptions(rules).save(
            str(folder / "rules"), str(folder / "bad"), mode="overwrite"
        ),
        lambda: ingest.subscriptions(rules).save(str(folder / "good"), str(folder), mode="overwrite"),
        lambda: ingest.subscriptions(rules).save("good", "good/bad", mode="overwrite"),
    ]
    for call in refused:
        with pytest.raises(tamis.FileError, match=r"^the output .+ the input "):
            call()
    assert content(folder) == before


def test_a_command(run: RunCommand, folder: Path) -> None:
    before = content(folder)
    code, out, err = run("spark", "match", "events", "index", "link", "--overwrite")
    assert (code, out) == (2, "")
    assert err.startswith("tamis: error: the output ") and err.count("\n") == 1
    assert content(folder) == before
