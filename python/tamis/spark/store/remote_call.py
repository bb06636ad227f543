"""Runs a function where the store is readable: on the driver, or as a one-row job under Spark Connect."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis import TamisError

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def remote_call(
    spark: SparkSession,
    function: Callable[_Parameters, _Result],
    *args: _Parameters.args,
    **kwargs: _Parameters.kwargs,
) -> _Result:
    """Call a function where the store is readable, and return its result.

    In classic Spark this process is the driver and calls the function itself. A Spark Connect client may not
    see the cluster's files, so the function runs in a task. It must be importable and idempotent: Spark may
    repeat the task.
    """
    if not type(spark).__module__.startswith("pyspark.sql.connect"):
        return function(*args, **kwargs)
    job = spark.range(0, 1, 1, 1).mapInArrow(_CallTask(function, args, kwargs), "outcome binary")
    error, result = pickle.loads(job.collect()[0]["outcome"])
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _CallTask:
    """The task. Errors of tamis and of arguments are results, so that the client raises them unchanged."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        outcome: tuple[Exception | None, Any]
        try:
            outcome = (None, self.function(*self.args, **self.kwargs))
        except (TamisError, ValueError, TypeError) as error:
            outcome = (error, None)
        yield pa.RecordBatch.from_pydict({"outcome": pa.array([pickle.dumps(outcome)], pa.binary())})
