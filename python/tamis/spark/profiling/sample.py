"""Events that stand for all, and a profile kept in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis.spark.columns import named, require
from tamis.spark.profiling.events import profile_events
from tamis.spark.sampling import SAMPLE_ROWS


def sample_events(
    events: DataFrame, rows: int = SAMPLE_ROWS, *, seed: int = 0, event_id_col: str = "event_id"
) -> DataFrame:
    """Draw events: exactly as many rows, or all if there are fewer.

    Which they are depends on their ids and the seed, not on how the events are stored or partitioned. What
    is drawn keeps its columns, so it is in the layout of the events. It is meant to be shown to an index
    (`tamis.Index.observe`), which keeps 4,096 of what it is shown.

    Args:
        events: The events, in any layout.
        rows: How many to draw.
        seed: Another seed, other events.
        event_id_col: The column of ids.
    """
    if rows < 1:
        raise ValueError(f"rows is {rows}; a sample has at least 1")
    require(events, [event_id_col])
    id = named(event_id_col)
    return events.where(id.isNotNull()).orderBy(F.xxhash64(F.lit(seed), id), id).limit(rows)


@dataclass(frozen=True)
class Profile:
    """A profile of events in a folder: ``attributes`` and ``sample``, both Parquet.

    The sample is what building an index takes as statistics.
    """

    uri: str

    def attributes(self, spark: SparkSession) -> DataFrame:
        """Read what `profile_events` found."""
        return spark.read.parquet(f"{self.uri}/attributes")

    def sample(self, spark: SparkSession) -> DataFrame:
        """Read what `sample_events` drew."""
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
    """Profile events, draw a sample, and keep both in a folder.

    Args:
        events: The events, in any layout.
        uri: The folder.
        rows: How many events to draw.
        seed: What the draw depends on, besides the ids.
        event_id_col: The column of ids.
        mode: What to do if there is something: ``"error"`` or ``"overwrite"``.
        options: What else `profile_events` takes.
    """
    kept = Profile(uri.rstrip("/"))
    found = profile_events(events, event_id_col=event_id_col, **options)
    drawn = sample_events(events, rows, seed=seed, event_id_col=event_id_col)
    found.coalesce(1).write.mode(mode).parquet(f"{kept.uri}/attributes")
    drawn.coalesce(1).write.mode(mode).parquet(f"{kept.uri}/sample")
    return kept
