"""The rich consoles that the subcommands print with, and how values look on them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from tamis.results import Explanation

_WIDTH_IN_A_PIPE = 100
_TRUTH_STYLES = {"TRUE": "bold green", "FALSE": "bold red", "UNKNOWN": "bold yellow"}


def output_console() -> Console:
    """Make the console for stdout; in a pipe it is plain text of a fixed width."""
    from rich.console import Console

    free_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(
        file=sys.stdout,
        width=None if free_width else _WIDTH_IN_A_PIPE,
        highlight=False,
        markup=False,
        emoji=False,
    )


def printable(text: str) -> str:
    r"""Replace what would move a terminal's cursor or change its colours.

    >>> printable("ad-1\x1b[31m")
    'ad-1�[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def plain(value: object, style: str = "") -> Text:
    """Make text for a console that is printed as it is: nothing in it is markup."""
    from rich.text import Text

    return Text(printable(str(value)), style=style)


def explanation_tree(node: Explanation) -> Tree:
    """Draw an explanation as a tree, with a colour for each truth."""
    from rich.tree import Tree

    tree = Tree(_explanation_line(node), guide_style="dim")
    for child in node.children:
        tree.add(explanation_tree(child))
    return tree


def _explanation_line(node: Explanation) -> Text:
    """Show one node: its truth, its text, and for a predicate the event's value."""
    from rich.text import Text

    line = Text(f"{node.truth:<8}")
    line.stylize(_TRUTH_STYLES[node.truth])
    line.append(printable(node.text))
    if node.value is not None:
        line.append(printable(f"   ({node.value})"), "cyan")
    return line
