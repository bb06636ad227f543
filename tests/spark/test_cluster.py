"""The same answers with executors of their own, which may fail or run a task twice."""

from __future__ import annotations

from pathlib import Path

from tests.spark import processes


def test_executors_of_their_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = processes.start("tour.py", "cluster", tmp_path, log=log)
    try:
        assert process.wait(processes.LONG) == 0, log.read_text(errors="replace")[-8000:]
    finally:
        processes.kill(process)
        processes.remove_work_folders(log)
    assert log.read_text(errors="replace").splitlines()[-1] == "done"
