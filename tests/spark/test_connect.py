"""The same answers through Spark Connect, where the client has neither a JVM nor the cluster's files."""

from __future__ import annotations

from pathlib import Path

from tests.spark import processes


def test_a_connect_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = processes.start("tour.py", "connect", tmp_path, log=log)
    try:
        assert process.wait(processes.LONG) == 0, log.read_text(errors="replace")[-8000:]
    finally:
        processes.kill(process)
    assert "done" in log.read_text(errors="replace").splitlines()
