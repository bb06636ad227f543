"""``tamis spark match``: which subscriptions does each event of a table satisfy?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import (
    add_answers,
    add_event_columns,
    add_output,
    add_step,
    add_store,
    add_table,
    answers,
    event_columns,
)
from tamis.cli.pipeline.tables import format_of, mode_of, read_table, refuse_existing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps
    from tamis.spark.manifest import IndexRef

_DESCRIPTION = """Match a table of events with an index, and write the matches: the columns event_id, id and,
with --top-k, score. Workers read events in Parquet themselves, which is the fastest way."""

_EXAMPLES = """examples:
  tamis spark match events index matches
  tamis spark match events.jsonl index best --top-k 3 --output array
  tamis spark match events index matches --index-version monday --overwrite
"""

_EXIT_CODES = """exit codes:
  0    done, and something matched
  1    done, and nothing matched (as grep does)
  2    the command line or the data is wrong, or Spark is missing; stderr says what
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(steps, "match", "match a table of events", _DESCRIPTION, _EXAMPLES, work, _EXIT_CODES)
    add_table(parser, "events", "a row for each event")
    add_store(parser)
    add_output(parser, "the folder for matches")
    add_event_columns(parser)
    add_answers(parser)
    parser.add_argument(
        "--index-version",
        default="current",
        metavar="NAME",
        help="a version of the index (default: the one in use)",
    )


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Match the table."""
    from pyspark.sql import functions as F

    from tamis.spark.versions import open_index, spark_uri

    refuse_existing(spark, arguments.out, arguments.overwrite)
    ref = open_index(spark, arguments.index, arguments.index_version)
    with steps.step("match", "matching events") as note:
        found = _matches(spark, arguments, ref)
        found.write.mode(mode_of(arguments.overwrite)).parquet(spark_uri(arguments.out))
        written = spark.read.parquet(spark_uri(arguments.out))
        sizes = F.size("ids") if arguments.output == "array" else F.lit(1)
        matches = written.select(F.sum(sizes).alias("matches")).collect()[0]["matches"] or 0
        note.text = f"{matches:,} matches with version {ref.version}: {arguments.out}"
    return Exit.MATCHED if matches else Exit.NOTHING_MATCHED


def _matches(spark: SparkSession, arguments: argparse.Namespace, ref: IndexRef) -> DataFrame:
    from tamis.spark.matching import match
    from tamis.spark.matching_files import match_files

    asked = {**event_columns(arguments), **answers(arguments)}
    if (arguments.format or format_of(spark, arguments.events)) == "parquet":
        return match_files(spark, arguments.events, ref, **asked)
    return match(read_table(spark, arguments.events, arguments.format), ref, **asked)
