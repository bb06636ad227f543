"""The attributes of a workload and their values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.workloads.sampling.counters import Draws, Numbers, Purpose, keys, stream, units
from tamis.workloads.sampling.popularity import Popularity, zipf, zipf_weights
from tamis.workloads.specs import Spec


class Domain:
    """Attributes are numbers from 0, the most popular first; `absent` fills unused positions of a row.

    Args:
        spec: The parameters of the workload.
        seed: The seed of the positions of value clusters.
    """

    def __init__(self, spec: Spec, seed: int) -> None:
        self.spec = spec
        self.absent = spec.dimensions
        self.first_text = spec.dimensions - spec.text_dimensions
        self.popularity = Popularity(_attribute_weights(spec))
        self._cluster_stream = stream(seed, "clusters")

    @property
    def has_text(self) -> bool:
        """Whether any attribute that can be drawn has words as values."""
        return self.spec.text_share > 0

    def is_text(self, attributes: Numbers) -> NDArray[np.bool_]:
        """Return which of the attributes have words as values."""
        return (attributes >= self.first_text) & (attributes < self.absent)

    def cardinality(self, attributes: Numbers) -> int | Numbers:
        """Return the number of values of the attributes; one number if all have the same."""
        if not self.has_text:
            return self.spec.cardinality
        return np.where(self.is_text(attributes), self.spec.words, self.spec.cardinality)

    def values(
        self, attributes: Numbers, draws: Draws, purpose: Purpose = Purpose.VALUE, place: int = 0
    ) -> Numbers:
        """Draw a value for each attribute from the spec's distribution."""
        bounds = self.cardinality(attributes)
        if self.spec.clusters:
            return self._clustered(attributes, bounds, draws, purpose, place)
        unit = draws.unit(purpose, place)
        if not self.spec.value_alpha:
            return (unit * bounds).astype(np.int64)
        numbers = zipf(self.spec.cardinality, self.spec.value_alpha).pick(unit)
        if not self.has_text:
            return numbers
        words = zipf(self.spec.words, self.spec.value_alpha).pick(unit)
        return np.where(self.is_text(attributes), words, numbers)

    def _clustered(
        self, attributes: Numbers, bounds: int | NDArray[Any], draws: Draws, purpose: Purpose, place: int
    ) -> Numbers:
        spec = self.spec
        cluster = attributes * spec.clusters + draws.below(
            spec.clusters, Purpose.CLUSTER, purpose * 1_000 + place
        )
        center = (units(keys(self._cluster_stream, cluster)) * bounds).astype(np.int64)
        offset = draws.below(2 * spec.cluster_size + 1, purpose, place) - spec.cluster_size
        return np.asarray(np.clip(center + offset, 0, bounds - 1), np.int64)

    def inverse_frequency(self, attributes: Numbers) -> NDArray[np.float64]:
        """Return the weight of the rarest attribute divided by that of each attribute: 1 for the rarest."""
        weights = self.popularity.weights
        return np.asarray(weights[weights > 0].min() / weights[attributes])


def _attribute_weights(spec: Spec) -> NDArray[np.float64]:
    numbers = spec.dimensions - spec.text_dimensions
    if not spec.text_dimensions:
        return zipf_weights(numbers, spec.alpha)
    return np.concatenate(
        [
            zipf_weights(numbers, spec.alpha) * (1 - spec.text_share) if numbers else np.empty(0),
            zipf_weights(spec.text_dimensions, spec.alpha) * spec.text_share,
        ]
    )


@lru_cache(maxsize=16)
def domain_of(spec: Spec, seed: int) -> Domain:
    """Return the domain of a workload; cached, because of its tables."""
    return Domain(spec, seed)
