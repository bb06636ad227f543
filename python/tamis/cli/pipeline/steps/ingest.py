"""``tamis spark ingest``: converts raw tables and logs to rules or events."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import CommandError, Exit
from tamis.cli.pipeline.arguments import add_output, add_step, add_table
from tamis.cli.pipeline.tables import check_output, read_table, write_mode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog
    from tamis.spark.ingest import Ingested, KeywordStyle

_DESCRIPTION = """Convert a raw table to rules or events. Bad rows go to a separate table, with the column
and the reason; no row is lost.

the rows of INPUT, by --as:
  rules        expressions to check                           become rules
  queries      queries of a search log (--text-col)           become rules
  wishes       wanted items of a catalog                      become rules
  documents    texts (--text-col)                             become events
  items        existing items of a catalog                    become events
  json         JSON objects in a column (--text-col)          become events

Targeting columns of advertisements need Python: tamis.spark.ingest.profiles."""

_EXAMPLES = """examples:
  tamis spark ingest rules.csv subscriptions --as rules
  tamis spark ingest searches.csv subscriptions --as queries --text-col q --id-col n
  tamis spark ingest catalog.parquet events --as items --id-col sku
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(
        steps, "ingest", "convert raw tables to rules or events", _DESCRIPTION, _EXAMPLES, execute
    )
    add_table(parser, "input", "the raw table")
    add_output(parser, "the folder for good rows")
    parser.add_argument("--as", dest="kind", choices=list(_KINDS), required=True, help="what the rows are")
    parser.add_argument("--bad", metavar="FOLDER", help="the folder for bad rows (default: OUT-bad)")
    parser.add_argument("--id-col", default="id", metavar="NAME", help="the column of ids (default: id)")
    parser.add_argument(
        "--expr-col", default="expression", metavar="NAME", help="for rules (default: expression)"
    )
    parser.add_argument(
        "--text-col", default="text", metavar="NAME", help="for texts and JSON (default: text)"
    )
    parser.add_argument(
        "--style",
        choices=["presence", "frequency", "split"],
        default="presence",
        help="the meaning of a word; use the same for queries and documents (default: presence)",
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Convert the table."""
    from tamis.spark.store.uris import spark_uri

    out = arguments.out.rstrip("/")
    bad = arguments.bad or f"{out}-bad"
    if bad == out:
        raise CommandError(f"{bad}: error: good and bad rows need different folders")
    check_output(spark, out, arguments.overwrite, [arguments.input])
    check_output(spark, bad, arguments.overwrite, [arguments.input], [out])
    with log.step("ingest", "checking every row") as note:
        rows = read_table(spark, arguments.input, arguments.format)
        _KINDS[arguments.kind](rows, arguments).save(
            spark_uri(out), spark_uri(bad), mode=write_mode(arguments.overwrite)
        )
        good_count, bad_count = (spark.read.parquet(spark_uri(folder)).count() for folder in (out, bad))
        note.text = f"{good_count:,} good rows: {out}; {bad_count:,} bad rows with reasons: {bad}"
    return Exit.MATCHED


def _rules(rows: DataFrame, arguments: argparse.Namespace) -> Ingested:
    from tamis.spark.ingest import subscriptions

    return subscriptions(rows, arguments.id_col, arguments.expr_col)


def _queries(rows: DataFrame, arguments: argparse.Namespace) -> Ingested:
    from tamis.spark.ingest import keywords

    return keywords(rows, arguments.text_col, arguments.id_col, style=_style(arguments.style))


def _documents(rows: DataFrame, arguments: argparse.Namespace) -> Ingested:
    from tamis.spark.ingest import keyword_events

    return keyword_events(rows, arguments.text_col, arguments.id_col, style=_style(arguments.style))


def _wishes(rows: DataFrame, arguments: argparse.Namespace) -> Ingested:
    from tamis.spark.ingest import table

    return table(rows, arguments.id_col)


def _items(rows: DataFrame, arguments: argparse.Namespace) -> Ingested:
    from tamis.spark.ingest import table_events

    return table_events(rows, arguments.id_col)


def _json(rows: DataFrame, arguments: argparse.Namespace) -> Ingested:
    from tamis.spark.ingest import json

    return json(rows, json_col=arguments.text_col, id_col=arguments.id_col)


def _style(name: str) -> KeywordStyle:
    from tamis.spark.ingest import Frequency, Presence, Split

    styles: dict[str, KeywordStyle] = {
        "presence": Presence(),
        "frequency": Frequency(),
        "split": Split(),
    }
    return styles[name]


_KINDS = {
    "rules": _rules,
    "queries": _queries,
    "wishes": _wishes,
    "documents": _documents,
    "items": _items,
    "json": _json,
}
