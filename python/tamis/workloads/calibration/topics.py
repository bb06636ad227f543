"""Topics: pairs of attribute and value that events share with the subscriptions that match them.

With 30,000 attributes no subscription of five predicates matches an event drawn independently of it. So both
are drawn around topics: a topic is a core of pairs that all its events have, and a subscription drawn around
it has predicates on some of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tamis.workloads.sampling.counters import Draws, Numbers, Purpose, keys, stream
from tamis.workloads.sampling.domain import domain_of
from tamis.workloads.specs import Spec


@dataclass(frozen=True)
class Topics:
    """The pairs of all cores.

    Attributes:
        attributes: One row per topic, in the order drawn.
        values: Their values, in the same shape.
    """

    attributes: Numbers
    values: Numbers

    def __len__(self) -> int:
        return len(self.attributes)

    @property
    def size(self) -> int:
        """The number of pairs of a core."""
        return int(self.attributes.shape[1])


@lru_cache(maxsize=16)
def topics_of(spec: Spec, seed: int, count: int) -> Topics:
    """Draw the first `count` topics of a workload."""
    domain, size = domain_of(spec, seed), spec.core_size
    draws = Draws(keys(stream(seed, "topics"), np.arange(count)))
    attributes = domain.popularity.distinct(draws, np.full(count, size), size)
    row, place = np.nonzero(attributes < domain.absent)
    values = domain.values(attributes[row, place], draws.at(row, place))
    return Topics(attributes, values.reshape(attributes.shape))


def choose_pairs(
    topics: Topics, spec: Spec, seed: int, topic: Numbers, sizes: Numbers, most: int, draws: Draws
) -> Numbers:
    """Choose distinct pairs of a core for each row, by the weights of their attributes.

    Args:
        topics: The cores.
        spec: The parameters of the workload.
        seed: Its seed.
        topic: The topic of each row.
        sizes: The number of pairs of each row, at most the size of a core.
        most: The number of columns to return.
        draws: One key per row.

    Returns:
        Positions in the core; the core's size where a row has no more pairs.
    """
    # Exponential arrival times: the order of arrival is that of a weighted draw without replacement.
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
