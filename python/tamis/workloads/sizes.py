"""How many predicates a subscription has."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tamis.workloads.popularity import Popularity


@lru_cache(maxsize=64)
def size_weights(least: int, most: int, mean: float | None) -> tuple[float, ...]:
    """Probabilities of the sizes from the least to the most.

    Without a mean all are equally likely. With one they follow a truncated geometric distribution, which
    falls or rises steadily and is the least presuming one with that mean.
    """
    sizes = np.arange(least, most + 1)
    if mean is None or least == most:
        return tuple(np.full(len(sizes), 1 / len(sizes)).tolist())
    low, high = -50.0, 50.0
    for _ in range(200):
        slope = (low + high) / 2
        if (_geometric(sizes, slope) * sizes).sum() < mean:
            low = slope
        else:
            high = slope
    return tuple(_geometric(sizes, slope).tolist())


def _geometric(sizes: NDArray[np.int64], slope: float) -> NDArray[np.float64]:
    exponents = slope * (sizes - sizes[0])
    weights = np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum())


@lru_cache(maxsize=64)
def size_popularity(least: int, most: int, mean: float | None) -> Popularity:
    """The same, to draw from; rank 0 is the least size."""
    return Popularity(np.array(size_weights(least, most, mean)))
