"""The best matches with at most some of each group."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pyarrow as pa
import pytest

from tamis import Groups, Index, InvalidId, engines
from tamis.results import Id

ENGINES = [engine.name for engine in engines()]


def cut(ranked: list[tuple[Id, float]], k: int, groups: Groups, per_group: int) -> list[tuple[Id, float]]:
    """Take the first of a sorted list, at most some of each group."""
    kept: list[tuple[Id, float]] = []
    counts: dict[object, int] = {}
    for id, score in ranked:
        group = (groups[id],) if id in groups else ("alone", id)
        if counts.setdefault(group, 0) < per_group and len(kept) < k:
            counts[group] += 1
            kept.append((id, score))
    return kept


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_are_those_of_ranking_all_and_cutting(engine: str, random_seed: int) -> None:
    draw = random.Random(random_seed)
    index = Index(engine=engine)
    rules: dict[Id, str] = {}
    for id in range(600):
        weight = draw.choice([0, 1, 1.5, draw.random()])
        rules[id] = f"a <= {draw.randrange(9)} ^ {weight} and b >= {draw.randrange(9)}"
    index.add_many(rules)
    groups = Groups((id, f"campaign {id % 11}") for id in range(600) if id % 5)
    events = [{"a": draw.randrange(9), "b": draw.randrange(9)} for _ in range(20)]
    for k, per_group in [(1, 1), (4, 1), (30, 1), (7, 2), (1_000, 3)]:
        expected = [cut(index.top_k(event, k=len(rules)), k, groups, per_group) for event in events]
        limits: dict[str, Any] = {"group_by": groups, "per_group": per_group}
        assert [index.top_k(event, k, **limits) for event in events] == expected
        assert list(index.top_k_many(events, k, **limits)) == expected
        assert list(index.top_k_json_many([json.dumps(event) for event in events], k, **limits)) == expected
        table = pa.Table.from_pylist(events)
        assert list(index.top_k_batches(table, k, **limits)) == expected
        assert index.top_k_arrow(table, k, **limits).num_rows == sum(map(len, expected))


def test_groups_are_a_mapping_that_pickles() -> None:
    pairs: dict[Id, Id] = {"ad-1": "summer", 2: 7}
    groups = Groups(pairs)
    for copy in (groups, pickle.loads(pickle.dumps(groups))):
        assert (len(copy), copy["ad-1"], copy[2], "ad-2" in copy) == (2, "summer", 7, False)
        with pytest.raises(KeyError):
            copy["ad-2"]
    assert repr(groups) == "<tamis.Groups of 2 ids>"


def test_what_is_no_group_is_refused_by_name() -> None:
    with pytest.raises(InvalidId, match="row 1"):
        Groups([("a", "b"), ("c", 1.5)])  # type: ignore[list-item]
    index = Index()
    with pytest.raises(TypeError, match=r"group_by is a tamis\.Groups, not dict"):
        index.top_k({}, group_by={"a": "b"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="per_group is 0"):
        index.top_k({}, per_group=0)
