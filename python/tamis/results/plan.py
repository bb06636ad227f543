"""How an index finds a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Standing: TypeAlias = Literal["compiled", "recent", "alone", "always", "never"]
Place: TypeAlias = Literal["everywhere", "scan", "pair", "node", "group"]

_STANDING = {
    "compiled": "in a segment of {members:,} rules",
    "recent": "recent: evaluated for every event; the plan is that of a segment of its own",
    "alone": "not in the index; the plan is that of a segment of its own",
    "always": "always TRUE: every event matches",
    "never": "never TRUE: no event matches",
}
_PLACE = {
    "everywhere": "tested for every event",
    "scan": "in a list for one attribute, compared with every event that has it",
    "pair": "in a list for two attributes, compared with every event that has both",
    "node": "in a posting list for its values",
    "group": "in a posting list for its values, grouped by a second attribute",
}


@dataclass(frozen=True, slots=True)
class Alternative:
    """A conjunction through which a rule is found; the rule is TRUE if and only if one of them is.

    Attributes:
        place: The kind of list it is stored in.
        places: The number of such lists.
        met: The predicates that an event satisfies if it reaches the list.
        tests: The residual tests, in order.
        share: The estimated share of events that reach the list.
    """

    place: Place
    places: int
    met: tuple[str, ...]
    tests: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How an index finds a rule; see `Index.explain_plan`.

    Attributes:
        standing: Where the rule is stored.
        members: The number of rules in its segment; None if it is in none.
        alternatives: The conjunctions through which it is found.
    """

    standing: Standing
    members: int | None
    alternatives: tuple[Alternative, ...]

    @classmethod
    def from_native(cls, parts: Any) -> Plan:
        """Build a plan from the tuples of the core."""
        standing, members, alternatives = parts
        built = (
            Alternative(place, places, tuple(met), tuple(tests), share)
            for place, places, met, tests, share in alternatives
        )
        return cls(standing, members, tuple(built))

    def __str__(self) -> str:
        """Print the plan, the list that most events reach first."""
        lines = [_STANDING[self.standing].format(members=self.members)]
        for one in sorted(self.alternatives, key=lambda alternative: -alternative.share):
            times = f", {one.places} times" if one.places > 1 else ""
            lines.append(f"  {one.place}: {_PLACE[one.place]}{times}; about {one.share:.2%} of events")
            lines.extend(f"    met:  {text}" for text in one.met)
            lines.extend(f"    then: {text}" for text in one.tests)
        return "\n".join(lines)
