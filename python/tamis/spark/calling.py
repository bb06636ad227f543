"""Where the files of a store are touched by other than tasks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.errors import TamisError

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def call(
    spark: SparkSession,
    function: Callable[_Parameters, _Result],
    *args: _Parameters.args,
    **kwargs: _Parameters.kwargs,
) -> _Result:
    """Call a function where the store can be reached.

    With a Spark of its own, this process is the driver and calls it itself. A client of Spark Connect may be
    far from the cluster's files, so there the function runs as a task; it must be importable, and bear being
    called twice.
    """
    if not type(spark).__module__.startswith("pyspark.sql.connect"):
        return function(*args, **kwargs)
    once = spark.range(0, 1, 1, 1).mapInArrow(_Call(function, args, kwargs), "outcome binary")
    fault, result = pickle.loads(once.collect()[0]["outcome"])
    if fault is not None:
        raise fault
    return result  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Call:
    """A call as a task. What it raises is sent like a result, so that it arrives as it is."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        outcome: tuple[Exception | None, Any]
        try:
            outcome = (None, self.function(*self.args, **self.kwargs))
        except (TamisError, ValueError, TypeError) as fault:
            outcome = (fault, None)
        yield pa.RecordBatch.from_pydict({"outcome": pa.array([pickle.dumps(outcome)], pa.binary())})
