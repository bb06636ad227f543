"""The same results with executor processes as with threads."""

from __future__ import annotations

from pathlib import Path

from tests.spark.support import processes
from tests.spark.support.full_pipeline_results import check_results


def test_the_full_pipeline_on_executors(tmp_path: Path) -> None:
    master = "local-cluster[2,1,1024]"
    check_results(processes.results_of("full_pipeline.py", master, tmp_path, folder=tmp_path))
