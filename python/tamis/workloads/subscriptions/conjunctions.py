"""Draws conjunctions of predicates on different attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tamis.workloads.calibration.plan import Plan
from tamis.workloads.calibration.topics import choose_pairs, topics_of
from tamis.workloads.events.rows import EventTable
from tamis.workloads.sampling.counters import Draws, Numbers, Purpose, keys, stream
from tamis.workloads.sampling.domain import Domain, domain_of
from tamis.workloads.sampling.sizes import size_popularity
from tamis.workloads.specs import ConjunctionSpec
from tamis.workloads.subscriptions.predicate_text import predicate_cells
from tamis.workloads.subscriptions.predicates import Predicates, draw_predicates
from tamis.workloads.text_cells import cells, join_cells

_AND = cells([" and ", ""])


@dataclass(frozen=True)
class Conjunctions:
    """Conjunctions of a workload, as flat arrays.

    Attributes:
        domain: Attributes and values.
        predicates: The predicates of all rows, row by row.
        sizes: The number of predicates of each row.
        topics: The topic each row was drawn around, -1 for none.
    """

    domain: Domain
    predicates: Predicates
    sizes: Numbers
    topics: Numbers

    def texts(self) -> pa.StringArray:
        """Return the expressions as text."""
        ends = np.cumsum(self.sizes)
        between = np.zeros(len(self.predicates.attributes), np.int64)
        between[ends - self.sizes] = 1
        pieces = [np.take(_AND, between), *predicate_cells(self.domain, self.predicates)]
        return join_cells(pieces, len(between), ends)

    def matches(self, events: EventTable) -> tuple[Numbers, Numbers]:
        """Return all matching pairs, as event numbers and row numbers."""
        found: list[tuple[Numbers, Numbers]] = []
        predicates = self.predicates
        starts = np.cumsum(self.sizes) - self.sizes
        # The rarest attribute of a row first: few candidate pairs remain for the others.
        rows = np.repeat(np.arange(len(starts)), self.sizes)
        order = np.lexsort((-predicates.attributes, rows))
        for first, values in events.chunks(len(starts)):
            which = order[starts]
            event, row = np.nonzero(predicates.hold(which, values[:, predicates.attributes[which]]))
            for rank in range(1, int(self.sizes.max(initial=0))):
                more = np.flatnonzero(rank < self.sizes[row])
                which = order[starts[row[more]] + rank]
                failed = ~predicates.hold(which, values[event[more], predicates.attributes[which]])
                event, row = np.delete(event, more[failed]), np.delete(row, more[failed])
            found.append((event + first, row))
        events_found, rows_found = zip(*found, strict=True)
        return np.concatenate(events_found), np.concatenate(rows_found)


def draw_conjunctions(spec: ConjunctionSpec, seed: int, plan: Plan, rows: Numbers) -> Conjunctions:
    """Draw the subscriptions with the given row numbers."""
    domain, topics = domain_of(spec, seed), topics_of(spec, seed, plan.topics)
    draws = Draws(keys(stream(seed, "subscriptions"), rows))
    least, most = spec.size
    sizes = least + size_popularity(least, most, spec.mean_size).pick(draws.unit(Purpose.SIZE))
    around = (draws.unit(Purpose.ORIGIN) < plan.hits) & (sizes <= topics.size)
    topic = np.where(around, draws.below(max(plan.topics, 1), Purpose.TOPIC), -1)

    attributes = np.full((len(rows), most), domain.absent)
    anchors = np.zeros((len(rows), most), np.int64)
    free = np.flatnonzero(~around)
    attributes[free] = domain.popularity.distinct(Draws(draws.keys[free]), sizes[free], most)
    bound = np.flatnonzero(around)
    if len(bound):
        mine = topic[bound, None]
        places = choose_pairs(topics, spec, seed, topic[bound], sizes[bound], most, Draws(draws.keys[bound]))
        there = places < topics.size
        places = np.where(there, places, 0)
        attributes[bound] = np.where(there, topics.attributes[mine, places], domain.absent)
        anchors[bound] = topics.values[mine, places]
    row, place = np.nonzero(attributes < domain.absent)
    predicates = draw_predicates(
        domain,
        attributes[row, place],
        anchors[row, place],
        around[row].astype(np.int64),
        draws.at(row, place),
        plan.narrowing,
    )
    return Conjunctions(domain, predicates, sizes, topic)
