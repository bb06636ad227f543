"""Arguments that several steps share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tamis.cli.arguments import add_command, at_least_one

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.running import Work

FORMATS = ("parquet", "json", "csv")

TABLES = """tables, by file ending, or by that of the files in a folder (or --format):
  .parquet     with the types it has
  .json        JSON lines, also .jsonl and .ndjson; types are inferred
  .csv         under a header; types are inferred
"""

EXIT_CODES = """exit codes:
  0    done
  2    the command line or the data is wrong, or Spark is missing; stderr says what
"""


def add_step(
    steps: Commands,
    name: str,
    summary: str,
    description: str,
    examples: str,
    work: Work,
    codes: str = EXIT_CODES,
) -> argparse.ArgumentParser:
    """Add a step, with what all of them take."""
    parser = add_command(steps, name, summary, description, "\n".join([codes, examples]))
    parser.add_argument(
        "--master",
        default="local[*]",
        help="the Spark to start (default: local[*], all cores), or sc://HOST:PORT of a Connect server",
    )
    parser.set_defaults(work=work)
    return parser


def add_table(parser: argparse.ArgumentParser, name: str, meaning: str) -> None:
    """Add a table to read, and its format."""
    parser.add_argument(name, metavar=name.upper(), help=f"{meaning}: Parquet, JSON lines or CSV")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"one of {', '.join(FORMATS)}; follows from the files",
    )


def add_output(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add a folder to write, and what happens if it is there."""
    parser.add_argument("out", metavar="OUT", help=meaning)
    parser.add_argument("--overwrite", action="store_true", help="replace what is there; otherwise refused")


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the folder of an index."""
    parser.add_argument("index", metavar="INDEX", help="the folder of the index")


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add what a version that is written is called, into how many shards it goes, and whether it is used."""
    parser.add_argument(
        "--version", metavar="NAME", help="the version's name (default: one that sorts by time)"
    )
    parser.add_argument(
        "--shards", type=at_least_one, metavar="N", help="how many files (default: one for 2,000,000 rows)"
    )
    parser.add_argument(
        "--no-publish",
        dest="publish",
        action="store_false",
        help="only write it; `tamis spark publish` uses it",
    )


def add_subscription_columns(parser: argparse.ArgumentParser) -> None:
    """Add which columns hold ids and expressions, and what is done about bad rows."""
    parser.add_argument("--id-col", default="id", metavar="NAME", help="the column of ids (default: id)")
    parser.add_argument(
        "--expr-col",
        default="expression",
        metavar="NAME",
        help="the column of expressions (default: expression)",
    )
    parser.add_argument(
        "--on-error",
        choices=["raise", "quarantine"],
        default="raise",
        help="what to do about bad rows: stop at the first (default), or set all of them aside",
    )


def add_event_columns(parser: argparse.ArgumentParser) -> None:
    """Add which columns hold an event."""
    parser.add_argument(
        "--event-id-col", default="event_id", metavar="NAME", help="the column of ids (default: event_id)"
    )
    holding = parser.add_mutually_exclusive_group()
    holding.add_argument(
        "--attr-cols",
        type=_names,
        metavar="A,B,...",
        help="the columns that are attributes (default: all others)",
    )
    holding.add_argument("--json-col", metavar="NAME", help="the column that holds a JSON object")
    holding.add_argument("--map-col", metavar="NAME", help="the column that holds a map")


def event_columns(arguments: argparse.Namespace) -> dict[str, Any]:
    """Give what `add_event_columns` added, as functions take it."""
    return {
        "event_id_col": arguments.event_id_col,
        "attr_cols": arguments.attr_cols,
        "json_col": arguments.json_col,
        "map_col": arguments.map_col,
    }


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Add what is given for each event."""
    parser.add_argument(
        "--top-k", type=at_least_one, metavar="K", help="only the K best matches of each event, with scores"
    )
    parser.add_argument(
        "--output",
        choices=["rows", "array"],
        default="rows",
        help="a row for each match (default), or one for each event with an array of ids",
    )
    parser.add_argument(
        "--groups",
        type=at_least_one,
        default=1,
        metavar="N",
        help="divide an index that is too large for one machine (default: 1)",
    )


def answers(arguments: argparse.Namespace) -> dict[str, Any]:
    """Give what `add_answers` added, as functions take it."""
    return {"top_k": arguments.top_k, "output": arguments.output, "groups": arguments.groups}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
