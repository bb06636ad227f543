"""Rules that fail by one predicate."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.results.matches import Id


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A rule that does not match, but would if one of its predicates were TRUE.

    Attributes:
        id: The rule's id.
        predicates: The predicates of which any single one would be enough, as text.
    """

    id: Id
    predicates: list[str]
