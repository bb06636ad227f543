"""The same answers through Spark Connect, where the client has neither a JVM nor the cluster's files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.spark import processes
from tests.spark.workload import as_json, as_rules, events, plain_matches, subscriptions

RULES = subscriptions(60)
EVENTS = events(40)
EXPECTED = sorted(plain_matches(RULES, EVENTS))


def test_a_connect_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = processes.start("tour.py", "connect", tmp_path, log=log)
    try:
        assert process.wait(processes.LONG) == 0, log.read_text(errors="replace")[-8000:]
    finally:
        processes.kill(process)
    assert "done" in log.read_text(errors="replace").splitlines()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server in a process of its own; gives its URL."""
    log = tmp_path / "log"
    process = processes.start("connect_server.py", log=log)
    try:
        while not (url := re.search(r"^sc://\S+$", log.read_text(errors="replace"), re.MULTILINE)):
            assert process.poll() is None, log.read_text(errors="replace")[-8000:]
            time.sleep(0.1)
        yield url[0]
    finally:
        processes.kill(process)


def test_commands(server: str, tmp_path: Path) -> None:
    # Paths are taken from here, though the server runs elsewhere. A client needs no Java.
    here = tmp_path / "here"
    (here / "events").mkdir(parents=True)
    pq.write_table(as_rules({**RULES, 999: "a >"}), here / "raw.parquet")
    pq.write_table(as_json(EVENTS), here / "events/e.parquet")
    paths = [str(processes.ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "JAVA_HOME": "/nowhere"}

    def spark(*arguments: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "tamis.cli", "spark", *arguments, "--master", server]
        done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    assert "60 good rows: rules; 1 bad rows" in spark("ingest", "raw.parquet", "rules", "--as", "rules")
    assert "60 subscriptions in 2 shards: version one, in use" in spark(
        "build", "rules", "index", "--shards", "2", "--version", "one"
    )
    assert f"{len(EXPECTED)} matches with version one: matches" in spark(
        "match", "events", "index", "matches"
    )
    spark("stream", "events", "index", "streamed", "--checkpoint", "place")
    for out in ("matches", "streamed/batch_id=0"):
        found = pq.read_table(here / out, partitioning=None)
        assert sorted(tuple(row.values()) for row in found.to_pylist()) == EXPECTED
    for arguments, said in (
        (["match", "events", "index", "matches"], "matches: error: it is there already"),
        (["match", "nothing", "index", "more"], "nothing: error: no such file or folder"),
        (["build", "raw.parquet", "index"], "tamis: error: subscription 999"),
        (["publish", "index", "two"], "has no version 'two'; versions there: one"),
    ):
        assert said in spark(*arguments, code=2)
