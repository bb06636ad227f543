"""Replacing and removing rules, and the order of insertion."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from tests.unit.index.filled import index_of

import tamis
from tamis import Index, parse

EVENT = {"a": 5}


def test_insertion_order_survives_removal_and_replacement() -> None:
    index = Index()
    index.add_many([(id, "a > 1") for id in range(6)])
    index.remove(2)
    index.remove(0)
    index.add(0, "a > 1")
    index.replace(4, "a > 2")
    index.add("last", "TRUE")
    assert list(index) == [1, 3, 4, 5, 0, "last"]
    assert index.match(EVENT) == [1, 3, 4, 5, 0, "last"]
    assert list(index.match_many([EVENT, EVENT], ordered=True)) == [index.match(EVENT)] * 2
    index.validate()


def test_replace_changes_what_matches_and_nothing_else() -> None:
    index = index_of(x="a > 1", y="a > 1")
    index.replace("x", "b > 1")
    assert (index.match(EVENT), index.match({"b": 2}), str(index["x"])) == (["y"], ["x"], "b > 1")
    with pytest.raises(tamis.UnknownId):
        index.replace("z", "a > 1")
    assert list(index) == ["x", "y"]


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.permutations(["a > 1", "TRUE", "a > 3 and a < 1"], 2))
)
@pytest.mark.filterwarnings("ignore::tamis.NeverMatchesWarning")
def test_replace_between_always_never_and_sometimes(first: str, second: str) -> None:
    index = index_of(x=first)
    index.replace("x", second)
    assert index.match(EVENT) == (["x"] if parse(second).evaluate(EVENT) else [])
    index.validate()


def test_unknown_ids() -> None:
    index = index_of(x="a > 1")
    for use in (
        lambda: index.remove("y"),
        lambda: index["y"],
        lambda: index.explain("y", {}),
        lambda: index.replace("y", "a"),
    ):
        with pytest.raises(tamis.UnknownId) as caught:
            use()
        assert caught.value.id == "y"
        assert str(caught.value) == "id 'y' is not in the index"


def test_iteration_is_of_one_state() -> None:
    index = index_of(x="a", y="a")
    ids = iter(index)
    index.remove("x")
    assert list(ids) == ["x", "y"]


def test_an_expression_that_never_matches_is_added_with_a_warning() -> None:
    index = Index()
    with pytest.warns(tamis.NeverMatchesWarning, match="the expression of 'x'") as caught:
        index.add("x", "a > 3 and a < 1")
    assert caught[0].filename == __file__
    with pytest.warns(tamis.NeverMatchesWarning, match="'b1', 'b2', 'b3', 'b4', 'b5' and 2 more"):
        index.add_many({f"b{i}": "FALSE" for i in range(1, 8)})
    with pytest.warns(tamis.NeverMatchesWarning, match="row 1"):
        index.add_many(pa.table({"id": [1, 2], "expression": ["a", "FALSE"]}))
    with pytest.warns(tamis.NeverMatchesWarning):
        index.replace(1, "FALSE")
    assert len(index) == 10
    assert index.match(EVENT) == []
