"""``tamis spark vacuum``: removes old versions."""

from __future__ import annotations

import argparse
import sys
import warnings
from datetime import timedelta
from typing import TYPE_CHECKING

from tamis.cli.arguments import at_least_one
from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_step, add_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog

_DESCRIPTION = """Remove old versions of an index, and files of failed tasks. The current version is kept, and
so are the files that a kept version refers to. Files younger than --hours are kept: a running
build may need them. A version whose manifest cannot be read is reported and kept, with all files
that it may refer to."""

_EXAMPLES = """examples:
  tamis spark vacuum index
  tamis spark vacuum index --keep 1 --hours 48
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(steps, "vacuum", "remove old versions", _DESCRIPTION, _EXAMPLES, execute)
    add_store(parser)
    parser.add_argument(
        "--keep",
        type=at_least_one,
        default=3,
        metavar="N",
        help="the number of newest versions to keep (default: 3)",
    )
    parser.add_argument(
        "--hours",
        type=float,
        default=24.0,
        metavar="H",
        help="the minimum age of removed files (default: 24)",
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Remove old versions."""
    from tamis.spark.store.versions import vacuum

    with log.step("vacuum", "removing old versions") as note:
        grace = timedelta(hours=arguments.hours)
        with warnings.catch_warnings(action="ignore"):  # printed below, without a line of this program
            removed = vacuum(spark, arguments.index, arguments.keep, grace=grace)
        note.text = f"{len(removed):,} files removed"
    for path in removed:
        log.print_line(f"  {path}", "dim")
    for manifest in removed.damaged:
        print(
            f"{arguments.index}: warning: a version cannot be read and was kept: {manifest}", file=sys.stderr
        )
    return Exit.MATCHED
