"""A Spark session on this machine, for those who have none yet."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def local_session(
    master: str = "local[*]", *, app: str = "tamis", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark on this machine, or take the session that already runs.

    Workers use the running Python, not the system's.

    Args:
        master: `local[*]` uses all cores; `local-cluster[2,1,1024]` starts two executors of their own.
        app: The name Spark shows.
        settings: More settings of Spark; they win over ours.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(app)
    for name, value in {**_SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
