"""Random numbers by counter: what is drawn for a row depends on the seed, the stream and the row alone.

A stream is keyed by the seed and its name, a row by its stream and number, a draw by its row, its purpose and
its place. Each step is the output function of SplitMix64 over an arithmetic sequence, so a row is a
SplitMix64 generator of which any output can be asked for directly. It was chosen over Philox because it needs
only 64-bit products and shifts, which numpy computes on whole arrays; Philox needs the upper half of 128-bit
products, and numpy's own Philox gives a sequence, not the draws of a million rows side by side. SplitMix64
passes BigCrush; nothing here needs secrecy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Units = NDArray[np.float64]
Numbers = NDArray[np.int64]

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
# Places of one purpose never reach those of the next.
_STRIDE = 1 << 32


class Purpose(IntEnum):
    """What a draw decides; draws for different purposes are independent."""

    ORIGIN = 0
    TOPIC = 1
    SIZE = 2
    CHOICE = 3
    ATTRIBUTE = 4
    VALUE = 5
    CLUSTER = 6
    KIND = 7
    EXTENT = 8
    POSITION = 9
    LENGTH = 10
    MEMBER = 11
    WEIGHT = 12
    CONNECTIVE = 13
    CHILDREN = 14
    DEPTH = 15
    EARLY = 16
    WITNESS = 17
    POPULARITY = 18
    CHILD = 19


def mixed(bits: Bits) -> Bits:
    """Scramble 64-bit numbers, one to one: the output function of SplitMix64."""
    bits = bits ^ (bits >> np.uint64(30))
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


def stream(seed: int, name: str) -> int:
    """Return the key of a stream; the seed may be any int."""
    key = _scrambled(seed & _MASK)
    for letter in name.encode():
        key = _scrambled(key + _GOLDEN * (letter + 1))
    return key


def _scrambled(number: int) -> int:
    return int(mixed(np.array([number & _MASK], np.uint64))[0])


def keys(stream_key: int, numbers: Numbers) -> Bits:
    """Return the keys of numbers in a stream."""
    return mixed(np.uint64(stream_key) + np.uint64(_GOLDEN) * (numbers.astype(np.uint64) + np.uint64(1)))


def units(bits: Bits) -> Units:
    """Convert bits to uniform numbers in [0, 1), with 53 bits."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


@dataclass(frozen=True)
class Draws:
    """Draws for many keys at once."""

    keys: Bits

    def bits(self, purpose: Purpose, place: int | Numbers = 0) -> Bits:
        """Draw 64 random bits; `place` distinguishes several draws for one purpose."""
        first = purpose * _STRIDE + 1
        if isinstance(place, int):
            return mixed(self.keys + np.uint64(_GOLDEN * (first + place) & _MASK))
        return mixed(self.keys + np.uint64(_GOLDEN) * (place.astype(np.uint64) + np.uint64(first)))

    def unit(self, purpose: Purpose, place: int | Numbers = 0) -> Units:
        """Draw a uniform number in [0, 1)."""
        return units(self.bits(purpose, place))

    def below(self, bound: int | NDArray[Any], purpose: Purpose, place: int | Numbers = 0) -> Numbers:
        """Draw an integer from 0 to below the bound."""
        return (self.unit(purpose, place) * bound).astype(np.int64)

    def between(self, ends: tuple[int, int], purpose: Purpose, place: int | Numbers = 0) -> Numbers:
        """Draw an integer between two ends, both included."""
        return ends[0] + self.below(ends[1] - ends[0] + 1, purpose, place)

    def at(self, rows: Numbers, places: Numbers) -> Draws:
        """Return the draws of children: each has a parent row and a place in it."""
        return Draws(Draws(self.keys[rows]).bits(Purpose.CHILD, places))
