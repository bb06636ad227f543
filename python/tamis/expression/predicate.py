"""The predicates of an expression."""

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

    A NOT inside the predicate belongs to the operator, as in ``NOT IN``; NOTs around it are counted in
    `negated`.

    Attributes:
        text: Its canonical text, the weight aside.
        attribute: The attribute that it tests.
        quantifier: ``"any"`` or ``"all"`` if it tests the elements of a list.
        operator: ``"="``, ``"NOT IN"``, ``"startswith"`` and so on; ``"TRUE"`` for an attribute by itself.
        values: The values it compares with, from left to right: two for BETWEEN, none for IS NULL. Patterns
            and networks are texts, times have no time zone and are in UTC. A time that Python cannot hold,
            before year 1, is the text of the literal.
        kind: The kind of values for which it can be TRUE; ``"mixed"`` if it compares with several kinds,
            ``"presence"`` for IS NULL and IS NOT NULL.
        negated: Whether it is under an odd number of NOTs.
        weight: Its weight in scores.
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
        """Build a predicate from the tuple of the core."""
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
