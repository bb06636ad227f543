"""Discrete distributions over attributes, values and subexpressions: draws with and without replacement."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.workloads.sampling.counters import Draws, Numbers, Purpose, Units

_MAX_GUIDE_STEPS = 1 << 20
_LINEAR_STEPS = 3


def zipf_weights(count: int, alpha: float) -> NDArray[np.float64]:
    """Return weights proportional to 1 / rank ** alpha, with sum 1; alpha 0 is uniform."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -alpha
    return np.asarray(weights / weights.sum())


@lru_cache(maxsize=16)
def zipf(count: int, alpha: float) -> Popularity:
    """Return the Zipf distribution over `count` ranks; cached, because of its table."""
    return Popularity(zipf_weights(count, alpha))


class Popularity:
    """A distribution over the numbers from 0 to below `len(weights)`.

    Args:
        weights: The weight of each number, none negative.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self.weights = weights
        self._even = bool(np.all(weights == weights[0]))
        self._ends = np.concatenate([[0.0], np.cumsum(weights)])
        # Guide table: the number at each of `_steps` evenly spaced positions of the cumulated weights.
        self._steps = min(_MAX_GUIDE_STEPS, 4 * len(weights))
        scale = np.arange(self._steps + 1) * (self._ends[-1] / self._steps)
        self._guide = np.minimum(np.searchsorted(self._ends, scale, side="right") - 1, len(weights) - 1)

    def __len__(self) -> int:
        return len(self.weights)

    def pick(self, unit: Units) -> Numbers:
        """Return the number at each uniform position in [0, 1)."""
        if self._even:
            return (unit * len(self)).astype(np.int64)
        return self._at(unit * self._ends[-1])

    def _at(self, spot: Units) -> Numbers:
        """Return the numbers at positions of the cumulated weights.

        The guide table gives a start a few steps away, which avoids the cache misses of a binary search;
        positions more than `_LINEAR_STEPS` away are searched.
        """
        spot = np.minimum(spot, np.nextafter(self._ends[-1], 0))
        found: Numbers = self._guide[(spot * (self._steps / self._ends[-1])).astype(np.int64)]
        # Rounding may overshoot by one.
        found -= self._ends[found] > spot
        for _ in range(_LINEAR_STEPS):
            found += self._ends[found + 1] <= spot
        late = self._ends[found + 1] <= spot
        if late.any():
            found[late] = np.searchsorted(self._ends, spot[late], side="right") - 1
        return found

    def distinct(self, draws: Draws, sizes: Numbers, most: int, taken: Numbers | None = None) -> Numbers:
        """Draw distinct numbers for each row, one after the other, each by its weight among those left.

        A draw is a position in the weights of the numbers left; it is then moved past the taken numbers in
        ascending order. That costs most**2 / 2 operations on whole columns for any skew; rejection of
        collisions would not terminate in practice for a strong one.

        Args:
            draws: One key per row.
            sizes: The number of draws of each row.
            most: The largest size.
            taken: Columns of numbers that a row must not draw, in any order.

        Returns:
            `most` columns in the order drawn; `len(self)` where a row has no more.
        """
        if self._even and len(self) > most * (most + (0 if taken is None else taken.shape[1])):
            return self._distinct_by_rejection(draws, sizes, most, taken)
        return self._distinct_in_sequence(draws, sizes, most, taken)

    def _distinct_by_rejection(
        self, draws: Draws, sizes: Numbers, most: int, taken: Numbers | None
    ) -> Numbers:
        """Draw all columns of a row, and repeat rows with a collision: most rows have none."""
        found = np.empty((len(sizes), most), np.int64)
        absent = np.arange(most) >= sizes[:, None]
        rows, first = np.arange(len(sizes)), 0
        while len(rows):
            some = Draws(draws.keys[rows])
            for place in range(most):
                found[rows, place] = some.below(len(self), Purpose.CHOICE, first + place)
            # Absent positions get distinct numbers, so that they do not count as collisions.
            together = np.where(absent[rows], len(self) + np.arange(most), found[rows])
            if taken is not None:
                together = np.concatenate([taken[rows], together], axis=1)
            together = np.sort(together, axis=1)
            rows, first = rows[(together[:, 1:] == together[:, :-1]).any(axis=1)], first + most
        found[absent] = len(self)
        return found

    def _distinct_in_sequence(
        self, draws: Draws, sizes: Numbers, most: int, taken: Numbers | None
    ) -> Numbers:
        # Largest rows first, so that the rows that need another draw are a prefix.
        order = np.argsort(-sizes, kind="stable")
        before = np.empty((len(sizes), 0), np.int64) if taken is None else np.sort(taken[order], axis=1)
        draw = self._draw_uniform if self._even else self._draw_weighted
        drawn = np.full((most, len(sizes)), len(self), np.int64)
        row_counts = [int(np.count_nonzero(sizes > place)) for place in range(most)]
        draw(Draws(draws.keys[order]), row_counts, before, drawn)
        found = np.empty((len(sizes), most), np.int64)
        found[order] = drawn.T
        return found if self._even else self._without_repeats(found, taken)

    def _draw_uniform(self, draws: Draws, row_counts: list[int], before: Numbers, drawn: Numbers) -> None:
        ordered = list(before.T.astype(np.int32))
        for place, count in enumerate(row_counts):
            left = len(self) - before.shape[1] - place
            rank = Draws(draws.keys[:count]).below(left, Purpose.ATTRIBUTE, place).astype(np.int32)
            ordered = [other[:count] for other in ordered]
            for other in ordered:
                # Plus one where rank >= other: the sign bit, without a cast from bool.
                rank -= (other - rank - np.int32(1)) >> np.int32(31)
            drawn[place, :count] = rank
            _insert(ordered, rank)

    def _draw_weighted(self, draws: Draws, row_counts: list[int], before: Numbers, drawn: Numbers) -> None:
        ends = self._ends
        # Start and end of the taken numbers in the cumulated weights, ascending.
        begins, stops = list(ends[before.T]), list(ends[before.T + 1])
        left = ends[-1] - sum(
            (stop - begin for begin, stop in zip(begins, stops, strict=True)), np.zeros(len(before))
        )
        for place, count in enumerate(row_counts):
            begins, stops, left = [x[:count] for x in begins], [x[:count] for x in stops], left[:count]
            spot = Draws(draws.keys[:count]).unit(Purpose.ATTRIBUTE, place) * np.maximum(left, 0.0)
            for begin, stop in zip(begins, stops, strict=True):
                moved = np.maximum(spot + (stop - begin), stop)
                np.copyto(spot, moved, where=spot >= begin)
            rank = self._at(spot)
            drawn[place, :count] = rank
            left = left - self.weights[rank]
            _insert(begins, ends[rank])
            _insert(stops, ends[rank + 1])

    def _without_repeats(self, drawn: Numbers, taken: Numbers | None) -> Numbers:
        """Replace repeats, which rounding causes, by the most popular unused number."""
        before = np.empty((len(drawn), 0), np.int64) if taken is None else taken
        together = np.sort(np.concatenate([before, drawn], axis=1), axis=1)
        repeats = (together[:, 1:] == together[:, :-1]) & (together[:, 1:] < len(self))
        for row in np.flatnonzero(repeats.any(axis=1)):
            used = set(before[row].tolist())
            for place, rank in enumerate(drawn[row].tolist()):
                if rank in used and rank < len(self):
                    rank = next(other for other in range(len(self)) if other not in used)
                    drawn[row, place] = rank
                used.add(rank)
        return drawn


def _insert(ordered: list[NDArray[Any]], column: NDArray[Any]) -> None:
    """Insert a column into columns that are sorted along each row."""
    for place, other in enumerate(ordered):
        ordered[place] = np.minimum(other, column)
        column = np.maximum(other, column)
    ordered.append(column)
