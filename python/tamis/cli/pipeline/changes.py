"""``tamis spark changes``: subscriptions that come, go and change."""

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

_DESCRIPTION = """Add, replace and remove subscriptions of the version in use. Only what changed is written,
as a version of its own; `tamis spark compact` folds such versions in. A row of CHANGES has
an id, an expression and what to do, upsert or delete."""

_EXAMPLES = """examples:
  tamis spark changes changes.jsonl index
  tamis spark changes changes.parquet index --op-col action --version tuesday --no-publish
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(
        steps, "changes", "add, replace and remove subscriptions", _DESCRIPTION, _EXAMPLES, work
    )
    add_table(parser, "changes", "a row for each change")
    add_store(parser)
    add_subscription_columns(parser)
    add_version(parser)
    parser.add_argument(
        "--op-col", default="op", metavar="NAME", help="the column of upsert or delete (default: op)"
    )


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Write a delta version."""
    from tamis.spark.changing import apply_changes

    with steps.step("changes", "writing what changed") as note:
        ref = apply_changes(
            read_table(spark, arguments.changes, arguments.format),
            arguments.index,
            version=arguments.version,
            shards=arguments.shards,
            id_col=arguments.id_col,
            expr_col=arguments.expr_col,
            op_col=arguments.op_col,
            on_error=arguments.on_error,
            publish=arguments.publish,
        )
        note.text = written(ref, arguments.publish)
    return Exit.MATCHED
