"""``tamis spark build``: indexes a table of rules."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.arguments import add_missing
from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import (
    add_rule_columns,
    add_step,
    add_store,
    add_table,
    add_version,
    rule_column_options,
    version_options,
)
from tamis.cli.pipeline.tables import read_table
from tamis.cli.pipeline.version_summary import describe_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog

_DESCRIPTION = """Index a table of rules as a version in the folder INDEX, one file per shard. The version
exists once all of it is written, and then becomes the current one."""

_EXAMPLES = """examples:
  tamis spark build subscriptions index
  tamis spark build rules.csv index --on-error quarantine
  tamis spark build subscriptions index --shards 8 --stats profile/sample
  tamis spark build subscriptions index --version monday --no-publish
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(steps, "build", "index rules", _DESCRIPTION, _EXAMPLES, execute)
    add_table(parser, "rules", "one row per rule")
    add_store(parser)
    add_rule_columns(parser)
    add_version(parser)
    parser.add_argument("--engine", default="auto", help="see `tamis engines` (default: auto)")
    add_missing(parser)
    parser.add_argument(
        "--stats", metavar="EVENTS", help="past events to optimize the index for, such as PROFILE/sample"
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Build a version."""
    from tamis.spark.build.index import build_index
    from tamis.spark.store.outputs import check_output

    check_output(spark, arguments.index, [arguments.rules, arguments.stats])
    with log.step("build", "indexing rules") as note:
        ref = build_index(
            read_table(spark, arguments.rules, arguments.format),
            arguments.index,
            engine=arguments.engine,
            missing=arguments.missing,
            stats=None if arguments.stats is None else read_table(spark, arguments.stats),
            **version_options(arguments),
            **rule_column_options(arguments),
        )
        note.text = describe_version(ref, arguments.publish)
    return Exit.MATCHED
