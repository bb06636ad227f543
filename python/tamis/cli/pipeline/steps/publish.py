"""``tamis spark publish``: sets the current version."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_step, add_store
from tamis.cli.pipeline.version_summary import describe_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog

_DESCRIPTION = """Make a version of an index the current one. Publishing an older version goes back to it; a
running stream uses it from its next batch on."""

_EXAMPLES = """examples:
  tamis spark publish index monday
  tamis spark publish index tuesday --expected monday
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(steps, "publish", "set the current version", _DESCRIPTION, _EXAMPLES, execute)
    add_store(parser)
    parser.add_argument("version", metavar="VERSION", help="the version's name")
    parser.add_argument(
        "--expected", metavar="NAME", help="publish only if this version is current (default: any)"
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Publish a version."""
    from tamis.spark.store.versions import open_index, publish

    with log.step("publish", "setting the current version") as note:
        publish(spark, arguments.index, arguments.version, expected=arguments.expected)
        note.text = describe_version(open_index(spark, arguments.index), published=True)
    return Exit.MATCHED
