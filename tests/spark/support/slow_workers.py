"""Repeats what fails on a busy machine because a Python worker of Spark starts slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyspark.errors import PySparkException

_Result = TypeVar("_Result")


def is_slow_start(message: str) -> bool:
    """Whether Spark gave up on a worker that took more than ten seconds to start; no setting changes it."""
    return "connect back" in message


def retry_slow_starts(action: Callable[[], _Result]) -> _Result:
    """Repeat an action until all its workers start in time; streams continue from their checkpoint."""
    while True:
        try:
            return action()
        except PySparkException as error:
            if not is_slow_start(str(error)):
                raise
