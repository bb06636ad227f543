"""Python values as literals of the expression language."""

from __future__ import annotations

import datetime
import decimal
import enum
import math
import uuid
from collections.abc import Iterable
from typing import Any, TypeAlias

from tamis.errors import ParseError

Value: TypeAlias = (
    bool | int | float | decimal.Decimal | str | uuid.UUID | enum.Enum | datetime.date | datetime.datetime
)


def attribute_name(name: object) -> str:
    """Check the name of an attribute: a str that is not empty.

    Raises:
        ParseError: It is something else.
    """
    if not isinstance(name, str) or not name:
        raise ParseError(f"the name of an attribute is a str that is not empty, not {name!r}")
    return name


def literal_list(values: Iterable[Value]) -> str:
    """Write several values as literals between commas.

    Raises:
        ParseError: There are none, or one has no literal.
    """
    if isinstance(values, str):
        raise ParseError(f"a list of values is needed, not one str; write [{values!r}]")
    literals = [literal(value) for value in values]
    if not literals:
        raise ParseError("a list of values must not be empty: nothing is in it, and NOT IN it says nothing")
    return ", ".join(literals)


def literal(value: Any) -> str:
    """Write a Python value as a literal.

    Raises:
        ParseError: The value has no literal.

    >>> literal("it's"), literal(datetime.date(2026, 11, 15)), literal(True)
    ("'it''s'", "DATE '2026-11-15'", 'TRUE')
    """
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        # Python refuses to write very long integers, with an error that is not ours.
        if not -(2**63) <= value < 2**63:
            raise ParseError("an integer literal has at most 64 bits; write a float such as 1e20 for more")
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            hint = "NaN is a missing value, write is_null(); infinity has no text"
            raise ParseError(f"{value} is no literal: {hint}")
        return repr(float(value))
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{_utc(value).isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, uuid.UUID):
        return literal(str(value))
    if isinstance(value, enum.Enum):
        return literal(value.value)
    if value is None:
        raise ParseError("None is no literal: write is_null() or is_not_null()")
    # A scalar of numpy. A datetime64 is none of these: its item() is a bare number for some units.
    if getattr(getattr(value, "dtype", None), "kind", None) in ("b", "i", "u", "f") and value.shape == ():
        return literal(value.item())
    raise ParseError(
        f"a literal is a bool, int, float, Decimal, str, UUID, date or datetime, not {type(value).__name__}"
    )


# More digits before the point do not fit 64 bits; `int` of a large exponent would take as many.
_TOO_LONG = 20


def _decimal(value: decimal.Decimal) -> str:
    """Write a decimal as the integer that it is, or as the nearest float."""
    if value.is_finite() and value.adjusted() < _TOO_LONG and -(2**63) <= int(value) == value < 2**63:
        return str(int(value))
    return literal(float(value))


def _utc(value: datetime.datetime) -> datetime.datetime:
    """Give the time in UTC without its zone; naive times are UTC already."""
    # A zone that gives no offset leaves the time naive.
    aware = value.utcoffset() is not None
    return (value.astimezone(datetime.UTC) if aware else value).replace(tzinfo=None)
