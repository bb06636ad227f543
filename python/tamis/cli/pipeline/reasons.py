"""What went wrong, in a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tamis.cli.exits import CommandError
from tamis.errors import TamisError


@contextmanager
def short_errors() -> Iterator[None]:
    """Turn what Spark and wrong arguments raise into errors of one line; errors of tamis are short already.

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
        raise CommandError(f"tamis: error: {reason_of(str(error))}") from error


def reason_of(message: str) -> str:
    r"""Give the line of a message of Spark that says what is wrong.

    What a worker raised is the last line of a traceback; otherwise it is the first line.

    >>> reason_of("[PATH_NOT_FOUND] Path does not exist: x. SQLSTATE: 42K03\nmore")
    '[PATH_NOT_FOUND] Path does not exist: x. SQLSTATE: 42K03'
    >>> reason_of(
    ...     'oh\nTraceback (most recent call last):\n  File "x"\ntamis.errors.EventError: event 3: bad\n'
    ... )
    'event 3: bad'
    """
    raised = re.findall(r"^(?:tamis\.errors\.\w+|\w+Error): (.+)$", message, re.MULTILINE)
    if raised and "Traceback" in message:
        return str(raised[-1])
    return next((line.strip() for line in message.splitlines() if line.strip()), "Spark failed")
