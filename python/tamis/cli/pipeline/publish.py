"""``tamis spark publish``: which version is in use?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_step, add_store
from tamis.cli.pipeline.wording import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps

_DESCRIPTION = """Put a version of an index in use. Going back to an older one works the same way; a stream
that runs takes it from its next batch on."""

_EXAMPLES = """examples:
  tamis spark publish index monday
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(steps, "publish", "put a version in use", _DESCRIPTION, _EXAMPLES, work)
    add_store(parser)
    parser.add_argument("version", metavar="VERSION", help="the version's name")


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Move to a version."""
    from tamis.spark.versions import open_index, publish

    with steps.step("publish", "putting the version in use") as note:
        publish(spark, arguments.index, arguments.version)
        note.text = written(open_index(spark, arguments.index), published=True)
    return Exit.MATCHED
