"""Matches the events of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from tamis.spark.columns import exact_column
from tamis.spark.event_encoding import worker_columns
from tamis.spark.matching.job import prepare_job
from tamis.spark.matching.request import MatchRequest
from tamis.spark.matching.task import Output
from tamis.spark.store.manifest import IndexRef


def match(
    events: DataFrame,
    index: IndexRef | DataFrame,
    *,
    event_id_col: str = "event_id",
    attr_cols: Iterable[str] | None = None,
    json_col: str | None = None,
    map_col: str | None = None,
    top_k: int | None = None,
    weights_col: str | None = None,
    groups: int = 1,
    output: Output = "rows",
) -> DataFrame:
    """Find the rules that each event matches.

    Args:
        events: One row per event. The layout is detected where it is unambiguous: a single string column
            named ``event`` or ``json`` is JSON, a single map column is the event, otherwise each column is an
            attribute.
        index: The result of `build_index` or `open_index`; or a table with the columns ``id`` and
            ``expression``, for which a temporary index is built.
        event_id_col: The column of event ids.
        attr_cols: The columns of attributes.
        json_col: The column of JSON objects.
        map_col: The column of maps.
        top_k: The number of best matches per event, with scores; equal scores rank by id. None returns all
            matches.
        weights_col: A column of maps from attribute to weight, for `top_k`.
        groups: The number of groups to divide the shards into, if together they exceed the memory of a
            machine. Each event is matched once per group: events must be the same when they are computed
            again, and event ids must be unique with `top_k` or ``output="array"``.
        output: ``"rows"`` returns the columns event id, ``id`` and, with `top_k`, ``score``, one row per
            match; ``"array"`` returns event id, ``ids`` and ``scores``, one row per event, also without
            matches.

    Raises:
        ValueError: A column does not exist, or no column is an attribute of the index.
        TypeError: A column has a type that is not allowed for its role.
    """
    request = MatchRequest(
        event_id_col=event_id_col,
        attr_cols=attr_cols,
        json_col=json_col,
        map_col=map_col,
        top_k=top_k,
        weights_col=weights_col,
        groups=groups,
        output=output,
    )
    job = prepare_job(events.sparkSession, events.schema, index, request)
    encoding, columns = worker_columns(job.encoding, events.schema)
    leading = [
        exact_column(column).alias(f"tamis leading {number}")
        for number, column in enumerate(job.leading_columns)
    ]
    sent = events.select(*leading, *columns)
    return job.merge([sent.mapInArrow(task, job.schema) for task in job.tasks(encoding)])
