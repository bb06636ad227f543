"""The command line: ``tamis match``, ``explain``, ``engines``, ``draw``, ``tour``, ``demo`` and ``spark``.

One module per subcommand. Each has ``add_parser``, which describes its arguments, and ``run``,
which does the work and returns the exit code. Heavy imports (pyarrow, rich) happen where they
are used, so that ``tamis --help`` answers at once.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tamis.cli import demo, draw, engines, explain, match, pipeline, tour
from tamis.cli.exits import CommandError, Exit
from tamis.errors import TamisError
from tamis.files import InputError

_EXAMPLES = """examples:
  tamis tour                                    see what it does, with no files of your own
  tamis match rules.txt events.jsonl            which rules does each event match?
  tamis explain rules.txt events.jsonl --id 3   why does rule 3 match the first event, or not?
  tail -f app.jsonl | tamis match rules.txt -   match a stream as it comes
  tamis draw rules.txt --output rules.svg       how do the rules hang together?

`tamis COMMAND --help` has more about each command.
"""


class _ShowVersion(argparse.Action):
    """Look the version up only when it is asked for: reading package metadata takes time."""

    def __call__(self, parser: argparse.ArgumentParser, *_args: Any, **_kwargs: Any) -> None:
        from importlib.metadata import version

        print(f"tamis {version('tamis')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tamis",
        description="Find out which of many Boolean expressions an event satisfies.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version and leave")
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
    """Run the chosen subcommand, and turn whatever ends it early into a message and an exit code."""
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
    """Point stdout at nothing, or Python complains when it flushes stdout at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_all_characters() -> None:
    """Escape what a terminal or pipe with an old encoding cannot show, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
