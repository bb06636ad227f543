"""Distributions of the number of predicates of a subscription."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tamis.workloads.sampling.popularity import Popularity


@lru_cache(maxsize=64)
def size_weights(least: int, most: int, mean: float | None) -> tuple[float, ...]:
    """Return the probabilities of the sizes from `least` to `most`.

    Uniform without a mean. With one, a truncated geometric distribution: the distribution of maximum entropy
    with that mean.
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
    """Return the distribution to draw sizes from; rank 0 is the least size."""
    return Popularity(np.array(size_weights(least, most, mean)))
