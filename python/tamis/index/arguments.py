"""Checks and conversions of arguments that several methods of `Index` share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from tamis import _native
from tamis.expression import Expression
from tamis.index.groups import Groups

Weights: TypeAlias = Mapping[str, float]
OnError: TypeAlias = Literal["raise", "skip", "null"]


def source(expression: str | Expression) -> Any:
    """Give an expression as the core takes it; the core refuses other types by name."""
    return expression._native if isinstance(expression, Expression) else expression


def is_arrow(data: object) -> bool:
    """Tell whether an object exports Arrow data through the PyCapsule protocol."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def thread_count(threads: int | None) -> int | None:
    """Check a number of threads.

    Raises:
        ValueError: It is less than 1.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}, must be at least 1")
    return threads


def is_strict(on_error: OnError) -> bool:
    """Tell whether an event that cannot be read is an error.

    Raises:
        ValueError: It is none of the three words.
    """
    if on_error not in ("raise", "skip", "null"):
        raise ValueError(f"on_error is {on_error!r}; known are 'raise', 'skip' and 'null'")
    return on_error == "raise"


def match_count(
    k: int, group_by: Groups | None = None, per_group: int = 1
) -> tuple[int, _native.NativeGroups | None, int]:
    """Check how many matches are wanted, and give it as the core takes it.

    Raises:
        ValueError: `k` is negative, or `per_group` less than 1.
        TypeError: `group_by` is something other than groups.
    """
    if k < 0:
        raise ValueError(f"k is {k}, must not be negative")
    if per_group < 1:
        raise ValueError(f"per_group is {per_group}, must be at least 1")
    if not (group_by is None or isinstance(group_by, Groups)):
        raise TypeError(
            f"group_by is a tamis.Groups, not {type(group_by).__name__}: make one of the mapping, once"
        )
    return k, None if group_by is None else group_by._native, per_group


def event_weights(
    weights: Weights | Iterable[Weights | None] | None,
) -> dict[str, float] | list[dict[str, float]]:
    """Give weights as the core takes them: a dict for all events, or a list with one per event.

    Raises:
        TypeError: An element is neither a mapping nor None.
    """
    if weights is None or isinstance(weights, Mapping):
        return dict(weights or {})
    each = []
    for row, given in enumerate(weights):
        if not (given is None or isinstance(given, Mapping)):
            raise TypeError(f"row {row}: weights are a mapping or None, not {given!r}")
        each.append(dict(given or {}))
    return each
