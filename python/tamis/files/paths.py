"""Dotted paths into events."""

from __future__ import annotations

from collections.abc import Mapping


def value_at(event: Mapping[str, object], path: str) -> object:
    """Find the value at a dotted path, which a key may hold whole or in parts; None if none does.

    >>> value_at({"user": {"id": 7}}, "user.id")
    7
    >>> value_at({"user.id": 7}, "user.id")
    7
    """
    if path in event:
        return event[path]
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        inner = event.get(".".join(parts[:length]))
        if isinstance(inner, Mapping):
            found = value_at(inner, ".".join(parts[length:]))
            if found is not None:
                return found
    return None
