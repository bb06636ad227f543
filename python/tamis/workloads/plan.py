"""What calibration decides about a workload."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """How subscriptions and events come to match.

    Attributes:
        topics: Into how many topics events are divided. Events of a topic have a core of pairs in common. 0
            where matching is left to chance.
        hits: Share of the subscriptions that are drawn around a topic and match all its events.
        narrowing: By what factor ranges and comparisons are narrowed, 1 for not at all.
        conjoined: Share of nested expressions whose outermost connective is an AND, whatever the shares of
            connectives say.
    """

    topics: int = 0
    hits: float = 0.0
    narrowing: float = 1.0
    conjoined: float = 0.0
