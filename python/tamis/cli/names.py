"""What events are called in the output: their numbers, or the value of a field."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tamis.files import EventChunk, InputError

Name: TypeAlias = str | int | float
Naming: TypeAlias = Callable[[EventChunk], Sequence[Name]]


def by_number(chunk: EventChunk) -> Sequence[Name]:
    """Call events by their numbers."""
    return chunk.numbers


def by_field(field: str) -> Naming:
    """Call events by the value of a field, a dotted path; each event must have it."""

    def names(chunk: EventChunk) -> Sequence[Name]:
        return [_name(field, value, chunk.numbers[row], row) for row, value in enumerate(chunk.values(field))]

    return names


def _name(field: str, value: object, number: int, row: int) -> Name:
    if isinstance(value, float) and math.isnan(value):
        value = None  # NaN is a missing value everywhere
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if value is None:
        message = f"the event has no field {field!r}, which --id-field names"
    else:
        message = f"the field {field!r}, which --id-field names, holds no plain value but {value!r}"
    raise InputError(f"event {number}", message, row)
