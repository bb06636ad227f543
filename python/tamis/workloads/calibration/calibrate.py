"""Finds the plan by which events match a given share of the subscriptions.

Events are divided into topics. A subscription drawn around a topic matches all events of the topic, and
others by chance; any other subscription matches by chance alone. With `k` topics, and a share `c` of the
pairs without a common topic matching by chance, an event matches a share `1/k + (1 - 1/k) c` of the first
kind, which gives the share of subscriptions to draw around topics. The chances are measured by a pilot:
subscriptions and events with row numbers beyond those of any workload, matched by numpy. So a plan depends on
the spec and the seed alone.

Chance alone may exceed the match probability, as with strongly skewed attributes, which almost every event
has. Then ranges and comparisons are narrowed, and roots of nested expressions become ANDs, until it no longer
does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from tamis.workloads.calibration.plan import Plan
from tamis.workloads.events.rows import EventTable, draw_events
from tamis.workloads.sampling.counters import Numbers
from tamis.workloads.sampling.sizes import size_weights
from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec
from tamis.workloads.subscriptions.conjunctions import Conjunctions, draw_conjunctions
from tamis.workloads.subscriptions.trees import Trees, draw_trees

# First row number of the pilot; rows of a workload end at 2**60.
_PILOT = 1 << 61
_CONJUNCTIONS, _EVENTS = 20_000, 400
_TREES, _TREE_EVENTS = 6_000, 200
# The search for a narrowing uses a quarter of the pilot; its result is measured with all of it.
_SEARCH_DIVISOR = 4
_MAX_TOPICS = 4_096
# Maximum part of the match probability that is left to chance; topics provide the rest exactly.
_MAX_CHANCE = 0.5
_SEARCH_STEPS = 8
# Subscriptions per block, so that the pilot's tables stay in cache.
_BLOCK = 500


def subscriptions_of(spec: Spec, seed: int, plan: Plan, rows: Numbers) -> Conjunctions | Trees:
    """Draw the subscriptions with the given row numbers, for any kind of spec."""
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
    """Find the plan by which events match the spec's match probability.

    Raises:
        ValueError: No plan does; the message gives the reachable probabilities.
    """
    probability = spec.match_probability
    if probability is None:
        return Plan()
    fitting = _fitting_share(spec)
    if probability > fitting:
        raise ValueError(
            f"match_probability is {probability}; accepted is at most {fitting:.4g}: other subscriptions "
            f"have more predicates than the {spec.core_size} pairs that events of a topic have in common"
        )
    plan = Plan(topics=max(1, min(_MAX_TOPICS, int(fitting / probability))))
    reduce_chance = _conjoined if isinstance(spec, TreeSpec) else _narrowed
    plan, by_chance, across = reduce_chance(spec, seed, plan, probability)
    own = fitting / plan.topics
    around = own + (1 - own) * across
    return replace(plan, hits=min(1.0, (probability - by_chance) / (around - by_chance)))


def _fitting_share(spec: Spec) -> float:
    """Return the share of subscriptions that are small enough to be drawn around a topic."""
    if not isinstance(spec, ConjunctionSpec):
        return 1.0
    weights = size_weights(*spec.size, spec.mean_size)
    return min(1.0, sum(weights[: max(0, spec.core_size - spec.size[0] + 1)]))


def _narrowed(spec: Spec, seed: int, plan: Plan, probability: float) -> tuple[Plan, float, float]:
    """Narrow ranges and comparisons as far as needed, by binary search.

    Returns:
        The plan, and the chances to match of subscriptions drawn around no topic and around another topic.
    """
    limit = _MAX_CHANCE * probability
    if _chance(spec, seed, plan) > limit:
        low, high = 0.0, 1.0
        least = _chance(spec, seed, replace(plan, narrowing=low))
        _check_reachable(
            probability, least, "more dimensions, values or predicates, or smaller events make it less"
        )
        for _ in range(_SEARCH_STEPS):
            middle = (low + high) / 2
            if _chance(spec, seed, replace(plan, narrowing=middle), _SEARCH_DIVISOR) > limit:
                high = middle
            else:
                low = middle
        plan = replace(plan, narrowing=low)
    return plan, _chance(spec, seed, plan), _chance(spec, seed, replace(plan, hits=1.0))


def _conjoined(spec: Spec, seed: int, plan: Plan, probability: float) -> tuple[Plan, float, float]:
    """Make as many roots ANDs as needed; returns the same as `_narrowed`.

    The chance is the weighted mean of two measurements: all roots ANDs, and roots as drawn. That is more
    exact than measuring the mixture, where few expressions would contribute most of the chance.
    """
    limit = _MAX_CHANCE * probability
    strict = replace(plan, conjoined=1.0)
    loose_chance, share = _chance(spec, seed, plan), 0.0
    strict_chance = loose_chance
    if loose_chance > limit:
        strict_chance = _chance(spec, seed, strict)
        _check_reachable(
            probability,
            strict_chance,
            "more dimensions, smaller events, less NOT or a greater depth make it less",
        )
        share = min(1.0, (loose_chance - limit) / max(loose_chance - strict_chance, 1e-12))
    across = (1 - share) * _chance(spec, seed, replace(plan, hits=1.0))
    if share:
        across += share * _chance(spec, seed, replace(strict, hits=1.0))
    by_chance = (1 - share) * loose_chance + share * strict_chance
    return replace(plan, conjoined=share), by_chance, across


def _check_reachable(probability: float, least: float, remedy: str) -> None:
    if least > probability:
        raise ValueError(
            f"match_probability is {probability}; accepted is at least {least:.4g}, which chance alone "
            f"reaches: {remedy}"
        )


def _chance(spec: Spec, seed: int, plan: Plan, divisor: int = 1) -> float:
    """Measure the share of matching pairs among the pilot's pairs without a common topic."""
    flat = isinstance(spec, ConjunctionSpec)
    count = (_CONJUNCTIONS if flat else _TREES) // divisor
    event_count = _EVENTS if flat else _TREE_EVENTS
    events = draw_events(spec, seed, plan, np.arange(_PILOT, _PILOT + event_count))
    table = EventTable(events)
    foreign = pairs = 0
    for first in range(_PILOT, _PILOT + count, _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, _PILOT + count))
        drawn = subscriptions_of(spec, seed, plan, rows)
        event, row = drawn.matches(table)
        foreign += int(np.count_nonzero(events.topics[event] != drawn.topics[row]))
        common = np.count_nonzero(events.topics[:, None] == drawn.topics[None, :]) if plan.hits else 0
        pairs += len(rows) * event_count - int(common)
    return foreign / pairs if pairs else 0.0
