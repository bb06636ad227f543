"""An event that could not be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BadEvent:
    """An event that could not be read, with the reason.

    Attributes:
        event: Its number, from 0.
        attribute: The attribute with the value that has no meaning; None if the event as a whole has none.
        reason: What is wrong.
    """

    event: int
    attribute: str | None
    reason: str
