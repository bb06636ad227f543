"""Counts the rows of each id."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pyspark.sql import Column, Window
from pyspark.sql import functions as F

from tamis.spark.columns import exact_column

Duplicates: TypeAlias = Literal["bad", "keep"]


def id_count(id_col: str, duplicates: Duplicates) -> Column:
    """Return a column with the number of rows that have the row's id; 1 if duplicates are kept.

    A window, not a join with counts: the input is read once, so the counts are right even for a
    nondeterministic input.

    Raises:
        ValueError: ``duplicates`` is neither ``"bad"`` nor ``"keep"``.
    """
    if duplicates == "bad":
        return F.count(F.lit(1)).over(Window.partitionBy(exact_column(id_col)))
    if duplicates == "keep":
        return F.lit(1).cast("bigint")
    raise ValueError(f"duplicates is {duplicates!r}; accepted is 'bad' or 'keep'")
