"""``tamis engines``: lists the engines."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import tamis
from tamis.cli.arguments import add_command
from tamis.cli.exits import Exit

if TYPE_CHECKING:
    from rich.table import Table

    from tamis.cli.arguments import Commands

_DESCRIPTION = """List the engines: the index structures that `tamis match --engine NAME` and
tamis.Index(engine=NAME) accept. All engines give the same results; they differ in speed, memory
and the expressions they take. Families: product (made for users), paper (the system of a
paper), baseline (what papers compare with)."""

_EPILOG = """examples:
  tamis engines
  tamis engines --options
  tamis engines --json | jq -r .name
"""


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "engines", "list the engines", _DESCRIPTION, _EPILOG)
    parser.add_argument("--options", action="store_true", help="list the options of tamis.Index(options=...)")
    parser.add_argument("--json", action="store_true", help="one JSON object per engine and line")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the engines."""
    found = tamis.engines()
    if arguments.json:
        for engine in found:
            print(json.dumps(_record(engine), ensure_ascii=False))
        return Exit.MATCHED

    from tamis.cli.output.console import output_console

    output_console().print(_option_table(found) if arguments.options else _engine_table(found))
    return Exit.MATCHED


def _record(engine: tamis.EngineInfo) -> dict[str, object]:
    record = asdict(engine)
    record["options"] = record.pop("option_infos")
    return record


def _engine_table(found: list[tamis.EngineInfo]) -> Table:
    from rich.table import Table

    from tamis.cli.output.console import plain

    table = Table(title="engines", title_justify="left", title_style="bold")
    table.add_column("family")
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("description")
    table.add_column("takes")
    for family, members in groupby(found, key=lambda engine: engine.family):
        table.add_section()
        for engine in members:
            description = engine.description if engine.exact else f"{engine.description}; may return too many"
            table.add_row(family, plain(engine.name), plain(description), plain(engine.takes))
    return table


def _option_table(found: list[tamis.EngineInfo]) -> Table:
    from rich.table import Table

    from tamis.cli.output.console import plain

    table = Table(title="engine options", title_justify="left", title_style="bold")
    table.add_column("engine", style="bold", no_wrap=True)
    table.add_column("option", no_wrap=True)
    table.add_column("default")
    table.add_column("accepts")
    table.add_column("meaning")
    for engine in found:
        table.add_section()
        for option in engine.option_infos:
            default = json.dumps(option.default)
            texts = (engine.name, option.name, default, option.accepts, option.description)
            table.add_row(*(plain(text) for text in texts))
    return table
