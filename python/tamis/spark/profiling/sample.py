"""Deterministic samples of events, and profiles stored in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis.spark.build.event_sample import SAMPLE_ROWS
from tamis.spark.columns import exact_column, require_columns
from tamis.spark.profiling.events import profile_events
from tamis.spark.store.outputs import check_output_of_tables


def sample_events(
    events: DataFrame, rows: int = SAMPLE_ROWS, *, seed: int = 0, event_id_col: str = "event_id"
) -> DataFrame:
    """Draw a sample of exactly `rows` events, or all events if there are fewer.

    The sample depends on the event ids and the seed, not on storage or partitioning. It keeps all columns,
    and so the layout of the events. `tamis.Index.observe` takes it, and keeps 4,096 events.

    Args:
        events: The events, in any layout.
        rows: The number of events to draw.
        seed: The seed of the sample.
        event_id_col: The column of ids.
    """
    if rows < 1:
        raise ValueError(f"rows is {rows}; accepted is at least 1")
    require_columns(events, [event_id_col])
    id = exact_column(event_id_col)
    return events.where(id.isNotNull()).orderBy(F.xxhash64(F.lit(seed), id), id).limit(rows)


@dataclass(frozen=True)
class Profile:
    """A profile of events in a folder: ``attributes`` and ``sample``, both Parquet.

    `build_index` takes the sample as ``stats``.
    """

    uri: str

    def attributes(self, spark: SparkSession) -> DataFrame:
        """Read the result of `profile_events`."""
        return spark.read.parquet(f"{self.uri}/attributes")

    def sample(self, spark: SparkSession) -> DataFrame:
        """Read the result of `sample_events`."""
        return spark.read.parquet(f"{self.uri}/sample")


def save_profile(
    events: DataFrame,
    uri: str,
    *,
    rows: int = SAMPLE_ROWS,
    seed: int = 0,
    event_id_col: str = "event_id",
    mode: str = "error",
    **options: Any,
) -> Profile:
    """Profile events, draw a sample, and store both in a folder.

    Args:
        events: The events, in any layout.
        uri: The folder.
        rows: The number of events in the sample.
        seed: The seed of the sample.
        event_id_col: The column of ids.
        mode: What to do if the folder exists: ``"error"`` or ``"overwrite"``.
        options: Further arguments of `profile_events`.

    Raises:
        FileError: The folder contains the files of `events`.
    """
    saved = Profile(uri.rstrip("/"))
    check_output_of_tables(saved.uri, events)
    attributes = profile_events(events, event_id_col=event_id_col, **options)
    sample = sample_events(events, rows, seed=seed, event_id_col=event_id_col)
    attributes.coalesce(1).write.mode(mode).parquet(f"{saved.uri}/attributes")
    sample.coalesce(1).write.mode(mode).parquet(f"{saved.uri}/sample")
    return saved
