"""One Spark session for all tests of a kind, since starting one takes seconds, and commands run in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tamis.cli import main
from tamis.spark.session import local_session

RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """`local[2,3]`: two cores, and tasks that fail are tried again."""
    folder: Path = tmp_path_factory.mktemp("spark")
    settings = {
        # mapInArrow binds columns by position: without this, two swapped ones of one type pass.
        "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2",
    }
    session = local_session("local[2,3]", app="tamis tests", settings=settings)
    yield session
    session.stop()


@pytest.fixture
def run(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> RunCommand:
    """Run a command line in a folder of its own; give its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run_main(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run_main
