"""Draws events: the pairs of their topic, and further pairs of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tamis.workloads.calibration.plan import Plan
from tamis.workloads.calibration.topics import topics_of
from tamis.workloads.sampling.counters import Draws, Numbers, Purpose, keys, stream
from tamis.workloads.sampling.domain import Domain, domain_of
from tamis.workloads.specs import Spec

# Maximum cells of a table of values: 16 MB of int64.
_MAX_CELLS = 2_000_000


@dataclass(frozen=True)
class Events:
    """Events of a workload, as flat arrays.

    Attributes:
        domain: Attributes and values.
        attributes: The attributes of all events, event by event.
        values: Their values, in the same order.
        sizes: The number of pairs of each event.
        topics: The topic of each event, -1 for none.
    """

    domain: Domain
    attributes: Numbers
    values: Numbers
    sizes: Numbers
    topics: Numbers


@dataclass(frozen=True)
class EventTable:
    """Events as dense tables of values by event and attribute."""

    events: Events

    def chunks(self, partners: int) -> Iterator[tuple[int, Numbers]]:
        """Yield tables of a few events, so that events x max(attributes, partners) stays below `_MAX_CELLS`.

        Yields:
            The number of the first event, and values by event and attribute: -1 where missing.
        """
        events, width = self.events, self.events.domain.absent
        step = max(1, _MAX_CELLS // max(width, partners))
        bounds = np.concatenate([[0], np.cumsum(events.sizes)])
        for first in range(0, len(events.sizes), step):
            sizes = events.sizes[first : first + step]
            part = slice(bounds[first], bounds[first + len(sizes)])
            values = np.full((len(sizes), width), -1, np.int64)
            values[np.repeat(np.arange(len(sizes)), sizes), events.attributes[part]] = events.values[part]
            yield first, values


def draw_events(spec: Spec, seed: int, plan: Plan, rows: Numbers) -> Events:
    """Draw the events with the given numbers."""
    domain = domain_of(spec, seed)
    draws = Draws(keys(stream(seed, "events"), rows))
    sizes = draws.between(spec.event_size, Purpose.SIZE)
    most = spec.event_size[1]
    if not plan.topics:
        attributes = domain.popularity.distinct(draws, sizes, most)
        row, place = np.nonzero(attributes < domain.absent)
        drawn = attributes[row, place]
        return Events(
            domain, drawn, domain.values(drawn, draws.at(row, place)), sizes, np.full(len(rows), -1)
        )
    topics = topics_of(spec, seed, plan.topics)
    topic = draws.below(plan.topics, Purpose.TOPIC)
    core = topics.attributes[topic]
    others = domain.popularity.distinct(draws, sizes - topics.size, most - topics.size, taken=core)
    row, place = np.nonzero(others < domain.absent)
    values = np.zeros_like(others)
    values[row, place] = domain.values(others[row, place], draws.at(row, place))
    attributes = np.concatenate([core, others], axis=1)
    there = attributes < domain.absent
    return Events(
        domain, attributes[there], np.concatenate([topics.values[topic], values], axis=1)[there], sizes, topic
    )
