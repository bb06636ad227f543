"""Which subscriptions does each event of a table satisfy?"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from tamis.spark.columns import named
from tamis.spark.layouts import carried
from tamis.spark.manifest import IndexRef
from tamis.spark.matcher import Output
from tamis.spark.planning import Request, plan_for


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
    """Find the subscriptions that each event satisfies.

    Args:
        events: A row for each event. How attributes lie in it is found out if there is no doubt: a lone
            string column named ``event`` or ``json`` is JSON, a lone map column is the event, otherwise each
            column is an attribute.
        index: What `build_index` or `open_index` gave, or a table with the columns ``id`` and ``expression``,
            which is indexed first, for as long as this process lives.
        event_id_col: The column that names events.
        attr_cols: The columns that are attributes.
        json_col: The column with a JSON object for each event.
        map_col: The column with a map for each event.
        top_k: How many of the best matches to give, with scores; equal scores rank by id. None gives all.
        weights_col: A column with a map of weights of the event's attributes, for `top_k`.
        groups: Into how many groups to divide the shards, if they are too large for one machine together.
            Each event is then matched once per group, so events must come out the same when read again, and
            the ids of events must be unique if `top_k` or ``output="array"`` joins them.
        output: ``"rows"`` for the columns event id, ``id`` and, with `top_k`, ``score``, a row for each
        match;
            ``"array"`` for the event id, ``ids`` and ``scores``, a row for each event, matches or not.

    Raises:
        ValueError: A column is not there, or no column is an attribute of the index.
        TypeError: A column is of a type that has no meaning in its place.
    """
    request = Request(
        event_id_col=event_id_col,
        attr_cols=attr_cols,
        json_col=json_col,
        map_col=map_col,
        top_k=top_k,
        weights_col=weights_col,
        groups=groups,
        output=output,
    )
    plan = plan_for(events.sparkSession, events.schema, index, request)
    layout, columns = carried(plan.layout, events.schema)
    leading = [named(column).alias(f"tamis leading {place}") for place, column in enumerate(plan.leading)]
    needed = events.select(*leading, *columns)
    return plan.joined([needed.mapInArrow(task, plan.schema) for task in plan.matchers(layout)])
