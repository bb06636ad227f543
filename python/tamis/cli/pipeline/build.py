"""``tamis spark build``: an index of subscriptions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_step, add_store, add_subscription_columns, add_table, add_version
from tamis.cli.pipeline.tables import read_table
from tamis.cli.pipeline.wording import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps

_DESCRIPTION = """Index a table of subscriptions as a version of the folder INDEX, a file for each shard. A
version exists once all of it is written, and is then in use."""

_EXAMPLES = """examples:
  tamis spark build subscriptions index
  tamis spark build rules.csv index --on-error quarantine
  tamis spark build subscriptions index --shards 8 --stats profile/sample
  tamis spark build subscriptions index --version monday --no-publish
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(steps, "build", "index subscriptions", _DESCRIPTION, _EXAMPLES, work)
    add_table(parser, "subscriptions", "a row for each subscription")
    add_store(parser)
    add_subscription_columns(parser)
    add_version(parser)
    parser.add_argument("--engine", default="auto", help="see `tamis engines` (default: auto)")
    parser.add_argument(
        "--missing",
        choices=["unknown", "false"],
        default="unknown",
        help="what a predicate on a missing attribute is: unknown as in SQL (default), or false",
    )
    parser.add_argument(
        "--stats", metavar="EVENTS", help="past events to lay the index out for, such as PROFILE/sample"
    )


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Build a version."""
    from tamis.spark.building import build_index

    with steps.step("build", "indexing subscriptions") as note:
        ref = build_index(
            read_table(spark, arguments.subscriptions, arguments.format),
            arguments.index,
            version=arguments.version,
            shards=arguments.shards,
            id_col=arguments.id_col,
            expr_col=arguments.expr_col,
            engine=arguments.engine,
            missing=arguments.missing,
            stats=None if arguments.stats is None else read_table(spark, arguments.stats),
            on_error=arguments.on_error,
            publish=arguments.publish,
        )
        note.text = written(ref, arguments.publish)
    return Exit.MATCHED
