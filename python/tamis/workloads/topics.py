"""Topics: what events and the subscriptions that match them have in common.

In a space of 30,000 attributes no subscription of five predicates matches an event that was drawn
independently of it. So both are drawn around topics: a topic is a core of pairs that all its events have, and
a subscription drawn around it asks for some of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tamis.workloads.counters import Draws, Numbers, Purpose, keys, stream
from tamis.workloads.domain import domain_of
from tamis.workloads.specs import Spec


@dataclass(frozen=True)
class Topics:
    """The pairs of all cores.

    Attributes:
        attributes: By topic, in the order drawn.
        values: Likewise.
    """

    attributes: Numbers
    values: Numbers

    def __len__(self) -> int:
        return len(self.attributes)

    @property
    def size(self) -> int:
        """Pairs of a core."""
        return int(self.attributes.shape[1])


@lru_cache(maxsize=16)
def topics_of(spec: Spec, seed: int, count: int) -> Topics:
    """The first `count` topics of a workload."""
    domain, size = domain_of(spec, seed), spec.core_size
    draws = Draws(keys(stream(seed, "topics"), np.arange(count)))
    attributes = domain.popularity.distinct(draws, np.full(count, size), size)
    row, place = np.nonzero(attributes < domain.absent)
    values = domain.values(attributes[row, place], draws.at(row, place))
    return Topics(attributes, values.reshape(attributes.shape))


def chosen(
    topics: Topics, spec: Spec, seed: int, topic: Numbers, sizes: Numbers, most: int, draws: Draws
) -> Numbers:
    """Choose different pairs of a core for each row, by the weights of their attributes.

    Args:
        topics: The cores.
        spec: What the workload is made of.
        seed: Its seed.
        topic: The topic of each row.
        sizes: How many pairs each row gets, at most the size of a core.
        most: How many columns to return.
        draws: One key for each row.

    Returns:
        Places in the core; its size where a row has no more.
    """
    # An exponential race: who arrives first is chosen first, so the order is that of drawing without
    # replacement.
    arrival = np.empty((len(topic), topics.size))
    for place in range(topics.size):
        arrival[:, place] = draws.unit(Purpose.CHOICE, place)
    if spec.alpha or spec.text_dimensions:
        weights = domain_of(spec, seed).popularity.weights[topics.attributes]
        arrival = -np.log1p(-arrival) / weights[topic]
    order = np.argsort(arrival, axis=1, kind="stable")[:, :most]
    order[np.arange(order.shape[1]) >= sizes[:, None]] = topics.size
    padded = np.full((len(topic), most), topics.size)
    padded[:, : order.shape[1]] = order
    return padded
