"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.files.formats import EventsFormat, RulesFormat

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

# The largest number that the core takes.
_MOST = 2**63 - 1
_MOST_THREADS = 1024
_SHOWN_CHARACTERS = 40

RULES_FORMATS = """rules, by file ending (or --rules-format):
  .txt, other  one expression per line; its id is the line number. If the first rule has the
               form id<TAB>expression, all have. Blank lines, # and -- lines are skipped
  .tsv         id<TAB>expression
  .jsonl       {"id": "ad-1", "expression": "age > 30"}; also .ndjson, .json
  .csv         columns expression and, optionally, id (default: the row number)
  .parquet     the same columns
"""

FORMATS = f"""{RULES_FORMATS}
events, by file ending (or --events-format):
  .jsonl       one JSON object per line; also .ndjson, .json and unknown endings
  .csv         one event per row under a header; types are inferred per column, ISO dates and
               timestamps included; an empty cell is a missing value
  .parquet     one event per row
  -            JSON lines from standard input, matched as they arrive

Events are numbered from 1: by line in JSON lines (blank lines count), by row in tables.
"""


def add_command(
    commands: Commands, name: str, summary: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a command whose help keeps the line breaks of its texts."""
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add RULES and EVENTS, their formats, and --missing."""
    add_rules(parser)
    parser.add_argument("events", metavar="EVENTS", help="the file of events, or - for stdin")
    parser.add_argument(
        "--events-format",
        type=EventsFormat,
        choices=list(EventsFormat),
        metavar="FORMAT",
        help=f"one of {', '.join(EventsFormat)} (default: by file ending)",
    )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add RULES, their format, and --missing."""
    parser.add_argument("rules", metavar="RULES", help="the file of rules")
    parser.add_argument(
        "--rules-format",
        type=RulesFormat,
        choices=list(RulesFormat),
        metavar="FORMAT",
        help=f"one of {', '.join(RulesFormat)} (default: by file ending)",
    )
    add_missing(parser)


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Add --missing, the truth of a predicate on a missing attribute."""
    parser.add_argument(
        "--missing",
        choices=["unknown", "false"],
        default="unknown",
        help="the truth of a predicate on a missing attribute: unknown as in SQL (default), or false",
    )


def add_workload_size(parser: argparse.ArgumentParser, rules: int, events: int) -> None:
    """Add the size and the seed of a workload to draw."""
    parser.add_argument(
        "--subscriptions",
        type=at_least_one,
        default=rules,
        metavar="N",
        help=f"the number of rules (default: {rules})",
    )
    parser.add_argument(
        "--events",
        type=at_least_one,
        default=events,
        metavar="N",
        help=f"the number of events (default: {events})",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the random seed (default: 1)")


def at_least_one(text: str) -> int:
    """Parse an integer of at least 1, for argparse.

    >>> at_least_one("12")
    12
    """
    return _whole_number(text, _MOST)


def thread_count(text: str) -> int:
    """Parse a number of threads, for argparse.

    >>> thread_count("8")
    8
    """
    return _whole_number(text, _MOST_THREADS)


def _whole_number(text: str, most: int) -> int:
    shown = repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}...")
    try:
        number = int(text)
    except ValueError:
        # Python refuses to convert thousands of digits.
        number = most + 1 if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {shown}")
    if number > most:
        raise argparse.ArgumentTypeError(f"expected a whole number of at most {most}, found {shown}")
    return number
