"""Converts logs of JSON objects to events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis import EventError, Index, attr
from tamis.spark.columns import exact_column, require_columns
from tamis.spark.ingest.conversion import BadRow, RowValues, convert
from tamis.spark.ingest.duplicates import Duplicates
from tamis.spark.ingest.ingested import Ingested


def json(
    logs: DataFrame | str | Sequence[str],
    *,
    json_col: str = "value",
    id_col: str | None = None,
    id_path: str | None = None,
    attributes: Sequence[str] = (),
    duplicates: Duplicates = "bad",
) -> Ingested:
    """Make an event of each JSON object. Nested objects stay; rules refer to their fields by dotted names.

    A row is bad if it is not a JSON object that matching can read (the reason shows the position), if its id
    is null, or if another row has the same id.

    Args:
        logs: A DataFrame, or paths of text files with one object per line.
        json_col: The column of JSON; Spark reads text files into ``value``.
        id_col: The column of ids, strings or integers. Give this or ``id_path``.
        id_path: The path of the id in the object, as ``$.request.id``; such ids are strings.
        attributes: The attributes that rules will refer to. A value of one of them that matching cannot read,
            such as an integer of more than 64 bits, makes the row bad. Values of other attributes are not
            checked.
        duplicates: ``"keep"`` does not check for repeated ids, which saves a shuffle and works on streams.
    """
    if (id_col is None) == (id_path is None):
        raise ValueError("give either id_col, a column, or id_path, a path in the object such as '$.id'")
    if isinstance(attributes, str):
        raise ValueError(f"attributes is the string {attributes!r}; accepted is a sequence of names")
    rows = logs if isinstance(logs, DataFrame) else _read(logs)
    require_columns(rows, [json_col])
    if id_path is not None:
        id_col = id_path
        rows = rows.select(
            F.get_json_object(exact_column(json_col), id_path).alias(id_path), exact_column(json_col)
        )
    assert id_col is not None
    converter = CheckedJson(json_col, tuple(attributes))
    return convert(rows, converter, id_col=id_col, columns=[json_col], result="event", duplicates=duplicates)


def _read(paths: str | Sequence[str]) -> DataFrame:
    return SparkSession.active().read.text([paths] if isinstance(paths, str) else list(paths))


@dataclass(frozen=True)
class CheckedJson:
    """Returns a row's JSON unchanged if matching can read it."""

    column: str
    attributes: tuple[str, ...]

    def __call__(self, id: Any, row: RowValues) -> str:
        """Check the event of a row."""
        text = row[self.column]
        if text is None:
            raise BadRow(self.column, "the event is null")
        if not isinstance(text, str):
            raise BadRow(self.column, f"an event is JSON text, not {type(text).__name__}")
        try:
            _checking_index(self.attributes).match_json(text)
        except EventError as error:
            raise BadRow(self.column, str(error)) from error
        return text


@lru_cache(maxsize=16)
def _checking_index(attributes: tuple[str, ...]) -> Index:
    """Return an index whose rules refer to the attributes, so that matching reads these and no others."""
    index = Index(engine="scan")
    for name in attributes:
        index.add(name, attr(name).is_not_null())
    return index
