"""One word for both profiles."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from tamis.spark.profiling.events import profile_events
from tamis.spark.profiling.subscriptions import profile_subscriptions


def profile(df: DataFrame, **options: Any) -> DataFrame:
    """Profile subscriptions if there is a column ``expression``, else events.

    Args:
        df: Either.
        options: As `profile_subscriptions` or `profile_events` takes them.
    """
    if "expression" in df.columns or "expr_col" in options:
        return profile_subscriptions(df, **options)
    return profile_events(df, **options)
