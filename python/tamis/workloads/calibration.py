"""How the share of subscriptions that an event matches is met.

Events are divided into topics. A subscription that was drawn around a topic matches all events of that topic
and some others by chance; one that was not matches by chance alone. If there are `k` topics, and chance makes
a share `c` of the pairs match that have no topic in common, then of the first kind an event matches `1/k + (1
- 1/k) c`, and the share of the first kind is solved for from that. The chances are measured by a pilot:
subscriptions and events with numbers that no workload reaches, matched by numpy. So a plan depends on the
spec and the seed alone.

Chance alone may be too much already, as for attributes of strong skew, which almost every event has. Then
ranges and comparisons are narrowed, and nested expressions are made ANDs at their root, until it is not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from tamis.workloads.conjunctions import Conjunctions, draw_conjunctions
from tamis.workloads.counters import Numbers
from tamis.workloads.events import EventTable, draw_events
from tamis.workloads.plan import Plan
from tamis.workloads.sizes import size_weights
from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec
from tamis.workloads.trees import Trees, draw_trees

# Rows of the pilot are numbered from here; rows of a workload end far below.
_PILOT = 1 << 61
_CONJUNCTIONS, _EVENTS = 20_000, 400
_TREES, _TREE_EVENTS = 6_000, 200
# A search looks at fewer; what it finds is measured again with all.
_SEARCH = 4
_MOST_TOPICS = 4_096
# Chance may make up this part of what is asked for; the rest is left to topics, which are exact.
_BY_CHANCE = 0.5
_STEPS = 8
# So many at a time keep the tables of the pilot near a core.
_BLOCK = 500


def subscriptions_of(spec: Spec, seed: int, plan: Plan, rows: Numbers) -> Conjunctions | Trees:
    """Draw the subscriptions with the given numbers, whatever the kind of the spec."""
    if isinstance(spec, ConjunctionSpec):
        return draw_conjunctions(spec, seed, plan, rows)
    if isinstance(spec, TreeSpec | NormalFormSpec):
        return draw_trees(spec, seed, plan, rows)
    raise TypeError(
        f"a {type(spec).__name__} has no subscriptions; accepted is a ConjunctionSpec, TreeSpec or "
        "NormalFormSpec"
    )


@lru_cache(maxsize=64)
def calibrated(spec: Spec, seed: int) -> Plan:
    """Find the plan by which events match the share of subscriptions that the spec asks for.

    Raises:
        ValueError: If no plan does; the message says which shares can be met.
    """
    asked = spec.match_probability
    if asked is None:
        return Plan()
    fitting = _fitting(spec)
    if asked > fitting:
        raise ValueError(
            f"match_probability is {asked}; accepted is at most {fitting:.4g}: other subscriptions have more "
            f"predicates than the {spec.core_size} pairs that events of a topic have in common"
        )
    plan = Plan(topics=max(1, min(_MOST_TOPICS, int(fitting / asked))))
    reduced = _conjoined if isinstance(spec, TreeSpec) else _narrowed
    plan, by_chance, across = reduced(spec, seed, plan, asked)
    own = fitting / plan.topics
    around = own + (1 - own) * across
    return replace(plan, hits=min(1.0, (asked - by_chance) / (around - by_chance)))


def _fitting(spec: Spec) -> float:
    """The share of subscriptions that are small enough to be drawn around a topic."""
    if not isinstance(spec, ConjunctionSpec):
        return 1.0
    weights = size_weights(*spec.size, spec.mean_size)
    return min(1.0, sum(weights[: max(0, spec.core_size - spec.size[0] + 1)]))


def _narrowed(spec: Spec, seed: int, plan: Plan, asked: float) -> tuple[Plan, float, float]:
    """Narrow ranges and comparisons as far as needed.

    Returns:
        The plan, and the chances of subscriptions drawn around no topic and around another topic.
    """
    if _chance(spec, seed, plan) > _BY_CHANCE * asked:
        low, high = 0.0, 1.0
        least = _chance(spec, seed, replace(plan, narrowing=low))
        _refuse(asked, least, "more dimensions, values or predicates, or smaller events make it less")
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if _chance(spec, seed, replace(plan, narrowing=middle), _SEARCH) > _BY_CHANCE * asked:
                high = middle
            else:
                low = middle
        plan = replace(plan, narrowing=low)
    return plan, _chance(spec, seed, plan), _chance(spec, seed, replace(plan, hits=1.0))


def _conjoined(spec: Spec, seed: int, plan: Plan, asked: float) -> tuple[Plan, float, float]:
    """Make as many roots ANDs as needed; returns what `_narrowed` does.

    Chance is the weighted mean of what it is with all roots ANDs and with roots as they come. That is exacter
    than measuring the mixture, in which few expressions would stand for most of the chance.
    """
    strict = replace(plan, conjoined=1.0)
    loose_chance, share = _chance(spec, seed, plan), 0.0
    strict_chance = loose_chance
    if loose_chance > _BY_CHANCE * asked:
        strict_chance = _chance(spec, seed, strict)
        _refuse(
            asked, strict_chance, "more dimensions, smaller events, less NOT or a greater depth make it less"
        )
        share = min(1.0, (loose_chance - _BY_CHANCE * asked) / max(loose_chance - strict_chance, 1e-12))
    across = (1 - share) * _chance(spec, seed, replace(plan, hits=1.0))
    if share:
        across += share * _chance(spec, seed, replace(strict, hits=1.0))
    by_chance = (1 - share) * loose_chance + share * strict_chance
    return replace(plan, conjoined=share), by_chance, across


def _refuse(asked: float, least: float, remedy: str) -> None:
    if least > asked:
        raise ValueError(
            f"match_probability is {asked}; accepted is at least {least:.4g}, which is met by chance alone: "
            f"{remedy}"
        )


def _chance(spec: Spec, seed: int, plan: Plan, fewer: int = 1) -> float:
    """Which share of the pairs that have no topic in common match."""
    flat = isinstance(spec, ConjunctionSpec)
    count = (_CONJUNCTIONS if flat else _TREES) // fewer
    seen = _EVENTS if flat else _TREE_EVENTS
    events = draw_events(spec, seed, plan, np.arange(_PILOT, _PILOT + seen))
    table = EventTable(events)
    foreign = pairs = 0
    for first in range(_PILOT, _PILOT + count, _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, _PILOT + count))
        drawn = subscriptions_of(spec, seed, plan, rows)
        event, row = drawn.matches(table)
        foreign += int(np.count_nonzero(events.topics[event] != drawn.topics[row]))
        alike = np.count_nonzero(events.topics[:, None] == drawn.topics[None, :]) if plan.hits else 0
        pairs += len(rows) * seen - int(alike)
    return foreign / pairs if pairs else 0.0
