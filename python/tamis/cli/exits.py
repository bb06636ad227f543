"""How a command ends: exit codes a script can use, and the error that ends one early."""

from __future__ import annotations

from enum import IntEnum

HELP = """exit codes:
  0    ran, and something matched
  1    ran, and nothing matched (as grep does)
  2    the command line, a rule or an event is wrong; stderr says what and where
  130  interrupted with Ctrl-C
  141  the reader of the output went away, as `head` does
"""


class Exit(IntEnum):
    """The exit codes of every subcommand."""

    MATCHED = 0
    NOTHING_MATCHED = 1
    WRONG_INPUT = 2
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141


class CommandError(Exception):
    """Ends a command with ``Exit.WRONG_INPUT``; the message is complete as it stands."""
