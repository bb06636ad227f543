"""Converts cells of a table to attributes and values of expressions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any


def attributes(name: str, cell: Any) -> Iterator[tuple[str, Any]]:
    """Return the attributes of a cell: none if it is missing, several with dotted names if it is nested.

    >>> list(attributes("size", {"width": 3, "height": None}))
    [('size.width', 3)]
    """
    if is_missing(cell):
        return
    if isinstance(cell, dict):
        entries = cell.items()
    elif isinstance(cell, list) and cell and isinstance(cell[0], tuple):
        # Arrow returns a map as a list of pairs.
        entries = dict(cell).items()
    else:
        yield name, plain(cell)
        return
    for key, inner in entries:
        yield from attributes(f"{name}.{key}", inner)


def plain(value: Any) -> Any:
    """Convert a decimal, alone or in a list, to the int or float that an event holds."""
    if isinstance(value, list):
        return [plain(element) for element in value if not is_missing(element)]
    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and -(2**63) <= value < 2**63
        return int(value) if whole else float(value)
    return value


def is_missing(value: Any) -> bool:
    """Return whether a cell is null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))
