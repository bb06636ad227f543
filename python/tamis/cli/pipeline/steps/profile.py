"""``tamis spark profile``: computes statistics of events or rules."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.arguments import at_least_one
from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import (
    add_event_columns,
    add_expression_column,
    add_output,
    add_step,
    add_table,
    event_column_options,
)
from tamis.cli.pipeline.tables import check_output, read_table, write_mode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog

_DESCRIPTION = """Compute statistics of a table. For events: the frequency, kinds, range and most frequent
values of each attribute to OUT/attributes, and a sample of events to OUT/sample, for `tamis
spark build --stats`. For rules, which have the column that --expr-col names: attributes,
operators and sizes to OUT."""

_EXAMPLES = """examples:
  tamis spark profile events.parquet profile
  tamis spark profile subscriptions asked --sample profile/sample
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(
        steps, "profile", "compute statistics of events or rules", _DESCRIPTION, _EXAMPLES, execute
    )
    add_table(parser, "input", "events or rules")
    add_output(parser, "the folder to write to")
    add_event_columns(parser)
    add_expression_column(parser)
    parser.add_argument(
        "--rows", type=at_least_one, default=4_096, metavar="N", help="rows of the sample (default: 4096)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the sample (default: 0)")
    parser.add_argument(
        "--sample",
        metavar="EVENTS",
        help="for rules: events to compute selectivities from",
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Profile events or rules."""
    check_output(spark, arguments.out, arguments.overwrite, [arguments.input, arguments.sample])
    table = read_table(spark, arguments.input, arguments.format)
    if arguments.expr_col in table.columns:
        return _rules(spark, arguments, log)
    return _events(spark, arguments, log)


def _events(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    from tamis.spark.profiling import save_profile
    from tamis.spark.store.uris import spark_uri

    with log.step("profile", "computing statistics of events") as note:
        saved = save_profile(
            read_table(spark, arguments.input, arguments.format),
            spark_uri(arguments.out),
            rows=arguments.rows,
            seed=arguments.seed,
            mode=write_mode(arguments.overwrite),
            **event_column_options(arguments),
        )
        attributes, sample = saved.attributes(spark).count(), saved.sample(spark).count()
        note.text = f"{attributes:,} attributes, a sample of {sample:,} events: {arguments.out}"
    return Exit.MATCHED


def _rules(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    from tamis.spark.profiling import profile_subscriptions
    from tamis.spark.store.uris import spark_uri

    with log.step("profile", "computing statistics of rules") as note:
        sample = None if arguments.sample is None else read_table(spark, arguments.sample)
        layout = {} if sample is None else event_column_options(arguments)
        found = profile_subscriptions(
            read_table(spark, arguments.input, arguments.format),
            expr_col=arguments.expr_col,
            sample=sample,
            **layout,
        )
        found.write.mode(write_mode(arguments.overwrite)).parquet(spark_uri(arguments.out))
        count = spark.read.parquet(spark_uri(arguments.out)).count()
        note.text = f"{count:,} aspects of rules: {arguments.out}"
    return Exit.MATCHED
