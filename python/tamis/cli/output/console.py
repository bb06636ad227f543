"""The rich console that commands print with, and text for it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from tamis import Explanation

_WIDTH_IN_A_PIPE = 100
_TRUTH_STYLES = {"TRUE": "bold green", "FALSE": "bold red", "UNKNOWN": "bold yellow"}


def output_console() -> Console:
    """Return a console for stdout; in a pipe it prints plain text of a fixed width."""
    from rich.console import Console

    class OutputConsole(Console):
        """Leaves a closed pipe to the command; rich would exit with the code of "no match"."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    free_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return OutputConsole(
        file=sys.stdout,
        width=None if free_width else _WIDTH_IN_A_PIPE,
        highlight=False,
        markup=False,
        emoji=False,
    )


def printable(text: str) -> str:
    r"""Replace control characters, which would move a terminal's cursor or change its colors.

    >>> printable("ad-1\x1b[31m")
    'ad-1�[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def plain(value: object, style: str = "") -> Text:
    """Return text that a console prints unchanged, without markup."""
    from rich.text import Text

    return Text(printable(str(value)), style=style)


def explanation_tree(node: Explanation) -> Tree:
    """Return an explanation as a tree, with a color per truth value."""
    from rich.tree import Tree

    tree = Tree(_explanation_line(node), guide_style="dim")
    for child in node.children:
        tree.add(explanation_tree(child))
    return tree


def _explanation_line(node: Explanation) -> Text:
    """Return the line of one node: its truth, its text, and for a predicate the event's value."""
    from rich.text import Text

    line = Text(f"{node.truth:<8}")
    line.stylize(_TRUTH_STYLES[node.truth])
    line.append(printable(node.text))
    if node.value is not None:
        line.append(printable(f"   ({node.value})"), "cyan")
    return line
