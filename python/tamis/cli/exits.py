"""Exit codes of the commands, and the error that ends a command with a message."""

from __future__ import annotations

from enum import IntEnum

HELP = """exit codes:
  0    at least one match
  1    no match (as grep does)
  2    wrong arguments, or a bad rule or event; stderr has the location and the reason
  70   tamis failed: not enough memory, or a fault in tamis; stderr has the reason
  130  interrupted with Ctrl-C
  141  the output was closed, as by `head`
"""


class Exit(IntEnum):
    """The exit codes of all commands."""

    MATCHED = 0
    NOTHING_MATCHED = 1
    WRONG_INPUT = 2
    FAILED = 70
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141


class CommandError(Exception):
    """Ends a command with ``Exit.WRONG_INPUT``; its message is printed unchanged."""
