"""Names of events in the output: their numbers, or the values of a field."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tamis.files import EventChunk, InputError

EventName: TypeAlias = str | int | float
Naming: TypeAlias = Callable[[EventChunk], Sequence[EventName]]


def by_number(chunk: EventChunk) -> Sequence[EventName]:
    """EventName events by their numbers."""
    return chunk.numbers


def by_field(field: str) -> Naming:
    """EventName events by the value of a field, a dotted path; every event must have it."""

    def names(chunk: EventChunk) -> Sequence[EventName]:
        return [
            _event_name(field, value, chunk.numbers[row], row)
            for row, value in enumerate(chunk.values(field))
        ]

    return names


def _event_name(field: str, value: object, number: int, row: int) -> EventName:
    if isinstance(value, float) and math.isnan(value):
        value = None  # NaN is a missing value everywhere
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if value is None:
        message = f"the event has no field {field!r}, which --id-field names"
    else:
        message = f"the field {field!r}, which --id-field names, is not a plain value: {value!r}"
    raise InputError(f"event {number}", message, row)
