"""One Spark session for all tests, because starting one takes seconds; command lines run in it as well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.commands import RunCommand, command_runner

from tamis.spark.session import local_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """`local[2,3]`: two cores, and up to three attempts per task."""
    folder: Path = tmp_path_factory.mktemp("spark")
    settings = {
        # mapInArrow binds columns by position: without this, swapped columns of one type pass unnoticed.
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
    """Run a command line in its own folder and the shared session; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return command_runner(capsys)
