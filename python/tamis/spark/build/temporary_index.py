"""An index built from a table for one process, and removed when the process ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tamis.spark.build.index import build_index
from tamis.spark.store.manifest import IndexRef

SCRATCH_SETTING = "spark.tamis.scratch"


def temporary_index(subscriptions: DataFrame) -> IndexRef:
    """Index a table with the columns ``id`` and ``expression`` in a temporary folder.

    The folder is below the one that the Spark setting ``spark.tamis.scratch`` names. Without the setting it
    is in the system's temporary folder, which works only if all of Spark runs on this machine.

    Raises:
        ValueError: Spark runs on several machines and ``spark.tamis.scratch`` is not set.
    """
    folder = f"{_scratch_folder(subscriptions.sparkSession)}/tamis-{uuid.uuid4().hex}"
    if "://" not in folder:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build_index(subscriptions, folder)


def _scratch_folder(spark: SparkSession) -> str:
    configured = spark.conf.get(SCRATCH_SETTING, None)
    if configured:
        return configured.rstrip("/")
    master = spark.conf.get("spark.master", None) or ""
    if not master.startswith("local"):
        raise ValueError(
            f"a temporary index on {master or 'this cluster'} needs a folder that all machines reach: "
            f"set {SCRATCH_SETTING}, or build an index with build_index"
        )
    return str(Path(tempfile.gettempdir()).absolute())
