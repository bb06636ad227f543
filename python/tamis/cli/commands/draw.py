"""``tamis draw``: draws the structure that an engine builds from rules."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import tamis
from tamis.cli.arguments import RULES_FORMATS, add_command, add_rules, at_least_one
from tamis.cli.exits import CommandError, Exit
from tamis.cli.input.rules import add_to_index, read_rules_file, stop
from tamis.files.overlap import refuse_output_stream, refuse_overlap

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands

# Larger drawings are unreadable.
_LIMIT = 200
_TEXTS = (".dot", ".gv")
_PICTURES = (".svg", ".png", ".pdf")

_DESCRIPTION = """Draw the structure that an engine builds from the rules: predicates are boxes at the
bottom, AND and OR ellipses above them. Subexpressions that rules share are drawn once. Arrows
show the direction of matching; dashed arrows are not followed. A thick border and the rule's id
mark the root of a rule.

The drawing is text in DOT, the language of Graphviz (https://graphviz.org). With --output x.svg,
.png or .pdf Graphviz, if installed, makes a picture of it."""

_EXAMPLES = """examples:
  tamis draw rules.txt                        print DOT
  tamis draw rules.txt --output rules.svg     draw it with Graphviz
  tamis draw ads.tsv --limit 500 > ads.dot    draw more than 200 rules
"""

_EXIT_CODES = """exit codes:
  0    done
  2    wrong arguments, a bad rule, or Graphviz is missing; stderr has the reason
  70   tamis failed: not enough memory, or a fault in tamis; stderr has the reason
"""


def add_parser(commands: Commands) -> None:
    """Add the command."""
    epilog = "\n".join([RULES_FORMATS, _EXIT_CODES, _EXAMPLES])
    summary = "draw the structure that an engine builds from rules"
    parser = add_command(commands, "draw", summary, _DESCRIPTION, epilog)
    add_rules(parser)
    parser.add_argument(
        "--engine",
        default="a_tree",
        help="an engine that has a drawing; see `tamis engines` (default: a_tree)",
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
        help=f"the maximum number of rules (default: {_LIMIT})",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Draw the rules."""
    output: Path | None = arguments.output
    if output is None:
        refuse_output_stream(sys.stdout, [arguments.rules])
    else:
        refuse_overlap(output, [], [arguments.rules])
    # Before the work, which would be wasted without Graphviz.
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
    """Parse the name of the output file, for argparse."""
    path = Path(text)
    if path.suffix.lower() not in (*_TEXTS, *_PICTURES):
        endings = ", ".join((*_TEXTS, *_PICTURES))
        raise argparse.ArgumentTypeError(f"expected a name that ends in one of {endings}, found {text!r}")
    return path


def _draw(arguments: argparse.Namespace) -> str:
    """Read the rules and return their drawing as DOT."""
    index = tamis.Index(engine=arguments.engine, missing=arguments.missing)
    file = read_rules_file(arguments, stop)
    count, limit = len(file.rules), arguments.limit
    if count > limit:
        raise CommandError(
            f"{file.path}: error: {count} rules are too many for a drawing; "
            f"up to {limit} are drawn, or more with --limit {count}"
        )
    add_to_index(index, file, stop, progress=False)
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
    """Convert DOT with Graphviz, to the format of the file's suffix."""
    format = output.suffix.lower().removeprefix(".")
    done = subprocess.run([graphviz, f"-T{format}"], input=dot.encode(), capture_output=True)
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip()
        raise CommandError(f"{output}: error: Graphviz failed with exit code {done.returncode}: {reason}")
    return done.stdout
