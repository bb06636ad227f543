"""Draws predicates as arrays: at random, such that they hold for a value, or such that they fail for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.workloads.sampling.counters import Draws, Numbers, Purpose
from tamis.workloads.sampling.domain import Domain
from tamis.workloads.specs import LETTERS, Spec

_MILLION = 1_000_000


class Kind(IntEnum):
    """The operator of a predicate."""

    EQUAL = 0
    AT_MOST = 1
    AT_LEAST = 2
    BETWEEN = 3
    LISTED = 4
    PREFIX = 5


@dataclass(frozen=True)
class Predicates:
    """Predicates, as parallel arrays.

    Attributes:
        attributes: Their attributes.
        kinds: Their operators.
        low: The least value that satisfies each; for a list, its first value.
        high: The greatest value that satisfies each.
        members: The values of IN lists along a further axis, filled up with -1. None if there are no lists.
        weights: Weights in millionths; None if there are none.
    """

    attributes: Numbers
    kinds: NDArray[np.int8]
    low: Numbers
    high: Numbers
    members: Numbers | None
    weights: Numbers | None

    def hold(self, which: Numbers, values: Numbers) -> NDArray[np.bool_]:
        """Return whether predicates hold for values.

        Args:
            which: The numbers of the predicates.
            values: The values of their attributes, along the last axis; -1 is missing and satisfies none.
        """
        held = (values >= self.low[which]) & (values <= self.high[which])
        if self.members is not None:
            lists = np.flatnonzero(self.kinds[which] == Kind.LISTED)
            seen = values[..., lists]
            held[..., lists] = (self.members[which[lists]] == seen[..., None]).any(axis=-1) & (seen >= 0)
        return held


def draw_predicates(
    domain: Domain, attributes: Numbers, anchors: Numbers, target: Numbers, draws: Draws, narrowing: float
) -> Predicates:
    """Draw a predicate for each attribute.

    Args:
        domain: Attributes and values.
        attributes: The attributes of the predicates.
        anchors: Values of an event, used where the target is not 0.
        target: 1 if the predicate must hold for the anchor, -1 if it must fail, 0 if the anchor does not
            matter.
        draws: One key per predicate.
        narrowing: The factor that ranges and comparisons are narrowed by.
    """
    spec = domain.spec
    bounds = domain.cardinality(attributes)
    kinds = _kinds(domain, attributes, draws)
    centres = _centres(domain, attributes, bounds, anchors, target, draws)
    low, high = centres.copy(), centres.copy()
    fails = target < 0
    if spec.equality + spec.comparison + spec.membership < 1:
        ranges = kinds == Kind.BETWEEN
        begin, end = _ranges(spec, centres, draws, narrowing)
        begin = np.where(fails & (centres > anchors), np.maximum(begin, anchors + 1), begin)
        end = np.where(fails & (centres < anchors), np.minimum(end, anchors - 1), end)
        low, high = np.where(ranges, begin, low), np.where(ranges, end, high)
    if spec.comparison:
        kinds, low, high = _compared(kinds, low, high, bounds, centres, anchors, target, draws, narrowing)
    if spec.prefix:
        lengths = draws.between(spec.prefix_length, Purpose.LENGTH)
        span = LETTERS ** (spec.word_length - lengths)
        prefixes = kinds == Kind.PREFIX
        low = np.where(prefixes, centres // span * span, low)
        high = np.where(prefixes, centres // span * span + span - 1, high)
    members = (
        _members(domain, attributes, bounds, centres, anchors, fails, draws) if spec.membership else None
    )
    weights = _weights(domain, attributes, draws) if spec.weights != "none" else None
    return Predicates(attributes, kinds, low, high, members, weights)


def _kinds(domain: Domain, attributes: Numbers, draws: Draws) -> NDArray[np.int8]:
    spec = domain.spec
    unit = draws.unit(Purpose.KIND)
    upward = (unit * 2**20).astype(np.int64) & 1
    kinds = np.full(attributes.shape, Kind.BETWEEN, np.int8)
    edge = spec.equality + spec.comparison + spec.membership
    kinds[unit < edge] = Kind.LISTED
    comparing = unit < spec.equality + spec.comparison
    kinds[comparing] = (Kind.AT_MOST + upward[comparing]).astype(np.int8)
    kinds[unit < spec.equality] = Kind.EQUAL
    if domain.has_text:
        words = np.full(attributes.shape, Kind.EQUAL, np.int8)
        words[unit < spec.prefix + spec.membership] = Kind.LISTED
        words[unit < spec.prefix] = Kind.PREFIX
        kinds = np.where(domain.is_text(attributes), words, kinds)
    return kinds


def _centres(
    domain: Domain,
    attributes: Numbers,
    bounds: int | NDArray[Any],
    anchors: Numbers,
    target: Numbers,
    draws: Draws,
) -> Numbers:
    """Draw the central value of each predicate: the anchor, a value other than the anchor, or any value."""
    if (target > 0).all():
        return anchors
    centres = domain.values(attributes, draws)
    fails = target < 0
    if fails.any():
        other = (anchors + 1 + draws.below(np.maximum(bounds - 1, 1), Purpose.POSITION, 1)) % bounds
        if domain.has_text:
            # Another first letter, so that no prefix covers both.
            letter = LETTERS ** (domain.spec.word_length - 1)
            word = (
                anchors + letter * (1 + draws.below(LETTERS - 1, Purpose.POSITION, 1))
            ) % domain.spec.words
            other = np.where(domain.is_text(attributes), word, other)
        centres = np.where(fails, other, centres)
    return np.where(target > 0, anchors, centres)


def _ranges(spec: Spec, centres: Numbers, draws: Draws, narrowing: float) -> tuple[Numbers, Numbers]:
    least = max(1, round(spec.range_width[0] * spec.cardinality))
    most = max(least, round(spec.range_width[1] * spec.cardinality))
    if spec.widest is not None:
        least, most = min(least, spec.widest), min(most, spec.widest)
    extents = draws.between((least, most), Purpose.EXTENT)
    if narrowing < 1:
        extents = np.maximum(1, np.rint(extents * narrowing).astype(np.int64))
    begin = centres - draws.below(extents, Purpose.POSITION)
    return np.maximum(begin, 0), np.minimum(begin + extents - 1, spec.cardinality - 1)


def _compared(
    kinds: NDArray[np.int8],
    low: Numbers,
    high: Numbers,
    bounds: int | NDArray[Any],
    centres: Numbers,
    anchors: Numbers,
    target: Numbers,
    draws: Draws,
    narrowing: float,
) -> tuple[NDArray[np.int8], Numbers, Numbers]:
    """Draw the operands of comparisons, such that the target is reached."""
    reach = draws.unit(Purpose.EXTENT) * narrowing
    holds, fails = target > 0, target < 0
    comparing = (kinds == Kind.AT_MOST) | (kinds == Kind.AT_LEAST)
    # A comparison that must fail points away from the anchor.
    kinds = np.where(comparing & fails & (centres < anchors), Kind.AT_MOST, kinds)
    kinds = np.where(comparing & fails & (centres > anchors), Kind.AT_LEAST, kinds).astype(np.int8)
    up, down = (reach * (bounds - centres)).astype(np.int64), (reach * (centres + 1)).astype(np.int64)
    any_up = (reach * bounds).astype(np.int64)
    most = np.where(holds, centres + up, np.where(fails, centres, any_up))
    least = np.where(holds, centres - down, np.where(fails, centres, bounds - 1 - any_up))
    at_most, at_least = kinds == Kind.AT_MOST, kinds == Kind.AT_LEAST
    low = np.where(at_most, 0, np.where(at_least, least, low))
    high = np.where(at_most, most, np.where(at_least, bounds - 1, high))
    return kinds, low, high


def _members(
    domain: Domain,
    attributes: Numbers,
    bounds: int | NDArray[Any],
    centres: Numbers,
    anchors: Numbers,
    fails: NDArray[np.bool_],
    draws: Draws,
) -> Numbers:
    """Draw IN lists that contain the centre; if the predicate must fail, the anchor is not in the list."""
    listed = domain.spec.listed
    counts = draws.between(listed, Purpose.LENGTH)
    home = draws.below(counts, Purpose.POSITION)
    members = np.empty((*attributes.shape, listed[1]), np.int64)
    for place in range(listed[1]):
        value = np.where(home == place, centres, domain.values(attributes, draws, Purpose.MEMBER, place))
        value = np.where(fails & (value == anchors), (value + 1) % bounds, value)
        members[..., place] = np.where(place < counts, value, -1)
    return members


def _weights(domain: Domain, attributes: Numbers, draws: Draws) -> Numbers:
    """Draw weights: normal with mean 0.8 and deviation 0.05 of the inverse frequency, clipped at it."""
    radius = np.sqrt(-2 * np.log1p(-draws.unit(Purpose.WEIGHT)))
    normal = radius * np.cos(2 * np.pi * draws.unit(Purpose.WEIGHT, 1))
    share = np.clip(0.8 + 0.05 * normal, 0, 1)
    return np.asarray(np.rint(domain.inverse_frequency(attributes) * share * _MILLION), np.int64)
