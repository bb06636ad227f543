"""Good and bad rows of an ingested table, by id."""

from __future__ import annotations

from typing import Any

from tamis.spark.ingest import Ingested


def good_rows(found: Ingested) -> dict[Any, Any]:
    """The expression or event of each good row, by id."""
    return {row[0]: row[1] for row in found.good.collect()}


def bad_rows(found: Ingested) -> dict[str | None, tuple[str, str]]:
    """The column and the reason of each bad row, by id."""
    return {row["id"]: (row["column"], row["reason"]) for row in found.bad.collect()}
