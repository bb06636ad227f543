"""Ids chosen to collide in a hash table: adding and finding them takes no longer than other ids.

None of this asserts a time. With a known hash function, 40,000 such ids take 800 million comparisons to add.
"""

from __future__ import annotations

import pytest

import tamis
from tamis import Index

ENGINES = [engine.name for engine in tamis.engines() if engine.exact]
COUNT = 40_000
MASK = 2**64 - 1


def signed(number: int) -> int:
    number &= MASK
    return number - 2**64 if number >= 2**63 else number


def fx_collisions() -> list[int]:
    """Integers whose product with the multiplier of FxHash has zeros in all bits that choose a bucket."""
    inverse = pow(0xF1357AEA2E62A9C5, -1, 2**64)
    return [signed(inverse * n) for n in range(COUNT)]


def splitmix_collisions() -> list[int]:
    """Integers that the finalizer of splitmix64 maps to multiples of 2**32."""

    def unmixed(hash: int) -> int:
        hash ^= (hash >> 31) ^ (hash >> 62)
        hash = hash * pow(0x94D049BB133111EB, -1, 2**64) & MASK
        hash ^= (hash >> 27) ^ (hash >> 54)
        hash = hash * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK
        return hash ^ (hash >> 30) ^ (hash >> 60)

    return [signed(unmixed(n << 32)) for n in range(COUNT)]


@pytest.mark.parametrize("ids", [fx_collisions(), splitmix_collisions()], ids=["FxHash", "splitmix64"])
@pytest.mark.parametrize("engine", ENGINES)
def test_colliding_integers(engine: str, ids: list[int]) -> None:
    index = Index(engine=engine)
    index.add_many(ids, [f"a = {n % 1000}" for n in range(COUNT)])
    assert all(id in index for id in ids)
    assert index.match({"a": 3}) == ids[3::1000]
    with pytest.raises(tamis.DuplicateId):
        index.add(ids[-1], "a = 1")
    for id in ids[:100]:
        index.remove(id)
    assert len(index) == COUNT - 100
    index.validate()


@pytest.mark.parametrize("engine", ENGINES)
def test_colliding_values(engine: str) -> None:
    values = fx_collisions()
    index = Index(engine=engine)
    index.add_many(list(range(COUNT)), [f"a = {value}" for value in values])
    assert index.match({"a": values[77]}) == [77]
