"""``tamis spark stream``: matches files as they appear, until it is interrupted."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from tests.spark.support import processes
from tests.spark.support.frames import add_file, batch_rows
from tests.spark.support.workload import as_json, as_rules, events, plain_matches, subscriptions
from tests.support.commands import RunCommand

RULES = subscriptions(60)
EVENTS = events(60)


def add_batch(folder: Path, number: int) -> None:
    """Add a third of the events to the stream's folder."""
    add_file(as_json(EVENTS[20 * number : 20 * number + 20]), folder / f"{number}.parquet")


def beside(work: Callable[[Callable[[Path], None]], None]) -> threading.Thread:
    """Do something while a command runs; what it is given waits until a file is there."""

    def wait_for(file: Path) -> None:
        until = time.monotonic() + processes.LONG
        while not file.exists():
            assert time.monotonic() < until, f"{file} did not appear"
            time.sleep(0.05)

    thread = threading.Thread(target=work, args=(wait_for,), daemon=True)
    thread.start()
    return thread


def test_files_that_appear_until_interrupted(run: RunCommand, tmp_path: Path) -> None:
    pq.write_table(as_rules(RULES), tmp_path / "rules.parquet")
    assert run("spark", "build", "rules.parquet", "index")[0] == 0
    incoming, commits = tmp_path / "in", tmp_path / "place/commits"
    incoming.mkdir()
    add_batch(incoming, 0)
    command = ("spark", "stream", "in", "index", "out", "--checkpoint", "place")

    def come_and_interrupt(wait_for: Callable[[Path], None]) -> None:
        wait_for(commits / "0")
        add_batch(incoming, 1)
        wait_for(commits / "1")
        os.kill(os.getpid(), signal.SIGINT)

    thread = beside(come_and_interrupt)
    code, _, _ = run(*command, "--every", "1 second")
    assert code == 130
    thread.join()
    assert batch_rows(tmp_path / "out") == sorted(plain_matches(RULES, EVENTS[:40]))

    # Another command goes on where this one was, and ends when all is done.
    add_batch(incoming, 2)
    code, out, _ = run(*command)
    assert code == 0 and "3 batches so far: out" in out
    assert batch_rows(tmp_path / "out") == sorted(plain_matches(RULES, EVENTS))


def test_an_interval_that_is_none(run: RunCommand, tmp_path: Path) -> None:
    pq.write_table(as_rules(RULES), tmp_path / "rules.parquet")
    assert run("spark", "build", "rules.parquet", "index")[0] == 0
    (tmp_path / "in").mkdir()
    add_batch(tmp_path / "in", 0)
    code, out, err = run(
        *("spark", "stream", "in", "index", "out", "--checkpoint", "place", "--every", "now and then")
    )
    assert (code, out) == (2, "")
    assert "now and then" in err and err.count("\n") == 1
