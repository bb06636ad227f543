"""Events: the pairs of a topic and others of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tamis.workloads.counters import Draws, Numbers, Purpose, keys, stream
from tamis.workloads.domain import Domain, domain_of
from tamis.workloads.plan import Plan
from tamis.workloads.specs import Spec
from tamis.workloads.topics import topics_of

_CELLS = 2_000_000


@dataclass(frozen=True)
class Events:
    """Some rows of a workload.

    Attributes:
        domain: Attributes and values.
        attributes: A row for each event, a column for each pair it may have; `Domain.absent` behind the last.
        values: Likewise.
        sizes: How many pairs it has.
        topics: Its topic, -1 for none.
    """

    domain: Domain
    attributes: Numbers
    values: Numbers
    sizes: Numbers
    topics: Numbers


@dataclass(frozen=True)
class EventTable:
    """Events spread over all dimensions, for looking values up."""

    events: Events

    def chunks(self, partners: int) -> Iterator[tuple[int, Numbers]]:
        """Go through the events, few enough at a time to pair each with so many partners.

        Yields:
            The number of the first event, and values by event and attribute: -1 where missing.
        """
        width = self.events.domain.absent + 1
        step = max(1, _CELLS // max(width, partners))
        for first in range(0, len(self.events.sizes), step):
            part = slice(first, first + step)
            attributes = self.events.attributes[part]
            values = np.full((len(attributes), width), -1, np.int64)
            values[np.arange(len(attributes))[:, None], attributes] = self.events.values[part]
            values[:, -1] = -1
            yield first, values


def draw_events(spec: Spec, seed: int, plan: Plan, rows: Numbers) -> Events:
    """Draw the events with the given numbers."""
    domain = domain_of(spec, seed)
    draws = Draws(keys(stream(seed, "events"), rows))
    sizes = draws.between(spec.event_size, Purpose.SIZE)
    most = spec.event_size[1]
    if not plan.topics:
        attributes = domain.popularity.distinct(draws, sizes, most)
        values = domain.values(attributes, draws.children(most))
        return Events(domain, attributes, values, sizes, np.full(len(rows), -1))
    topics = topics_of(spec, seed, plan.topics)
    topic = draws.below(plan.topics, Purpose.TOPIC)
    core = topics.attributes[topic]
    rest = most - topics.size
    others = domain.popularity.distinct(draws, sizes - topics.size, rest, taken=core)
    attributes = np.concatenate([core, others], axis=1)
    values = np.concatenate([topics.values[topic], domain.values(others, draws.children(rest))], axis=1)
    return Events(domain, attributes, values, sizes, topic)
