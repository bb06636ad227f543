"""Ids that occur more than once."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pyspark.sql import Column, Window
from pyspark.sql import functions as F

from tamis.spark.columns import named

Duplicates: TypeAlias = Literal["bad", "keep"]


def copies(id_col: str, duplicates: Duplicates) -> Column:
    """Count the rows that have the id of a row.

    A window, not a join with counts: the input is read once, so the answer holds also for inputs that
    come out differently each time.

    Raises:
        ValueError: ``duplicates`` is neither ``"bad"`` nor ``"keep"``.
    """
    if duplicates == "bad":
        return F.count(F.lit(1)).over(Window.partitionBy(named(id_col)))
    if duplicates == "keep":
        return F.lit(1).cast("bigint")
    raise ValueError(f"duplicates is {duplicates!r}; it takes 'bad' or 'keep'")
