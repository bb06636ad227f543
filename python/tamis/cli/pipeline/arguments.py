"""Arguments that several steps share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tamis.cli.arguments import add_command, at_least_one

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.run import StepFunction

FORMATS = ("parquet", "json", "csv")

EXIT_CODES = """exit codes:
  0    done
  2    wrong arguments, bad data, or Spark is missing; stderr has the reason
  70   tamis failed: not enough memory, or a fault in tamis; stderr has the reason
"""


def add_step(
    steps: Commands,
    name: str,
    summary: str,
    description: str,
    examples: str,
    execute: StepFunction,
    codes: str = EXIT_CODES,
) -> argparse.ArgumentParser:
    """Add a step, with the arguments that all steps have."""
    parser = add_command(steps, name, summary, description, "\n".join([codes, examples]))
    parser.add_argument(
        "--master",
        default="local[*]",
        help="the Spark to start (default: local[*], all cores), or sc://HOST:PORT of a Connect server",
    )
    parser.set_defaults(execute=execute)
    return parser


def add_table(parser: argparse.ArgumentParser, name: str, meaning: str) -> None:
    """Add a table to read, and its format."""
    parser.add_argument(name, metavar=name.upper(), help=f"{meaning}: Parquet, JSON lines or CSV")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"one of {', '.join(FORMATS)} (default: by file ending)",
    )


def add_output(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add a folder to write, and --overwrite."""
    parser.add_argument("out", metavar="OUT", help=meaning)
    parser.add_argument("--overwrite", action="store_true", help="replace OUT if it exists (default: stop)")


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the folder of an index."""
    parser.add_argument("index", metavar="INDEX", help="the folder of the index")


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add the name of the version to write, its number of shards, and whether to publish it."""
    parser.add_argument(
        "--version", metavar="NAME", help="the version's name (default: one that sorts by time)"
    )
    parser.add_argument(
        "--shards", type=at_least_one, metavar="N", help="shard files (default: one per 2,000,000 rows)"
    )
    parser.add_argument(
        "--no-publish",
        dest="publish",
        action="store_false",
        help="write the version, but leave the current one; `tamis spark publish` publishes it",
    )


def version_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of `add_version` as keyword arguments."""
    return {"version": arguments.version, "shards": arguments.shards, "publish": arguments.publish}


def add_expression_column(parser: argparse.ArgumentParser) -> None:
    """Add the column of expressions."""
    parser.add_argument(
        "--expr-col",
        default="expression",
        metavar="NAME",
        help="the column of expressions (default: expression)",
    )


def add_rule_columns(parser: argparse.ArgumentParser) -> None:
    """Add the columns of ids and expressions, and how to handle bad rows."""
    parser.add_argument("--id-col", default="id", metavar="NAME", help="the column of ids (default: id)")
    add_expression_column(parser)
    parser.add_argument(
        "--on-error",
        choices=["raise", "quarantine"],
        default="raise",
        help="for bad rows: stop at the first (default), or leave them out and store them with the reason",
    )


def rule_column_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of `add_rule_columns` as keyword arguments."""
    return {
        "id_col": arguments.id_col,
        "expr_col": arguments.expr_col,
        "on_error": arguments.on_error,
    }


def add_event_columns(parser: argparse.ArgumentParser) -> None:
    """Add the columns that hold an event."""
    parser.add_argument(
        "--event-id-col", default="event_id", metavar="NAME", help="the column of ids (default: event_id)"
    )
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument(
        "--attr-cols",
        type=_names,
        metavar="A,B,...",
        help="the columns of attributes (default: all others)",
    )
    layout.add_argument("--json-col", metavar="NAME", help="the column of JSON objects")
    layout.add_argument("--map-col", metavar="NAME", help="the column of maps")


def event_column_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of `add_event_columns` as keyword arguments."""
    return {
        "event_id_col": arguments.event_id_col,
        "attr_cols": arguments.attr_cols,
        "json_col": arguments.json_col,
        "map_col": arguments.map_col,
    }


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the form of the matches."""
    parser.add_argument(
        "--top-k", type=at_least_one, metavar="K", help="only the K best matches of each event, with scores"
    )
    parser.add_argument(
        "--output",
        choices=["rows", "array"],
        default="rows",
        help="one row per match (default), or one row per event with an array of ids",
    )
    parser.add_argument(
        "--groups",
        type=at_least_one,
        default=1,
        metavar="N",
        help="divide an index that exceeds the memory of a machine (default: 1)",
    )


def output_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of `add_output_options` as keyword arguments."""
    return {"top_k": arguments.top_k, "output": arguments.output, "groups": arguments.groups}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
