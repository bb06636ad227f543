"""``tamis spark vacuum``: old versions go."""

from __future__ import annotations

import argparse
from datetime import timedelta
from typing import TYPE_CHECKING

from tamis.cli.arguments import at_least_one
from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_step, add_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps

_DESCRIPTION = """Remove old versions of an index, and what tasks that failed have left. The version in use
stays, and all that a kept version builds on. Nothing younger than --hours goes: a build may
be about to use it."""

_EXAMPLES = """examples:
  tamis spark vacuum index
  tamis spark vacuum index --keep 1 --hours 48
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(steps, "vacuum", "remove old versions", _DESCRIPTION, _EXAMPLES, work)
    add_store(parser)
    parser.add_argument(
        "--keep", type=at_least_one, default=3, metavar="N", help="how many of the youngest stay (default: 3)"
    )
    parser.add_argument(
        "--hours", type=float, default=24.0, metavar="H", help="the age from which files go (default: 24)"
    )


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Remove what is old."""
    from tamis.spark.versions import vacuum

    with steps.step("vacuum", "removing old versions") as note:
        grace = timedelta(hours=arguments.hours)
        removed = vacuum(spark, arguments.index, arguments.keep, grace=grace)
        note.text = f"{len(removed):,} files removed"
    for path in removed:
        steps.say(f"  {path}", "dim")
    return Exit.MATCHED
