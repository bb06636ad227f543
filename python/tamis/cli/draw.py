"""``tamis draw``: what does the index of some rules look like?"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import tamis
from tamis.cli.arguments import RULES_FORMATS, add_command, add_rules, at_least_one
from tamis.cli.exits import CommandError, Exit
from tamis.cli.loading import fill, read_file, stop

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands

# Nobody can read a drawing of more.
_LIMIT = 200
_TEXTS = (".dot", ".gv")
_PICTURES = (".svg", ".png", ".pdf")

_DESCRIPTION = """Draw the structure that an engine builds of the rules: predicates in boxes at the bottom,
AND and OR in ellipses above them, each once however many rules share it. Arrows lead the way of
matching; those that are not followed are dashed. A thick border marks the whole expression of a
rule, and the rule's id stands there.

The drawing is text in DOT, the language of Graphviz (https://graphviz.org). With --output x.svg,
.png or .pdf it becomes a picture, if Graphviz is installed."""

_EXAMPLES = """examples:
  tamis draw rules.txt                        print DOT
  tamis draw rules.txt --output rules.svg     draw it with Graphviz
  tamis draw ads.tsv --limit 500 > ads.dot    more rules than are good for a drawing
"""

_EXIT_CODES = """exit codes:
  0    drawn
  2    the command line or a rule is wrong, or Graphviz is needed and missing; stderr says what
"""


def add_parser(commands: Commands) -> None:
    """Describe the subcommand."""
    epilog = "\n".join([RULES_FORMATS, _EXIT_CODES, _EXAMPLES])
    summary = "draw the structure that an engine builds of rules"
    parser = add_command(commands, "draw", summary, _DESCRIPTION, epilog)
    add_rules(parser)
    parser.add_argument(
        "--engine",
        default="a_tree",
        help="an engine that can be drawn; see `tamis engines` (default: a_tree)",
    )
    parser.add_argument(
        "--output",
        type=_output,
        metavar="FILE",
        help=f"write a file: {', '.join(_TEXTS)} is text, {', '.join(_PICTURES)} a picture",
    )
    parser.add_argument(
        "--limit",
        type=at_least_one,
        default=_LIMIT,
        metavar="N",
        help=f"draw up to N rules; more are refused (default: {_LIMIT})",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Draw the rules."""
    output: Path | None = arguments.output
    # Looked for before the work, so that it is not in vain.
    graphviz = _find_graphviz(output) if output and output.suffix.lower() in _PICTURES else None
    dot = _draw(arguments)
    if output is None:
        print(dot, end="")
    elif graphviz is None:
        output.write_text(dot, encoding="utf-8")
    else:
        output.write_bytes(_picture(graphviz, dot, output))
    return Exit.MATCHED


def _output(text: str) -> Path:
    """Read the name of the file to write, for argparse."""
    path = Path(text)
    if path.suffix.lower() not in (*_TEXTS, *_PICTURES):
        endings = ", ".join((*_TEXTS, *_PICTURES))
        raise argparse.ArgumentTypeError(f"expected a name that ends in one of {endings}, found {text!r}")
    return path


def _draw(arguments: argparse.Namespace) -> str:
    """Read the rules and draw them as DOT."""
    index = tamis.Index(engine=arguments.engine, missing=arguments.missing)
    file = read_file(arguments, stop)
    count, limit = len(file.rules), arguments.limit
    if count > limit:
        raise CommandError(
            f"{file.path}: error: {count} rules are too many for a drawing; "
            f"up to {limit} are drawn, or more with --limit {count}"
        )
    fill(index, file, stop, progress=False)
    return index.to_dot()


def _find_graphviz(output: Path) -> str:
    found = shutil.which("dot")
    if found is None:
        text = output.with_suffix(".dot")
        raise CommandError(
            f"{output}: error: a picture needs Graphviz, whose command `dot` was not found; "
            f"install it (https://graphviz.org/download), or write {text}, which is text"
        )
    return found


def _picture(graphviz: str, dot: str, output: Path) -> bytes:
    """Let Graphviz draw, in the form that the file's name asks for."""
    form = output.suffix.lower().removeprefix(".")
    done = subprocess.run([graphviz, f"-T{form}"], input=dot.encode(), capture_output=True)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise CommandError(f"{output}: error: Graphviz failed with exit code {done.returncode}: {said}")
    return done.stdout
