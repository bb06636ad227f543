"""How an index finds an expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Standing: TypeAlias = Literal["compiled", "recent", "alone", "always", "never"]
Place: TypeAlias = Literal["everywhere", "scan", "pair", "node", "group"]

_STANDING = {
    "compiled": "in a segment of {members:,}",
    "recent": "recent: evaluated one by one until it is frozen; by itself it would be found so",
    "alone": "not in the index; by itself it would be found so",
    "always": "always true: every event matches",
    "never": "never true: no event matches",
}
_PLACE = {
    "everywhere": "asked about every event",
    "scan": "compared with all that wait for the same attribute",
    "pair": "compared with all that wait for the same two attributes",
    "node": "listed with its values",
    "group": "listed with its values, with those that go on with the same attribute",
}


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to find an expression: a conjunction, one of which holds whenever the expression does.

    Attributes:
        place: The kind of place where it waits for events.
        places: At how many of them.
        met: The predicates that an event meets by coming there.
        tests: What is tested then, in order.
        share: The estimated share of events that come there.
    """

    place: Place
    places: int
    met: tuple[str, ...]
    tests: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How an index finds an expression; see `Index.explain_plan`.

    Attributes:
        standing: Where the expression stands.
        members: How many share its segment; None if it is in none.
        alternatives: The ways to find it.
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
        """Print the plan, the most likely visited place first."""
        lines = [_STANDING[self.standing].format(members=self.members)]
        for one in sorted(self.alternatives, key=lambda alternative: -alternative.share):
            times = f", {one.places} times" if one.places > 1 else ""
            lines.append(f"  {one.place}: {_PLACE[one.place]}{times}; about {one.share:.2%} of events")
            lines.extend(f"    met:  {text}" for text in one.met)
            lines.extend(f"    then: {text}" for text in one.tests)
        return "\n".join(lines)
