"""The command line: ``tamis match``, ``explain``, ``engines``, ``draw``, ``tour``, ``demo`` and ``spark``.

One module per command: ``add_parser`` defines its arguments, and ``run`` executes it and returns the exit
code. Heavy packages (pyarrow, rich) are imported where they are used, so that ``tamis --help`` is fast.

| folder | contents |
| --- | --- |
| `commands/` | the commands that need no Spark |
| `pipeline/`, `demo/` | ``tamis spark`` and ``tamis demo`` |
| `input/`, `output/` | loading rules; printing results |

`guard` runs a command so that every way to end has its exit code.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tamis.cli import demo, pipeline
from tamis.cli.commands import draw, engines, explain, match, tour
from tamis.cli.guard import guarded

_EXAMPLES = """examples:
  tamis tour                                    a tour on built-in data, without files of your own
  tamis match rules.txt events.jsonl            which rules does each event match?
  tamis explain rules.txt events.jsonl --id 3   why does rule 3 match the first event, or not?
  tail -f app.jsonl | tamis match rules.txt -   match events from a pipe as they arrive
  tamis draw rules.txt --output rules.svg       draw the structure that an engine builds

`tamis COMMAND --help` describes each command.
"""


class _ShowVersion(argparse.Action):
    """Reads the version only for ``--version``: reading package metadata takes time."""

    def __call__(self, parser: argparse.ArgumentParser, *_args: Any, **_kwargs: Any) -> None:
        from importlib.metadata import version

        print(f"tamis {version('tamis')}")
        parser.exit()


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tamis",
        description="Find the rules, out of millions of Boolean expressions, that an event matches.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (match, explain, engines, draw, tour, demo, pipeline):
        command.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    >>> from tamis.cli import main
    >>> main(["match", "no-such-rules.txt", "no-such-events.jsonl"])
    2
    """
    return int(guarded(lambda: _run(argv)))


def _run(argv: Sequence[str] | None) -> int:
    """Parse the command line, and run the chosen command."""
    _print_all_characters()
    arguments = command_parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    return run(arguments)


def _print_all_characters() -> None:
    """Escape characters that the encoding of the terminal or pipe cannot represent, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
