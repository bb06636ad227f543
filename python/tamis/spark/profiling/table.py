"""Profiles a table of either kind: rules or events."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from tamis.spark.profiling.events import profile_events
from tamis.spark.profiling.subscriptions import profile_subscriptions


def profile(df: DataFrame, **options: Any) -> DataFrame:
    """Profile rules if there is a column ``expression``, otherwise events.

    Args:
        df: A table of rules or of events.
        options: Further arguments of `profile_subscriptions` or `profile_events`.
    """
    if "expression" in df.columns or "expr_col" in options:
        return profile_subscriptions(df, **options)
    return profile_events(df, **options)
