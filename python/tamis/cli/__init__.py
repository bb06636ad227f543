"""The command line: ``tamis match``, ``explain``, ``engines``, ``draw``, ``tour``, ``demo`` and ``spark``.

One module per command: ``add_parser`` defines its arguments, and ``run`` executes it and returns the exit
code. Heavy packages (pyarrow, rich) are imported where they are used, so that ``tamis --help`` is fast.

| folder | contents |
| --- | --- |
| `commands/` | the commands that need no Spark |
| `pipeline/`, `demo/` | ``tamis spark`` and ``tamis demo`` |
| `input/`, `output/` | loading rules; printing results |
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tamis import TamisError
from tamis.cli import demo, pipeline
from tamis.cli.commands import draw, engines, explain, match, tour
from tamis.cli.exits import CommandError, Exit
from tamis.files import InputError

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


def _parser() -> argparse.ArgumentParser:
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
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as ended:  # argparse has printed help, a version or a usage error
        return ended.code if isinstance(ended.code, int) else Exit.WRONG_INPUT.value
    _print_all_characters()
    return int(_run(arguments))


def _run(arguments: argparse.Namespace) -> int:
    """Run the chosen command, and turn errors into a message and an exit code."""
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        code = run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return Exit.OUTPUT_CLOSED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except CommandError as error:
        print(error, file=sys.stderr)
    except InputError as error:
        print(f"{error.place}: error: {error.message}", file=sys.stderr)
    except (TamisError, OSError) as error:
        print(f"tamis: error: {error}", file=sys.stderr)
    return Exit.WRONG_INPUT


def _drop_output() -> None:
    """Redirect stdout to the null device: Python flushes stdout at exit, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_all_characters() -> None:
    """Escape characters that the encoding of the terminal or pipe cannot represent, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
