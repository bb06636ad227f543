"""``tamis spark profile``: what do events hold, what do subscriptions ask for?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.arguments import at_least_one
from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_event_columns, add_output, add_step, add_table, event_columns
from tamis.cli.pipeline.tables import mode_of, read_table, refuse_existing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps

_DESCRIPTION = """Count what a table holds. Of events: each attribute's frequency, kinds, range and most
frequent values, to OUT/attributes, and a sample of them, to OUT/sample, for `tamis spark
build --stats`. Of subscriptions, which have a column named as --expr-col says: attributes,
operators, sizes, to OUT."""

_EXAMPLES = """examples:
  tamis spark profile events.parquet profile
  tamis spark profile subscriptions asked --sample profile/sample
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(
        steps, "profile", "count what events hold and subscriptions ask for", _DESCRIPTION, _EXAMPLES, work
    )
    add_table(parser, "input", "events or subscriptions")
    add_output(parser, "the folder to write to")
    add_event_columns(parser)
    parser.add_argument(
        "--expr-col",
        default="expression",
        metavar="NAME",
        help="the column of expressions (default: expression)",
    )
    parser.add_argument(
        "--rows", type=at_least_one, default=4_096, metavar="N", help="of the sample (default: 4096)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample (default: 0)")
    parser.add_argument(
        "--sample",
        metavar="EVENTS",
        help="for subscriptions: events to take the selectivity of predicates from",
    )


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Profile one of the two."""
    refuse_existing(spark, arguments.out, arguments.overwrite)
    table = read_table(spark, arguments.input, arguments.format)
    if arguments.expr_col in table.columns:
        return _subscriptions(spark, arguments, steps)
    return _events(spark, arguments, steps)


def _events(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    from tamis.spark.profiling import save_profile
    from tamis.spark.versions import spark_uri

    with steps.step("profile", "counting what events hold") as note:
        kept = save_profile(
            read_table(spark, arguments.input, arguments.format),
            spark_uri(arguments.out),
            rows=arguments.rows,
            seed=arguments.seed,
            mode=mode_of(arguments.overwrite),
            **event_columns(arguments),
        )
        attributes, sample = kept.attributes(spark).count(), kept.sample(spark).count()
        note.text = f"{attributes:,} attributes, a sample of {sample:,} events: {arguments.out}"
    return Exit.MATCHED


def _subscriptions(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    from tamis.spark.profiling import profile_subscriptions
    from tamis.spark.versions import spark_uri

    with steps.step("profile", "counting what subscriptions ask for") as note:
        sample = None if arguments.sample is None else read_table(spark, arguments.sample)
        layout = {} if sample is None else event_columns(arguments)
        found = profile_subscriptions(
            read_table(spark, arguments.input, arguments.format),
            expr_col=arguments.expr_col,
            sample=sample,
            **layout,
        )
        found.write.mode(mode_of(arguments.overwrite)).parquet(spark_uri(arguments.out))
        count = spark.read.parquet(spark_uri(arguments.out)).count()
        note.text = f"{count:,} aspects of subscriptions: {arguments.out}"
    return Exit.MATCHED
