"""``tamis spark changes``: adds, replaces and removes rules."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

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

_DESCRIPTION = """Add, replace and remove rules of the current version. Only the changes are written, as a
delta version; `tamis spark compact` merges deltas. A row of CHANGES has an id, an expression
and an operation, upsert or delete."""

_EXAMPLES = """examples:
  tamis spark changes changes.jsonl index
  tamis spark changes changes.parquet index --op-col action --version tuesday --no-publish
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(steps, "changes", "add, replace and remove rules", _DESCRIPTION, _EXAMPLES, execute)
    add_table(parser, "changes", "one row per change")
    add_store(parser)
    add_rule_columns(parser)
    add_version(parser)
    parser.add_argument(
        "--op-col", default="op", metavar="NAME", help="the column of operations (default: op)"
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Write a delta version."""
    from tamis.spark.build.changes import apply_changes
    from tamis.spark.store.outputs import check_output

    check_output(spark, arguments.index, [arguments.changes])
    with log.step("changes", "writing the changes") as note:
        ref = apply_changes(
            read_table(spark, arguments.changes, arguments.format),
            arguments.index,
            op_col=arguments.op_col,
            **version_options(arguments),
            **rule_column_options(arguments),
        )
        note.text = describe_version(ref, arguments.publish)
    return Exit.MATCHED
