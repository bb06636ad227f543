"""``tamis spark match``: matches a table of events."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import (
    add_event_columns,
    add_output,
    add_output_options,
    add_step,
    add_store,
    add_table,
    event_column_options,
    output_options,
)
from tamis.cli.pipeline.tables import check_output, format_of, read_table, write_mode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog
    from tamis.spark.store.manifest import IndexRef

_DESCRIPTION = """Match a table of events with an index, and write the matches: the columns event_id, id and,
with --top-k, score. Parquet files are fastest: workers read them directly."""

_EXAMPLES = """examples:
  tamis spark match events index matches
  tamis spark match events.jsonl index best --top-k 3 --output array
  tamis spark match events index matches --index-version monday --overwrite
"""

_EXIT_CODES = """exit codes:
  0    done, with at least one match
  1    done, without a match (as grep does)
  2    wrong arguments, bad data, or Spark is missing; stderr has the reason
  70   tamis failed: not enough memory, or a fault in tamis; stderr has the reason
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(
        steps, "match", "match a table of events", _DESCRIPTION, _EXAMPLES, execute, _EXIT_CODES
    )
    add_table(parser, "events", "one row per event")
    add_store(parser)
    add_output(parser, "the folder for matches")
    add_event_columns(parser)
    add_output_options(parser)
    parser.add_argument(
        "--index-version",
        default="current",
        metavar="NAME",
        help="a version of the index (default: the current one)",
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Match the table."""
    from pyspark.sql import functions as F

    from tamis.spark.store.uris import spark_uri
    from tamis.spark.store.versions import open_index

    check_output(spark, arguments.out, arguments.overwrite, [arguments.events], [arguments.index])
    ref = open_index(spark, arguments.index, arguments.index_version)
    with log.step("match", "matching events") as note:
        found = _matches(spark, arguments, ref)
        found.write.mode(write_mode(arguments.overwrite)).parquet(spark_uri(arguments.out))
        written = spark.read.parquet(spark_uri(arguments.out))
        sizes = F.size("ids") if arguments.output == "array" else F.lit(1)
        matches = written.select(F.sum(sizes).alias("matches")).collect()[0]["matches"] or 0
        note.text = f"{matches:,} matches with version {ref.version}: {arguments.out}"
    return Exit.MATCHED if matches else Exit.NOTHING_MATCHED


def _matches(spark: SparkSession, arguments: argparse.Namespace, ref: IndexRef) -> DataFrame:
    from tamis.spark.matching.files import match_files
    from tamis.spark.matching.table import match

    options = {**event_column_options(arguments), **output_options(arguments)}
    if (arguments.format or format_of(spark, arguments.events)) == "parquet":
        return match_files(spark, arguments.events, ref, **options)
    return match(read_table(spark, arguments.events, arguments.format), ref, **options)
