"""The error of a reader: what is wrong, and where in the file."""

from __future__ import annotations

from tamis.errors import TamisError


class InputError(TamisError):
    """A file, or one record of it, that cannot be read.

    >>> error = InputError("rules.tsv:3", "expected id<TAB>expression, found no tab")
    >>> str(error)
    'rules.tsv:3: expected id<TAB>expression, found no tab'

    ``row`` is the record's place (from 0) in the chunk it came with, or None when the error
    concerns the whole file; a caller that skips bad records needs it to know where to go on.
    """

    def __init__(self, place: str, message: str, row: int | None = None) -> None:
        super().__init__(place, message, row)
        self.place = place
        self.message = message
        self.row = row

    def __str__(self) -> str:
        """Give ``place: message``, the form that editors turn into a link."""
        return f"{self.place}: {self.message}"
