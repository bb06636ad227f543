"""``tamis engines``: what the index can be built with."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import tamis
from tamis.cli.arguments import add_command
from tamis.cli.exits import Exit

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands

_DESCRIPTION = """List the engines: the index structures that `tamis match --engine NAME` and
tamis.Index(engine=NAME) accept. All of them give the same answers; they differ in speed, memory
and in the expressions they take."""

_EPILOG = """examples:
  tamis engines
  tamis engines --json | jq -r .name
"""


def add_parser(commands: Commands) -> None:
    """Describe the subcommand."""
    parser = add_command(commands, "engines", "list the engines", _DESCRIPTION, _EPILOG)
    parser.add_argument("--json", action="store_true", help="one JSON object per engine and line")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the engines."""
    found = tamis.engines()
    if arguments.json:
        for engine in found:
            record = {
                "name": engine.name,
                "description": engine.description,
                "takes": engine.takes,
            }
            print(json.dumps(record, ensure_ascii=False))
        return Exit.MATCHED

    from rich.table import Table

    from tamis.cli.console import output_console, plain

    table = Table(title="engines", title_justify="left", title_style="bold")
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("description")
    table.add_column("takes")
    for engine in found:
        table.add_row(plain(engine.name), plain(engine.description), plain(engine.takes))
    output_console().print(table)
    return Exit.MATCHED
