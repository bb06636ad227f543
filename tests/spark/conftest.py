"""One Spark session for all tests of a kind: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tamis.spark.session import local_session


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
