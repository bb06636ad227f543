"""The best matches of one event: scores, ties, weights."""

from __future__ import annotations

import pytest
from tests.unit.index.filled import index_of

import tamis

EVENT = {"a": 5}


def test_top_k_orders_by_score_then_insertion() -> None:
    index = index_of(
        one="a > 1",
        heavy="a > 1 ^ 3",
        two="a > 1 and b > 1",
        never="a > 9 ^ 100",
        tie="a > 2 ^ 2",
        none="a > 1 ^ 0",
    )
    event = {"a": 5, "b": 2}
    expected = [("heavy", 3.0), ("two", 2.0), ("tie", 2.0), ("one", 1.0), ("none", 0.0)]
    assert index.top_k(event) == expected
    assert [index.top_k(event, k=k) for k in range(7)] == [expected[:k] for k in range(7)]
    assert index.top_k(event, k=2, weights={"a": 0.25, "unused": 7}) == [("two", 1.25), ("heavy", 0.75)]


def test_a_replacement_keeps_its_place_among_ties() -> None:
    index = index_of(x="a > 1", y="a > 1")
    index.replace("x", "a > 2")
    assert index.top_k(EVENT) == [("x", 1.0), ("y", 1.0)]


def test_scores_count_predicates_under_their_nots() -> None:
    index = index_of(x="not (a > 9 ^ 2 or b = 1 ^ 4)", y="a > 1 ^ 8 or b = 1 ^ 16")
    assert index.top_k({"a": 5, "b": 0}) == [("y", 8.0), ("x", 6.0)]


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0])
def test_event_weights_are_finite_and_not_negative(weight: float) -> None:
    with pytest.raises(tamis.EventError, match="not finite and >= 0") as caught:
        index_of(x="a > 1").top_k(EVENT, weights={"a": weight})
    assert caught.value.attribute == "a"
