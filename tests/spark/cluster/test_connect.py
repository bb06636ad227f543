"""The same results through Spark Connect, where the client has neither a JVM nor the cluster's files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.spark.support import processes
from tests.spark.support.frames import file_rows
from tests.spark.support.full_pipeline_results import check_results
from tests.spark.support.workload import as_json, as_rules, events, plain_matches, subscriptions

RULES = subscriptions(60)
EVENTS = events(40)
EXPECTED = sorted(plain_matches(RULES, EVENTS))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server in its own process, for all tests of this module; its URL."""
    log = tmp_path_factory.mktemp("server") / "log"
    process = processes.start("connect_server.py", log=log)
    try:
        yield processes.wait_for_line(r"^(sc://\S+)$", log, process)
    finally:
        processes.kill(process)


def test_the_full_pipeline_on_a_server(server: str, tmp_path: Path) -> None:
    check_results(processes.results_of("full_pipeline.py", server, tmp_path, folder=tmp_path))


# Each command line, its exit code, and a part of what it prints.
COMMANDS: list[tuple[list[str], int, str]] = [
    (["ingest", "raw.parquet", "rules", "--as", "rules"], 0, "60 good rows: rules; 1 bad rows"),
    (
        ["build", "rules", "index", "--shards", "2", "--version", "one"],
        0,
        "60 rules in 2 shards: version one, current",
    ),
    (["match", "events", "index", "matches"], 0, f"{len(EXPECTED)} matches with version one: matches"),
    (["stream", "events", "index", "streamed", "--checkpoint", "place"], 0, "1 batches so far: streamed"),
    (["match", "events", "index", "matches"], 2, "matches: error: it already exists"),
    (["match", "nothing", "index", "more"], 2, "nothing: error: no such file or folder"),
    (["build", "raw.parquet", "index"], 2, "tamis: error: rule 999"),
    (["publish", "index", "two"], 2, "has no version 'two'; existing versions: one"),
]


def test_commands(server: str, tmp_path: Path) -> None:
    # Relative paths are completed with the client's folder, though the server runs elsewhere.
    client = tmp_path / "client"
    (client / "events").mkdir(parents=True)
    pq.write_table(as_rules({**RULES, 999: "a >"}), client / "raw.parquet")
    pq.write_table(as_json(EVENTS), client / "events/e.parquet")
    lines = json.dumps([["spark", *arguments, "--master", server] for arguments, _, _ in COMMANDS])
    # A client needs no Java.
    results = processes.results_of(
        "connect_commands.py", client, lines, folder=tmp_path, JAVA_HOME="/nowhere"
    )
    for (arguments, code, said), (ended, out, err) in zip(COMMANDS, results, strict=True):
        assert ended == code, (arguments, err)
        assert said in (err if code else out), arguments
    for folder in ("matches", "streamed/batch_id=0"):
        assert file_rows(client / folder) == EXPECTED
    assert [row[1] for row in file_rows(client / "rules-bad")] == ["expression"]
