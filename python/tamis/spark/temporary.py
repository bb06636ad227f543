"""An index for one process: built from a table, gone when the process ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tamis.spark.building import build_index
from tamis.spark.manifest import IndexRef

SCRATCH = "spark.tamis.scratch"


def temporary_index(subscriptions: DataFrame) -> IndexRef:
    """Index a table with the columns ``id`` and ``expression`` in a folder for temporary files.

    The folder is below the setting ``spark.tamis.scratch``. Without it, and with all of Spark on this
    machine, it is below Python's folder for temporary files.

    Raises:
        ValueError: Spark runs on several machines and nothing says which folder they share.
    """
    folder = f"{_scratch(subscriptions.sparkSession)}/tamis-{uuid.uuid4().hex}"
    if "://" not in folder:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build_index(subscriptions, folder)


def _scratch(spark: SparkSession) -> str:
    asked = spark.conf.get(SCRATCH, None)
    if asked:
        return asked.rstrip("/")
    master = spark.conf.get("spark.master", None) or ""
    if not master.startswith("local"):
        raise ValueError(
            f"an index for {master or 'this cluster'} needs a folder that all its machines reach: "
            f"set {SCRATCH}, or build one with build_index"
        )
    return str(Path(tempfile.gettempdir()).absolute())
