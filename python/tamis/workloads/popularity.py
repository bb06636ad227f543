"""Which attributes, values and subexpressions are popular, and how they are drawn."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.workloads.counters import Draws, Numbers, Purpose, Units

_MOST_STEPS = 1 << 20
_TRIES = 3


def zipf_weights(count: int, alpha: float) -> NDArray[np.float64]:
    """Weights proportional to 1 / rank ** alpha, with sum 1; alpha 0 is uniform."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -alpha
    return np.asarray(weights / weights.sum())


@lru_cache(maxsize=16)
def zipf(count: int, alpha: float) -> Popularity:
    """The distribution over `count` ranks; the table is made once."""
    return Popularity(zipf_weights(count, alpha))


class Popularity:
    """A distribution over numbered things.

    Args:
        weights: One for each thing, none negative.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self.weights = weights
        self._even = bool(np.all(weights == weights[0]))
        self._ends = np.concatenate([[0.0], np.cumsum(weights)])
        # Where on the scale to begin looking: the thing at every step of an even division.
        self._steps = min(_MOST_STEPS, 4 * len(weights))
        scale = np.arange(self._steps + 1) * (self._ends[-1] / self._steps)
        self._guide = np.minimum(np.searchsorted(self._ends, scale, side="right") - 1, len(weights) - 1)

    def __len__(self) -> int:
        return len(self.weights)

    def pick(self, unit: Units) -> Numbers:
        """One thing for each uniform number."""
        if self._even:
            return (unit * len(self)).astype(np.int64)
        return self._at(unit * self._ends[-1])

    def _at(self, spot: Units) -> Numbers:
        """What lies at places on the scale of cumulated weights.

        A table leads near most of them, which spares the many cache misses of a binary search.
        """
        spot = np.minimum(spot, np.nextafter(self._ends[-1], 0))
        found: Numbers = self._guide[(spot * (self._steps / self._ends[-1])).astype(np.int64)]
        # Rounding may lead one step too far.
        found -= self._ends[found] > spot
        for _ in range(_TRIES):
            found += self._ends[found + 1] <= spot
        late = self._ends[found + 1] <= spot
        if late.any():
            found[late] = np.searchsorted(self._ends, spot[late], side="right") - 1
        return found

    def distinct(self, draws: Draws, sizes: Numbers, most: int, taken: Numbers | None = None) -> Numbers:
        """Draw different things for each row, one after the other, each by its weight among those left.

        A draw falls into the compressed space of what is left and is then moved past everything taken, in
        ascending order. That costs `most` squared over two cheap operations on whole columns, whatever the
        skew; drawing again on a collision would never end for a strong one.

        Args:
            draws: One key for each row.
            sizes: How many things each row gets.
            most: The largest size.
            taken: Columns of things that the row already has, in any order.

        Returns:
            `most` columns in the order drawn; `len(self)` where a row has no more.
        """
        if self._even and len(self) > most * (most + (0 if taken is None else taken.shape[1])):
            return self._distinct_at_once(draws, sizes, most, taken)
        return self._one_by_one(draws, sizes, most, taken)

    def _distinct_at_once(self, draws: Draws, sizes: Numbers, most: int, taken: Numbers | None) -> Numbers:
        """Draw all places of a row at once, and rows with a collision again: most have none."""
        found = np.empty((len(sizes), most), np.int64)
        absent = np.arange(most) >= sizes[:, None]
        rows, first = np.arange(len(sizes)), 0
        while len(rows):
            some = Draws(draws.keys[rows])
            for place in range(most):
                found[rows, place] = some.below(len(self), Purpose.CHOICE, first + place)
            # What is absent collides with nothing.
            together = np.where(absent[rows], len(self) + np.arange(most), found[rows])
            if taken is not None:
                together = np.concatenate([taken[rows], together], axis=1)
            together = np.sort(together, axis=1)
            rows, first = rows[(together[:, 1:] == together[:, :-1]).any(axis=1)], first + most
        found[absent] = len(self)
        return found

    def _one_by_one(self, draws: Draws, sizes: Numbers, most: int, taken: Numbers | None) -> Numbers:
        # Rows of many first, so that those still to be served are always the first ones.
        order = np.argsort(-sizes, kind="stable")
        before = np.empty((len(sizes), 0), np.int64) if taken is None else np.sort(taken[order], axis=1)
        serve = self._serve_evenly if self._even else self._serve_by_weight
        drawn = np.full((most, len(sizes)), len(self), np.int64)
        waiting = [int(np.count_nonzero(sizes > place)) for place in range(most)]
        serve(Draws(draws.keys[order]), waiting, before, drawn)
        found = np.empty((len(sizes), most), np.int64)
        found[order] = drawn.T
        return found if self._even else self._without_repeats(found, taken)

    def _serve_evenly(self, draws: Draws, waiting: list[int], before: Numbers, drawn: Numbers) -> None:
        ordered = list(before.T.astype(np.int32))
        for place, count in enumerate(waiting):
            left = len(self) - before.shape[1] - place
            rank = Draws(draws.keys[:count]).below(left, Purpose.ATTRIBUTE, place).astype(np.int32)
            ordered = [other[:count] for other in ordered]
            for other in ordered:
                # Plus one where rank >= other: the sign bit, without a cast from bool.
                rank -= (other - rank - np.int32(1)) >> np.int32(31)
            drawn[place, :count] = rank
            _insert(ordered, rank)

    def _serve_by_weight(self, draws: Draws, waiting: list[int], before: Numbers, drawn: Numbers) -> None:
        ends = self._ends
        # Where the taken things begin and end on the scale of cumulated weights, ascending.
        begins, stops = list(ends[before.T]), list(ends[before.T + 1])
        left = ends[-1] - sum(
            (stop - begin for begin, stop in zip(begins, stops, strict=True)), np.zeros(len(before))
        )
        for place, count in enumerate(waiting):
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
        """Rounding may draw a thing twice when hardly any weight is left: take the most popular unused."""
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
    """Insert a column into columns that ascend along each row."""
    for place, other in enumerate(ordered):
        ordered[place] = np.minimum(other, column)
        column = np.maximum(other, column)
    ordered.append(column)
