"""``python3 dev.py bench --spark`` in a size that takes seconds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import bench
from benchmarking import spark_methods


def test_a_small_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spark_methods, "_MOST_PASSES", 1)
    kept, output = tmp_path / "kept", tmp_path / "run.json"
    size = ["--subscriptions", "3000", "--events", "200"]
    assert bench.main(["--spark", *size, "--keep", str(kept), "--output", str(output)]) == 0
    run = json.loads(output.read_text())
    every = [figures for figures in run["figures"] if figures["question"] == "all"]
    best = [figures for figures in run["figures"] if figures["question"] == "best"]
    assert [len(every), len(best)] == [4, 4]
    assert len({figures["matches"] for figures in every}) == 1 and every[0]["matches"] > 200
    assert {figures["events"] for figures in best} == {20}
    assert run["index_bytes"] > 0 and run["build_worker_peak_bytes"] > 10_000_000
    said = capsys.readouterr()
    assert said.out.count("\n| `") == 8 and "building the index" in said.err
    # What was drawn is there for another run.
    assert (kept / "subscriptions-3000/_SUCCESS").exists() and (kept / "events-200/_SUCCESS").exists()
