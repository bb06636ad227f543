"""How the share of subscriptions that an event matches is met.

Events are divided into topics. A subscription that was drawn around a topic matches all events of that topic and some
others by chance; one that was not matches by chance alone. If there are `k` topics, and chance makes a share `c` of
the pairs match that have no topic in common, then of the first kind an event matches `1/k + (1 - 1/k) c`, and the
share of the first kind is solved for from that. The chances are measured by a pilot: subscriptions and events with
numbers that no workload reaches, matched by numpy. So a plan depends on the spec and the seed alone.

Chance alone may be too much already, as for attributes of strong skew, which almost every event has. Then ranges and
comparisons are narrowed, and nested expressions are made ANDs at their root, until it is not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from tamis.workloads.conjunctions import Conjunctions, draw_conjunctions
from tamis.workloads.events import EventTable, draw_events
from tamis.workloads.plan import Plan
from tamis.workloads.sizes import size_weights
from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec
from tamis.workloads.trees import Trees, draw_trees

from tamis.workloads.counters import Numbers

# Rows of the pilot are numbered from here; rows of a workload end far below.
_PILOT = 1 << 61
_EVENTS = 400
_CONJUNCTIONS = 20_000
_TREES = 4_000
_MOST_TOPICS = 4_096
# Chance may make up this part of what is asked for; the rest is left to topics, which are exact.
_BY_CHANCE = 0.75
_STEPS = 8


def subscriptions_of(spec: Spec, seed: int, plan: Plan, rows: Numbers) -> Conjunctions | Trees:
    """Draw the subscriptions with the given numbers, whatever the kind of the spec."""
    if isinstance(spec, ConjunctionSpec):
        return draw_conjunctions(spec, seed, plan, rows)
    if isinstance(spec, TreeSpec | NormalFormSpec):
        return draw_trees(spec, seed, plan, rows)
    raise TypeError(
        f"a {type(spec).__name__} has no subscriptions; accepted is a ConjunctionSpec, TreeSpec or NormalFormSpec"
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
    plan, by_chance = _with_less_chance(spec, seed, plan, asked)
    across = _chance(spec, seed, replace(plan, hits=1.0))
    own = fitting / plan.topics
    around = own + (1 - own) * across
    return replace(plan, hits=min(1.0, (asked - by_chance) / (around - by_chance)))


def _fitting(spec: Spec) -> float:
    """The share of subscriptions that are small enough to be drawn around a topic."""
    if not isinstance(spec, ConjunctionSpec):
        return 1.0
    weights = size_weights(*spec.size, spec.mean_size)
    return min(1.0, sum(weights[: max(0, spec.core_size - spec.size[0] + 1)]))


def _with_less_chance(spec: Spec, seed: int, plan: Plan, asked: float) -> tuple[Plan, float]:
    """The plan with chance reduced as far as needed, and what chance is then."""
    chance = _chance(spec, seed, plan)
    if chance <= _BY_CHANCE * asked:
        return plan, chance
    if isinstance(spec, TreeSpec):
        strictest = replace(plan, conjoined=1.0)
        least = _chance(spec, seed, strictest)
        _refuse(
            asked, least, "more dimensions, smaller events, less NOT and OR, or a greater depth make it less"
        )
        share = min(1.0, (chance - _BY_CHANCE * asked) / max(chance - least, 1e-12))
        plan = replace(plan, conjoined=share)
        return plan, _chance(spec, seed, plan)
    low, high = 0.0, 1.0
    least = _chance(spec, seed, replace(plan, narrowing=low))
    _refuse(asked, least, "more dimensions, more values, larger subscriptions or smaller events make it less")
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _chance(spec, seed, replace(plan, narrowing=middle)) > _BY_CHANCE * asked:
            high = middle
        else:
            low = middle
    plan = replace(plan, narrowing=low)
    return plan, _chance(spec, seed, plan)


def _refuse(asked: float, least: float, remedy: str) -> None:
    if least > asked:
        raise ValueError(
            f"match_probability is {asked}; accepted is at least {least:.4g}, which is met by chance alone: {remedy}"
        )


def _chance(spec: Spec, seed: int, plan: Plan) -> float:
    """Which share of the pairs that have no topic in common match."""
    count = _CONJUNCTIONS if isinstance(spec, ConjunctionSpec) else _TREES
    drawn = subscriptions_of(spec, seed, plan, np.arange(_PILOT, _PILOT + count))
    events = draw_events(spec, seed, plan, np.arange(_PILOT, _PILOT + _EVENTS))
    event, row = drawn.matches(EventTable(events))
    foreign = int(np.count_nonzero(events.topics[event] != drawn.topics[row]))
    pairs = count * _EVENTS - sum(
        int(np.count_nonzero(drawn.topics == topic)) for topic in events.topics.tolist()
    )
    return foreign / pairs if pairs else 0.0
