"""Cells of a table as attributes and values of the language."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any


def attributes(name: str, cell: Any) -> Iterator[tuple[str, Any]]:
    """Give what a cell holds: nothing if it is missing, several attributes by dotted path if it is nested.

    >>> list(attributes("size", {"width": 3, "height": None}))
    [('size.width', 3)]
    """
    if is_missing(cell):
        return
    if isinstance(cell, dict):
        entries = cell.items()
    elif isinstance(cell, list) and cell and isinstance(cell[0], tuple):
        # So Arrow gives a map.
        entries = dict(cell).items()
    else:
        yield name, plain(cell)
        return
    for key, inner in entries:
        yield from attributes(f"{name}.{key}", inner)


def plain(value: Any) -> Any:
    """Turn a decimal, alone or in a list, into the number that an event would hold."""
    if isinstance(value, list):
        return [plain(element) for element in value if not is_missing(element)]
    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and -(2**63) <= value < 2**63
        return int(value) if whole else float(value)
    return value


def is_missing(value: Any) -> bool:
    """Tell whether a cell holds nothing: null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))
