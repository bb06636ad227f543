"""``tamis spark stream``: matches files as they appear in a folder."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import (
    add_event_columns,
    add_output_options,
    add_step,
    add_store,
    add_table,
    event_column_options,
    output_options,
)
from tamis.cli.pipeline.tables import format_of, read_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog

_DESCRIPTION = """Match the files of a folder in batches, and write the matches of each batch to
OUT/batch_id=0 and so on, exactly once, also if the command is killed and started again. A
version that is published meanwhile is used from the next batch on. The command ends when all
files are matched; with --every it waits for new files until it is interrupted.

The folder must contain a file when the command starts, which defines the column types."""

_EXAMPLES = """examples:
  tamis spark stream incoming index matches --checkpoint place
  tamis spark stream incoming index matches --checkpoint place --every "10 seconds"
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(steps, "stream", "match files as they appear", _DESCRIPTION, _EXAMPLES, execute)
    add_table(parser, "events", "the folder of event files")
    add_store(parser)
    parser.add_argument("out", metavar="OUT", help="the folder for matches; it belongs to the checkpoint")
    parser.add_argument(
        "--checkpoint", required=True, metavar="FOLDER", help="the folder for the position in the stream"
    )
    parser.add_argument(
        "--every", metavar="INTERVAL", help='how often to look for files, such as "10 seconds"'
    )
    parser.add_argument("--files", type=int, metavar="N", help="maximum files per batch (default: all)")
    add_event_columns(parser)
    add_output_options(parser)


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Match all files, or with --every until interrupted."""
    from tamis.spark.matching.stream import match_stream
    from tamis.spark.store.outputs import check_output

    for folder in (arguments.out, arguments.checkpoint):
        check_output(spark, folder, [arguments.events])
    trigger: dict[str, Any] = (
        {"processingTime": arguments.every} if arguments.every else {"availableNow": True}
    )
    with log.step("stream", "matching files") as note:
        query = match_stream(
            _stream(spark, arguments),
            index_uri=arguments.index,
            out=arguments.out,
            checkpoint=arguments.checkpoint,
            trigger=trigger,
            **event_column_options(arguments),
            **output_options(arguments),
        )
        try:
            query.awaitTermination()
        finally:
            query.stop()
        last = query.lastProgress
        batches = 0 if last is None else last["batchId"] + 1
        note.text = f"{batches:,} batches so far: {arguments.out}"
    return Exit.MATCHED


def _stream(spark: SparkSession, arguments: argparse.Namespace) -> DataFrame:
    from tamis.spark.store.uris import spark_uri

    format = arguments.format or format_of(spark, arguments.events)
    reader = spark.readStream.schema(read_table(spark, arguments.events, format).schema)
    if arguments.files is not None:
        reader = reader.option("maxFilesPerTrigger", arguments.files)
    if format == "csv":
        reader = reader.option("header", True)
    return reader.format(format).load(spark_uri(arguments.events))
