"""Runs a step: starts a session, logs progress, and shortens errors to one line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from tamis.cli.pipeline.session import session
from tamis.cli.pipeline.spark_errors import short_errors
from tamis.cli.pipeline.step_log import StepLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    StepFunction = Callable[[SparkSession, argparse.Namespace, StepLog], int]


def run_step(arguments: argparse.Namespace) -> int:
    """Run the chosen step.

    Raises:
        CommandError: The arguments or the data are wrong.
    """
    execute: StepFunction = arguments.execute
    with session(arguments.master) as spark, short_errors():
        return execute(spark, arguments, StepLog())
