"""Conjunctions of predicates on different attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tamis.workloads.cells import cells, joined
from tamis.workloads.counters import Draws, Numbers, Purpose, keys, stream
from tamis.workloads.domain import Domain, domain_of
from tamis.workloads.events import EventTable
from tamis.workloads.plan import Plan
from tamis.workloads.predicates import Predicates, draw_predicates
from tamis.workloads.sizes import size_popularity
from tamis.workloads.specs import ConjunctionSpec
from tamis.workloads.topics import chosen, topics_of
from tamis.workloads.wording import predicate_cells

_AND = cells([" and ", ""])


@dataclass(frozen=True)
class Conjunctions:
    """Some rows of a workload of conjunctions.

    Attributes:
        domain: Attributes and values.
        predicates: A row for each subscription, a column for each predicate it may have.
        sizes: How many it has.
        topics: The topic each was drawn around, -1 for none.
    """

    domain: Domain
    predicates: Predicates
    sizes: Numbers
    topics: Numbers

    def texts(self) -> pa.StringArray:
        """The expressions."""
        rows, most = self.predicates.attributes.shape
        place = np.arange(most)
        between = np.take(_AND, np.where((place > 0) & (place < self.sizes[:, None]), 0, 1)).ravel()
        pieces = [between, *predicate_cells(self.domain, self.predicates)]
        return joined(pieces, rows * most, np.arange(1, rows + 1) * most)

    def matches(self, events: EventTable) -> tuple[Numbers, Numbers]:
        """Which event, which subscription: all pairs that match."""
        found: list[tuple[Numbers, Numbers]] = []
        everyone = np.arange(len(self.sizes))
        for first, values in events.chunks(len(everyone)):
            event = np.repeat(np.arange(len(values)), len(everyone))
            row = np.tile(everyone, len(values))
            for place in range(self.predicates.attributes.shape[1]):
                seen = values[event, self.predicates.attributes[row, place]]
                kept = self.predicates.hold((row, place), seen) | (place >= self.sizes[row])
                event, row = event[kept], row[kept]
            found.append((event + first, row))
        events_found, rows_found = zip(*found, strict=True)
        return np.concatenate(events_found), np.concatenate(rows_found)


def draw_conjunctions(spec: ConjunctionSpec, seed: int, plan: Plan, rows: Numbers) -> Conjunctions:
    """Draw the subscriptions with the given numbers."""
    domain, topics = domain_of(spec, seed), topics_of(spec, seed, plan.topics)
    draws = Draws(keys(stream(seed, "subscriptions"), rows))
    least, most = spec.size
    sizes = least + size_popularity(least, most, spec.mean_size).pick(draws.unit(Purpose.SIZE))
    around = (draws.unit(Purpose.ORIGIN) < plan.hits) & (sizes <= topics.size)
    topic = np.where(around, draws.below(max(plan.topics, 1), Purpose.TOPIC), -1)

    attributes = np.empty((len(rows), most), np.int64)
    anchors = np.zeros((len(rows), most), np.int64)
    free = np.flatnonzero(~around)
    attributes[free] = domain.popularity.distinct(Draws(draws.keys[free]), sizes[free], most)
    bound = np.flatnonzero(around)
    if len(bound):
        mine = topic[bound]
        places = chosen(topics, spec, seed, mine, sizes[bound], most, Draws(draws.keys[bound]))
        attributes[bound] = np.pad(topics.attributes, ((0, 0), (0, 1)), constant_values=domain.absent)[
            mine[:, None], places
        ]
        anchors[bound] = np.pad(topics.values, ((0, 0), (0, 1)))[mine[:, None], places]
    wanted = np.broadcast_to(around[:, None].astype(np.int64), attributes.shape)
    predicates = draw_predicates(domain, attributes, anchors, wanted, draws.children(most), plan.narrowing)
    return Conjunctions(domain, predicates, sizes, topic)
