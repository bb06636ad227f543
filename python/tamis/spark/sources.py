"""Workloads as data sources of Spark: `spark.read.format("tamis.begen")` and `spark.readStream`.

`register_sources` makes them known to a session. All options are texts:

| option | what it sets |
| --- | --- |
| `kind` | `subscriptions` or `events` |
| `rows` | how many rows; a stream without it never ends |
| `seed` | what all random numbers depend on, 0 if not given |
| `paper`, `manner` | the preset to begin with |
| `layout` | of events: `json`, `columns` or `map` |
| `partitions` | into how many partitions a read, or each batch of a stream, is divided |
| `rows_per_batch` | how many rows each batch of a stream has |
| any parameter of the spec | its value, as `dimensions=300` or `size=3..7` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from tamis.spark.generating import portions, spark_schema
from tamis.workloads.generation import SUBSCRIPTION_SCHEMA, Workload
from tamis.workloads.layouts import Layout, event_schema
from tamis.workloads.options import parameters, with_parameters
from tamis.workloads.presets import in_the_manner_of, paper
from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec

_OWN = ("kind", "rows", "seed", "paper", "manner", "layout", "partitions", "rows_per_batch")
_ROWS_PER_PARTITION = 100_000
_ROWS_PER_BATCH = 10_000


@dataclass(frozen=True)
class Request:
    """What the options ask for.

    Attributes:
        spec: What the workload is made of.
        kind: "subscriptions" or "events".
        rows: How many; None in a stream without end.
        seed: What all random numbers depend on.
        layout: The layout of events.
        partitions: Into how many partitions to divide; None leaves it to the number of rows.
        rows_per_batch: Rows of each batch of a stream.
    """

    spec: Spec
    kind: str
    rows: int | None
    seed: int
    layout: Layout
    partitions: int | None
    rows_per_batch: int

    @property
    def schema(self) -> pa.Schema:
        """The columns asked for."""
        return SUBSCRIPTION_SCHEMA if self.kind == "subscriptions" else event_schema(self.spec, self.layout)

    def draw(self, workload: Workload, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """The rows from one number to below another."""
        for rows in portions(np.arange(start, stop, dtype=np.int64), len(self.schema)):
            if self.kind == "subscriptions":
                yield workload.subscriptions(rows)
            else:
                yield workload.events(rows, self.layout)

    def divided(self, start: int, stop: int) -> list[RowRange]:
        """Divide rows into partitions of about the same size."""
        count = self.partitions or -(-(stop - start) // _ROWS_PER_PARTITION)
        edges = [start + (stop - start) * part // max(count, 1) for part in range(count + 1)]
        return [RowRange(low, high) for low, high in pairwise(edges) if low < high]


class RowRange(InputPartition):
    """Rows that one task draws."""

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop


class WorkloadReader(DataSourceReader):
    """Reads a workload in partitions.

    Args:
        request: What the options ask for.
    """

    def __init__(self, request: Request) -> None:
        if request.rows is None:
            raise ValueError("option rows is missing; accepted is the number of rows to read")
        self._request, self._rows = request, request.rows
        # Settled before the tasks start, so that it is done once.
        self._workload = Workload.of(request.spec, request.seed)

    def partitions(self) -> list[RowRange]:
        """The row numbers of each task."""
        return self._request.divided(0, self._rows)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Draw the rows of a partition."""
        # Spark plans one empty partition where there is none.
        if isinstance(partition, RowRange):
            yield from self._request.draw(self._workload, partition.start, partition.stop)


class _WorkloadSource(DataSource):
    takes: tuple[type[Spec], ...]

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        self._request = _request(options, self.takes, self.name())

    def schema(self) -> StructType:
        """The columns of what is asked for."""
        return spark_schema(self._request.schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Read all rows."""
        return WorkloadReader(self._request)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Read rows batch by batch. Needs Spark 4.2."""
        from tamis.spark.streaming_source import WorkloadStreamReader

        return WorkloadStreamReader(self._request)


class ConjunctionSource(_WorkloadSource):
    """`tamis.begen`: conjunctions and their events."""

    takes = (ConjunctionSpec,)

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "tamis.begen"


class TreeSource(_WorkloadSource):
    """`tamis.abegen`: nested expressions, or normal forms, and their events."""

    takes = (TreeSpec, NormalFormSpec)

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "tamis.abegen"


def register_sources(spark: SparkSession) -> None:
    """Make `tamis.begen` and `tamis.abegen` known to a session."""
    spark.dataSource.register(ConjunctionSource)
    spark.dataSource.register(TreeSource)


def _request(options: Mapping[str, str], takes: tuple[type[Spec], ...], source: str) -> Request:
    given = {name.lower(): text for name, text in options.items()}
    spec = _preset(given, takes, source)
    known = {*_OWN, *parameters(spec)}
    for name in given:
        if name not in known:
            raise ValueError(
                f"{source} has no option {name}; accepted are {', '.join(_OWN)} and the parameters of a "
                f"{type(spec).__name__}: {', '.join(parameters(spec))}"
            )
    return Request(
        spec=with_parameters(spec, {name: text for name, text in given.items() if name not in _OWN}),
        kind=_one_of(given, "kind", ("subscriptions", "events"), None),
        rows=_whole(given, "rows", 0, None),
        seed=_whole(given, "seed", None, 0) or 0,
        layout=_one_of(given, "layout", get_args(Layout), "json"),
        partitions=_whole(given, "partitions", 1, None),
        rows_per_batch=_whole(given, "rows_per_batch", 1, _ROWS_PER_BATCH) or _ROWS_PER_BATCH,
    )


def _preset(given: Mapping[str, str], takes: tuple[type[Spec], ...], source: str) -> Spec:
    if "paper" in given and "manner" in given:
        raise ValueError("options paper and manner exclude each other")
    if "paper" in given:
        spec = paper(given["paper"])
    elif "manner" in given:
        spec = in_the_manner_of(given["manner"])
    else:
        return takes[0]()
    if not isinstance(spec, takes):
        wanted = " or ".join(kind.__name__ for kind in takes)
        name = given.get("paper", given.get("manner"))
        raise ValueError(f"{name} is a {type(spec).__name__}; {source} takes a {wanted}")
    return spec


def _one_of(given: Mapping[str, str], name: str, choices: tuple[str, ...], default: str | None) -> Any:
    text = given.get(name, default)
    if text not in choices:
        said = "is missing" if text is None else f"is {text!r}"
        raise ValueError(f"option {name} {said}; accepted is one of {', '.join(choices)}")
    return text


def _whole(given: Mapping[str, str], name: str, least: int | None, default: int | None) -> int | None:
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
