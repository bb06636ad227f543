"""A late task that Spark starts again on another machine: both attempts write files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark.support import processes
from tests.spark.support.workload import events, plain_matches, subscriptions


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """A cluster of two workers on hosts of different names: Spark does not start a task twice on one host."""
    log = tmp_path / "cluster.log"
    running = [processes.start_daemon("master.Master", *_at("127.0.0.1"), log=log)]
    try:
        address = processes.wait_for_line(r"Starting Spark master at (spark://\S+)", log, running[0])
        for host in ("127.0.0.2", "127.0.0.3"):
            resources = ("--cores", 1, "--memory", "1g", "--work-dir", tmp_path / host)
            running.append(processes.start_daemon("worker.Worker", *_at(host), *resources, address, log=log))
        yield address
    finally:
        for process in running:
            processes.kill(process)


def _at(host: str) -> tuple[object, ...]:
    """A host, with any free ports."""
    return ("--host", host, "--port", 0, "--webui-port", 0)


def test_a_task_that_runs_twice_does_no_harm(master: str, tmp_path: Path) -> None:
    results = processes.results_of("speculative_build.py", master, tmp_path, folder=tmp_path)
    assert (results["shards"], results["rules"]) == (4, 200)
    # Both attempts have written a file; the manifest lists that of the attempt whose result Spark took.
    assert (results["shard files"], results["removed"]) == (5, 1)
    expected = [list(pair) for pair in sorted(plain_matches(subscriptions(200), events(60)))]
    assert len(expected) > 100
    assert results["matches"] == results["matches after vacuum"] == expected
