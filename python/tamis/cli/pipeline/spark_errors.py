"""Shortens errors of Spark to one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tamis import TamisError
from tamis.cli.exits import CommandError


@contextmanager
def short_errors() -> Iterator[None]:
    """Turn errors of Spark and of arguments into messages of one line; errors of tamis pass unchanged.

    Raises:
        CommandError: There was such an error.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except TamisError:
        raise
    except (ValueError, TypeError) as error:
        raise CommandError(f"tamis: error: {error}") from error
    except PySparkException as error:
        raise CommandError(f"tamis: error: {error_line(str(error))}") from error


def error_line(message: str) -> str:
    r"""Return the line of a message of Spark that has the reason.

    With a traceback of a worker it is the line of the exception, otherwise the first line.

    >>> error_line("[PATH_NOT_FOUND] Path does not exist: x. SQLSTATE: 42K03\nmore")
    '[PATH_NOT_FOUND] Path does not exist: x. SQLSTATE: 42K03'
    >>> error_line(
    ...     'oh\nTraceback (most recent call last):\n  File "x"\ntamis.errors.EventError: event 3: bad\n'
    ... )
    'event 3: bad'
    """
    raised = re.findall(r"^(?:tamis\.errors\.\w+|\w+Error): (.+)$", message, re.MULTILINE)
    if raised and "Traceback" in message:
        return str(raised[-1])
    return next((line.strip() for line in message.splitlines() if line.strip()), "Spark failed")
