"""``tamis spark stream``: match files as they appear."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import (
    add_answers,
    add_event_columns,
    add_step,
    add_store,
    add_table,
    answers,
    event_columns,
)
from tamis.cli.pipeline.tables import format_of, read_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps

_DESCRIPTION = """Match the files of a folder, and those that appear in it, in batches; the matches of each
are there exactly once, in OUT/batch_id=0 and so on, also when the command is killed and
started again. A version that is published is used from the next batch on. Ends when all
files are done; with --every it waits for more until it is interrupted.

The folder must hold a file when the command starts: the types of columns come from it."""

_EXAMPLES = """examples:
  tamis spark stream incoming index matches --checkpoint place
  tamis spark stream incoming index matches --checkpoint place --every "10 seconds"
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(steps, "stream", "match files as they appear", _DESCRIPTION, _EXAMPLES, work)
    add_table(parser, "events", "a folder in which files of events appear")
    add_store(parser)
    parser.add_argument("out", metavar="OUT", help="the folder for matches; it goes with the checkpoint")
    parser.add_argument(
        "--checkpoint", required=True, metavar="FOLDER", help="where the place in the stream is kept"
    )
    parser.add_argument(
        "--every", metavar="INTERVAL", help='how often to look for files, such as "10 seconds"'
    )
    parser.add_argument(
        "--files", type=int, metavar="N", help="the most files of a batch (default: all there are)"
    )
    add_event_columns(parser)
    add_answers(parser)


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Match what there is, or for ever."""
    from tamis.spark.streaming import match_stream

    trigger: dict[str, Any] = (
        {"processingTime": arguments.every} if arguments.every else {"availableNow": True}
    )
    with steps.step("stream", "matching files") as note:
        query = match_stream(
            _stream(spark, arguments),
            index_uri=arguments.index,
            out=arguments.out,
            checkpoint=arguments.checkpoint,
            trigger=trigger,
            **event_columns(arguments),
            **answers(arguments),
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
    from tamis.spark.versions import spark_uri

    format = arguments.format or format_of(spark, arguments.events)
    reader = spark.readStream.schema(read_table(spark, arguments.events, format).schema)
    if arguments.files is not None:
        reader = reader.option("maxFilesPerTrigger", arguments.files)
    if format == "csv":
        reader = reader.option("header", True)
    return reader.format(format).load(spark_uri(arguments.events))
