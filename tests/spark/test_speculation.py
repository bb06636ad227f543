"""Spark starts a late task again on another machine, and both write: for that it takes two machines."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark import processes


def _address(log: Path, master: subprocess.Popen[bytes]) -> str:
    """Wait until the master says where it is."""
    while master.poll() is None:
        found = re.search(r"Starting Spark master at (spark://\S+)", log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-4000:])


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """A cluster of two workers on machines of different names: Spark starts no task twice on one."""
    log = tmp_path / "cluster.log"
    running = [processes.start_daemon("master.Master", *_at("127.0.0.1"), log=log)]
    try:
        address = _address(log, running[0])
        for host in ("127.0.0.2", "127.0.0.3"):
            room = ("--cores", 1, "--memory", "1g", "--work-dir", tmp_path / host)
            running.append(processes.start_daemon("worker.Worker", *_at(host), *room, address, log=log))
        yield address
    finally:
        for process in running:
            processes.kill(process)


def _at(host: str) -> tuple[object, ...]:
    """Any ports that are free."""
    return ("--host", host, "--port", 0, "--webui-port", 0)


def test_a_task_that_is_started_again_does_no_harm(master: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = processes.start("speculation.py", master, tmp_path, log=log)
    try:
        assert process.wait(processes.LONG) == 0, log.read_text(errors="replace")[-8000:]
    finally:
        processes.kill(process)
    assert log.read_text(errors="replace").splitlines()[-1] == "done"
