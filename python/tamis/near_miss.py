"""Expressions that failed by one predicate."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.matches import Id


@dataclass(frozen=True, slots=True)
class NearMiss:
    """An expression that does not match, but would if one of its predicates were TRUE.

    Attributes:
        id: The expression's id.
        predicates: The predicates of which one is enough, as text.
    """

    id: Id
    predicates: list[str]
