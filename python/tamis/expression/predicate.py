"""What an expression is made of: predicates."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Quantifier: TypeAlias = Literal["any", "all"]
Kind: TypeAlias = Literal["number", "text", "bool", "time", "mixed", "presence"]

_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
_FIRST_MOMENT = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate of an expression, as it is written there.

    A NOT inside the predicate belongs to the operator, as in ``NOT IN``; NOTs around it do not, and `negated`
    tells of them.

    Attributes:
        text: Its canonical text, the weight aside.
        attribute: What it asks about.
        quantifier: ``"any"`` or ``"all"`` if it asks about elements of a list.
        operator: ``"="``, ``"NOT IN"``, ``"startswith"`` and so on; ``"TRUE"`` for an attribute by itself.
        values: What it compares with, from left to right: two for BETWEEN, none for IS NULL. Patterns and
            networks are texts, times have no time zone and are in UTC. A time that Python cannot hold,
            before year 1, is the text of the literal.
        kind: The kind of values it can hold for; ``"mixed"`` if it compares with several kinds,
            ``"presence"`` for IS NULL and IS NOT NULL.
        negated: Whether an odd number of NOTs stands around it.
        weight: What it counts in scores.
    """

    text: str
    attribute: str
    quantifier: Quantifier | None
    operator: str
    values: tuple[bool | int | float | str | datetime.date | datetime.datetime, ...]
    kind: Kind
    negated: bool
    weight: float

    @classmethod
    def from_native(cls, parts: Any) -> Predicate:
        """Make it of what the core tells."""
        text, attribute, quantifier, operator, literals, kind, negated, weight = parts
        values = tuple(_value(*literal) for literal in literals)
        return cls(text, attribute, quantifier, operator, values, kind, negated, weight)

    def __str__(self) -> str:
        """Give the text."""
        return self.text


def _value(kind: str, value: Any, text: str) -> Any:
    try:
        if kind == "date":
            return datetime.date.fromordinal(_FIRST_DAY + value)
        if kind == "timestamp":
            return _FIRST_MOMENT + datetime.timedelta(microseconds=value)
    except (OverflowError, ValueError):
        return text
    return value
