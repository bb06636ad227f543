"""One rule of a rules file, and what a reader does about a record that is no rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tamis.files.errors import InputError

Report = Callable[[InputError], None]
"""What a reader calls for each bad record: raise to stop, return to go on without the record."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One expression of a rules file, not parsed yet.

    ``line`` is the line where the rule stands (the row, in Parquet), from 1. ``column`` is the
    column where the expression's text starts in that line, from 1, or None when the file stores
    the text quoted or escaped, so that a column of the text is no column of the file.
    """

    id: str | int
    text: str
    line: int
    column: int | None = None


def stop_at_first(error: InputError) -> None:
    """Report a bad record by raising it."""
    raise error


_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def ids_from_text(texts: list[str]) -> Sequence[str | int]:
    """Give ids read from text the type they were meant to have.

    They are integers when every one of them is written as an integer is; one that is not, like
    a leading zero that would get lost, makes all of them strings.

    >>> ids_from_text(["17", "4"])
    [17, 4]
    >>> ids_from_text(["17", "04"])
    ['17', '04']
    """
    if not all(_WHOLE_NUMBER.fullmatch(text) for text in texts):
        return texts
    numbers = [int(text) for text in texts]
    if all(_SMALLEST <= number <= _LARGEST for number in numbers):
        return numbers
    return texts
