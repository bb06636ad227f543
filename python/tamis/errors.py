"""Every exception tamis raises, in one tree.

Each carries its message and, as attributes, the place it speaks of. They pickle, so they cross process
borders unharmed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class TamisError(Exception):
    """The root of the tree."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle through the attributes: constructors take them by keyword."""
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[TamisError], args: tuple[Any, ...], details: dict[str, Any]) -> TamisError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(details)
    return error


class ParseError(TamisError, ValueError):
    """A text that is no expression, or an expression past a limit.

    Attributes:
        line: Line of the place, from 1; None if the expression was built in code.
        column: Column of the place in characters, from 1.
        found: What stands there.
        expected: What would be accepted.
        row: Position in the batch, from 0; None outside a batch.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        found: str | None = None,
        expected: str | None = None,
        row: int | None = None,
    ) -> None:
        """Make the error; the message already shows the place with a caret."""
        super().__init__(message)
        self.line, self.column, self.found, self.expected, self.row = line, column, found, expected, row


class DuplicateId(TamisError, ValueError):
    """An id that the index already holds, or that a batch holds twice."""

    def __init__(self, message: str, *, id: str | int | None = None, row: int | None = None) -> None:
        """Make the error for one id and, in a batch, its row."""
        super().__init__(message)
        self.id, self.row = id, row


class UnknownId(TamisError, KeyError):
    """An id that the index does not hold."""

    def __init__(self, message: str, *, id: str | int | None = None, row: int | None = None) -> None:
        """Make the error for one id and, in a batch, its row."""
        super().__init__(message)
        self.id, self.row = id, row

    def __str__(self) -> str:
        """Give the message itself; KeyError would quote it."""
        return str(self.args[0])


class InvalidId(TamisError, TypeError):
    """An id that is neither a str nor an int of 64 bits."""

    def __init__(self, message: str, *, row: int | None = None) -> None:
        """Make the error and, in a batch, name its row."""
        super().__init__(message)
        self.row = row


class EventError(TamisError, ValueError):
    """An event that is no mapping or JSON object, or has a value without meaning."""

    def __init__(self, message: str, *, attribute: str | None = None, row: int | None = None) -> None:
        """Make the error for an attribute, if one is to blame, and a row, if there are several."""
        super().__init__(message)
        self.attribute, self.row = attribute, row


class TooComplex(TamisError, ValueError):
    """An expression that the engine would store as more conjunctions, leaves or nodes than it takes."""

    def __init__(self, message: str, *, row: int | None = None) -> None:
        """Make the error and, in a batch, name its row."""
        super().__init__(message)
        self.row = row


class OptionError(TamisError, ValueError):
    """An unknown engine, option or setting, or something that the engine cannot do."""


class FileError(TamisError):
    """A file that cannot be read or written, or that is no index."""

    def __init__(self, message: str, *, path: str | Path | None = None) -> None:
        """Make the error for one file."""
        super().__init__(message)
        self.path = None if path is None else Path(path)


class PublishConflict(FileError):
    """Another version of a stored index became current meanwhile. Nothing was published; do the work again.

    Attributes:
        version: The version that was to be published.
        expected: The version that it was to replace.
        current: The version that is current instead; None if none is.
    """

    def __init__(
        self,
        message: str,
        *,
        version: str | None = None,
        expected: str | None = None,
        current: str | None = None,
        path: str | Path | None = None,
    ) -> None:
        """Make the error for one version."""
        super().__init__(message, path=path)
        self.version, self.expected, self.current = version, expected, current


class ClosedIndex(TamisError, ValueError):
    """A call of an index after its `Index.close`."""


class InternalError(TamisError):
    """A broken invariant: a fault in tamis itself."""


class NeverMatchesWarning(UserWarning):
    """An expression was added that no event can satisfy, such as ``a > 3 and a < 1``."""
