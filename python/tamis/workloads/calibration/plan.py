"""The plan: what calibration decides about a workload."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """The decisions by which a workload reaches its match probability.

    Attributes:
        topics: The number of topics that events are divided into. The events of a topic have a core of pairs
            in common. 0 if matching is left to chance.
        hits: The share of subscriptions that are drawn around a topic and match all its events.
        narrowing: The factor that ranges and comparisons are narrowed by; 1 leaves them as drawn.
        conjoined: The share of nested expressions whose root is made an AND, regardless of the spec's shares.
    """

    topics: int = 0
    hits: float = 0.0
    narrowing: float = 1.0
    conjoined: float = 0.0
