"""``tamis spark ingest``: raw tables and logs to subscriptions and events."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import CommandError, Exit
from tamis.cli.pipeline.arguments import add_output, add_step, add_table
from tamis.cli.pipeline.tables import mode_of, read_table, refuse_existing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps
    from tamis.spark.ingest import Ingested, KeywordStyle

_DESCRIPTION = """Make subscriptions or events of a raw table. Rows that cannot be taken go to a table of
their own, with the column and the reason; none is lost.

what the rows of INPUT are, by --as:
  rules        expressions, to be checked                     gives subscriptions
  queries      queries of a search log (--text-col)           gives subscriptions
  wishes       items of a catalog, as what somebody wants     gives subscriptions
  documents    texts (--text-col)                             gives events
  items        items of a catalog, as what there is           gives events
  json         JSON objects in a column (--text-col)          gives events

Targeting columns of advertisements take conditions in Python: tamis.spark.ingest.profiles."""

_EXAMPLES = """examples:
  tamis spark ingest rules.csv subscriptions --as rules
  tamis spark ingest searches.csv subscriptions --as queries --text-col q --id-col n
  tamis spark ingest catalog.parquet events --as items --id-col sku
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(
        steps, "ingest", "make subscriptions or events of raw tables", _DESCRIPTION, _EXAMPLES, work
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
        help="what a word means in queries and documents; give the same for both (default: presence)",
    )


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Take the table in."""
    from tamis.spark.versions import spark_uri

    out = arguments.out.rstrip("/")
    bad = arguments.bad or f"{out}-bad"
    if bad == out:
        raise CommandError(f"{bad}: error: good and bad rows need folders of their own")
    for place in (out, bad):
        refuse_existing(spark, place, arguments.overwrite)
    with steps.step("ingest", "checking every row") as note:
        rows = read_table(spark, arguments.input, arguments.format)
        _KINDS[arguments.kind](rows, arguments).save(
            spark_uri(out), spark_uri(bad), mode=mode_of(arguments.overwrite)
        )
        good, refused = (spark.read.parquet(spark_uri(place)).count() for place in (out, bad))
        note.text = f"{good:,} good rows: {out}; {refused:,} bad rows with reasons: {bad}"
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
