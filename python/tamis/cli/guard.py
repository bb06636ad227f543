"""Runs a command so that every way to end has its exit code.

A shell script tells a run without a match from a run that failed by the exit code alone. So a crash must
never end with the code of "no match", which is what Python uses for uncaught exceptions. Everything is caught
here: closed streams, a full disk, interrupts, too little memory, and faults of tamis.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import TextIO

from tamis import InternalError, TamisError
from tamis.cli.exits import CommandError, Exit
from tamis.files import InputError

_RESULTS = (Exit.MATCHED, Exit.NOTHING_MATCHED)


def guarded(command: Callable[[], int]) -> int:
    """Run a command, print what went wrong, and return the exit code."""
    if not _streams_are_open():
        complain("tamis: error: standard output is closed; redirect it to a file, or to the null device")
        return Exit.WRONG_INPUT
    return _flushed(_ended(command))


def complain(message: object) -> None:
    """Print a message to stderr, if anybody reads it."""
    try:
        print(message, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _discard(sys.stderr)


def _ended(command: Callable[[], int]) -> int:
    try:
        return int(command())
    except BrokenPipeError:
        return Exit.OUTPUT_CLOSED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except SystemExit as ended:  # argparse has printed help, a version or a usage error
        return Exit(ended.code) if ended.code in (Exit.MATCHED, Exit.WRONG_INPUT) else Exit.FAILED
    except CommandError as error:
        complain(error)
        return Exit.WRONG_INPUT
    except InputError as error:
        complain(f"{error.place}: error: {error.message}")
        return Exit.WRONG_INPUT
    except MemoryError:
        complain("tamis: error: not enough memory; match fewer rules or events at a time")
        return Exit.FAILED
    except (TamisError, OSError) as error:
        if not isinstance(error, InternalError):
            complain(f"tamis: error: {error}")
            return Exit.WRONG_INPUT
        return _crashed(error)
    except BaseException as error:  # a panic of the native module is no Exception
        return _crashed(error)


def _crashed(error: BaseException) -> int:
    complain("".join(traceback.format_exception(error)).rstrip())
    complain(f"tamis: error: this is a fault in tamis, please report it: {type(error).__name__}: {error}")
    return Exit.FAILED


def _flushed(code: int) -> int:
    """Flush stdout here: Python would do it at exit, and end with a code of its own if that fails."""
    try:
        sys.stdout.flush()
        return code
    except (OSError, ValueError) as error:
        _discard(sys.stdout)
        if code not in _RESULTS:
            return code
        if isinstance(error, BrokenPipeError):
            return Exit.OUTPUT_CLOSED
        complain(f"tamis: error: standard output cannot be written: {error}")
        return Exit.WRONG_INPUT


def _discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that what it holds is dropped at exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        return


def _streams_are_open() -> bool:
    """Return whether there is a stdout; give stdin and stderr the null device if they are closed.

    The next file to be opened would get the number of a closed stream, and what is printed would go to that
    file.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    is_open = sys.stdout is not None
    if not is_open:
        os.open(os.devnull, os.O_WRONLY)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    return is_open
