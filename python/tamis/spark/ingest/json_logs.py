"""Logs of JSON objects to events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis.errors import EventError
from tamis.expression import attr
from tamis.index import Index
from tamis.spark.columns import named, require
from tamis.spark.ingest.conversion import BadRow, Row, convert
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
    """Make an event of each JSON object; nested objects stay, rules reach into them by dotted path.

    Bad are rows that are no JSON object, as matching reads it (the reason shows the place), whose id is null,
    and all rows that share an id.

    Args:
        logs: A DataFrame, or paths of text files with one object a line.
        json_col: The column of JSON; ``value`` is what reading text files gives.
        id_col: The column of ids, strings or integers. Give this or ``id_path``.
        id_path: Where the id stands in the object, as in ``$.request.id``; such ids are strings.
        attributes: What rules will ask about: then a value there that has no meaning, such as an integer
            of more than 64 bits, makes the row bad, too. Elsewhere, such values do no harm.
        duplicates: ``"keep"`` does not look for shared ids, which saves a shuffle and works on streams.
    """
    if (id_col is None) == (id_path is None):
        raise ValueError("give either id_col, a column, or id_path, a place in the object such as '$.id'")
    if isinstance(attributes, str):
        raise ValueError(f"attributes is the text {attributes!r}; it takes a sequence of names")
    rows = logs if isinstance(logs, DataFrame) else _read(logs)
    require(rows, [json_col])
    if id_path is not None:
        id_col = id_path
        rows = rows.select(F.get_json_object(named(json_col), id_path).alias(id_path), named(json_col))
    assert id_col is not None
    maker = CheckedJson(json_col, tuple(attributes))
    return convert(rows, maker, id_col=id_col, columns=[json_col], result="event", duplicates=duplicates)


def _read(paths: str | Sequence[str]) -> DataFrame:
    return SparkSession.active().read.text([paths] if isinstance(paths, str) else list(paths))


@dataclass(frozen=True)
class CheckedJson:
    """Gives a row's JSON as it is, if it is an event."""

    column: str
    attributes: tuple[str, ...]

    def __call__(self, id: Any, row: Row) -> str:
        """Read the event as matching would."""
        text = row[self.column]
        if text is None:
            raise BadRow(self.column, "the event is null")
        if not isinstance(text, str):
            raise BadRow(self.column, f"an event is JSON text, not {type(text).__name__}")
        try:
            _reader(self.attributes).match_json(text)
        except EventError as error:
            raise BadRow(self.column, str(error)) from error
        return text


@lru_cache(maxsize=16)
def _reader(attributes: tuple[str, ...]) -> Index:
    """An index that reads the attributes, and nothing else."""
    index = Index(engine="scan")
    for name in attributes:
        index.add(name, attr(name).is_not_null())
    return index
