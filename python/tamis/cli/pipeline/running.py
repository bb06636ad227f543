"""How a step runs: with a session, a spinner, and errors of one line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from tamis.cli.pipeline.reasons import short_errors
from tamis.cli.pipeline.session import session
from tamis.cli.pipeline.steps import Steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    Work = Callable[[SparkSession, argparse.Namespace, Steps], int]


def run_step(arguments: argparse.Namespace) -> int:
    """Run the step that was chosen.

    Raises:
        CommandError: Something about the arguments or the data is wrong.
    """
    work: Work = arguments.work
    with session(arguments.master) as spark, short_errors():
        return work(spark, arguments, Steps())
