"""The options of the data sources: parsed from strings, checked, and turned into rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from tamis.spark.generating.workload import slices
from tamis.workloads.events.layouts import Layout, event_schema
from tamis.workloads.generation import SUBSCRIPTION_SCHEMA, Workload
from tamis.workloads.specs import Spec
from tamis.workloads.specs.parameters import parameters, with_parameters
from tamis.workloads.specs.presets import in_the_manner_of, paper

_OWN_OPTIONS = ("kind", "rows", "seed", "paper", "manner", "layout", "partitions", "rows_per_batch")
_ROWS_PER_PARTITION = 100_000
_ROWS_PER_BATCH = 10_000


@dataclass(frozen=True)
class SourceOptions:
    """The parsed options of a data source.

    Attributes:
        spec: The parameters of the workload.
        kind: "subscriptions" or "events".
        rows: The number of rows; None for an endless stream.
        seed: The seed of all random numbers.
        layout: The layout of events.
        partitions: The number of partitions; None for one per 100,000 rows.
        rows_per_batch: The rows of a micro-batch of a stream.
    """

    spec: Spec
    kind: str
    rows: int | None
    seed: int
    layout: Layout
    partitions: int | None
    rows_per_batch: int

    @classmethod
    def parse(cls, options: Mapping[str, str], takes: tuple[type[Spec], ...], source: str) -> SourceOptions:
        """Parse the options of a data source.

        Args:
            options: The options as Spark passes them.
            takes: The kinds of specs that the source accepts; the first is the default.
            source: The name of the source, for messages.

        Raises:
            ValueError: An option is unknown or has a wrong value.
        """
        given = {name.lower(): text for name, text in options.items()}
        spec = _base_spec(given, takes, source)
        known = {*_OWN_OPTIONS, *parameters(spec)}
        for name in given:
            if name not in known:
                raise ValueError(
                    f"{source} has no option {name}; accepted are {', '.join(_OWN_OPTIONS)} and the "
                    f"parameters of a {type(spec).__name__}: {', '.join(parameters(spec))}"
                )
        changed = {name: text for name, text in given.items() if name not in _OWN_OPTIONS}
        return cls(
            spec=with_parameters(spec, changed),
            kind=_choice(given, "kind", ("subscriptions", "events"), None),
            rows=_integer(given, "rows", 0, None),
            seed=_integer(given, "seed", None, 0) or 0,
            layout=_choice(given, "layout", get_args(Layout), "json"),
            partitions=_integer(given, "partitions", 1, None),
            rows_per_batch=_integer(given, "rows_per_batch", 1, _ROWS_PER_BATCH) or _ROWS_PER_BATCH,
        )

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return SUBSCRIPTION_SCHEMA if self.kind == "subscriptions" else event_schema(self.spec, self.layout)

    def draw(self, workload: Workload, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Draw the rows with numbers from `start` to below `stop`."""
        for rows in slices(np.arange(start, stop, dtype=np.int64), len(self.schema)):
            if self.kind == "subscriptions":
                yield workload.subscriptions(rows)
            else:
                yield workload.events(rows, self.layout)

    def row_ranges(self, start: int, stop: int) -> list[RowRange]:
        """Divide rows into partitions of about equal size."""
        count = self.partitions or -(-(stop - start) // _ROWS_PER_PARTITION)
        edges = [start + (stop - start) * part // max(count, 1) for part in range(count + 1)]
        return [RowRange(low, high) for low, high in pairwise(edges) if low < high]


class RowRange(InputPartition):
    """The rows that one task draws: numbers from `start` to below `stop`."""

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop


def _base_spec(given: Mapping[str, str], takes: tuple[type[Spec], ...], source: str) -> Spec:
    if "paper" in given and "manner" in given:
        raise ValueError("options paper and manner exclude each other")
    if "paper" in given:
        spec = paper(given["paper"])
    elif "manner" in given:
        spec = in_the_manner_of(given["manner"])
    else:
        return takes[0]()
    if not isinstance(spec, takes):
        accepted = " or ".join(kind.__name__ for kind in takes)
        name = given.get("paper", given.get("manner"))
        raise ValueError(f"{name} is a {type(spec).__name__}; {source} takes a {accepted}")
    return spec


def _choice(given: Mapping[str, str], name: str, choices: tuple[str, ...], default: str | None) -> Any:
    text = given.get(name, default)
    if text not in choices:
        problem = "is missing" if text is None else f"is {text!r}"
        raise ValueError(f"option {name} {problem}; accepted is one of {', '.join(choices)}")
    return text


def _integer(given: Mapping[str, str], name: str, least: int | None, default: int | None) -> int | None:
    if name not in given:
        return default
    try:
        number = int(given[name])
    except ValueError:
        number = None
    if number is None or (least is not None and number < least):
        raise ValueError(
            f"option {name} is {given[name]!r}; accepted is a whole number"
            + ("" if least is None else f" from {least}")
        )
    return number
