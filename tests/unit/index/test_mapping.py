"""The index as a mutable mapping, and several changes at once."""

from __future__ import annotations

import collections
import random
import threading
import types
import warnings
from typing import Any

import pytest

import tamis
from tamis import Index

ENGINES = ["compiled", "scan", "pst_bloom", "a_tree", "be_star_tree", "bdd"]


@pytest.fixture(params=ENGINES)
def index(request: pytest.FixtureRequest) -> Index:
    index = Index(engine=request.param)
    index.add_many({"a": "x > 1", "b": "x > 2", "c": "x > 3"})
    return index


def texts(index: Index) -> dict[Any, str]:
    return {id: str(expression) for id, expression in index.items()}


def test_assignment_adds_or_replaces_and_keeps_the_position(index: Index) -> None:
    index["b"] = "x > 9"
    index["d"] = "x > 4"
    index.upsert("a", "x > 8")
    assert texts(index) == {"a": "x > 8", "b": "x > 9", "c": "x > 3", "d": "x > 4"}
    assert list(texts(index)) == ["a", "b", "c", "d"] == index.keys()
    assert index.match({"x": 9}) == ["a", "c", "d"]
    index.validate()


def test_deletion(index: Index) -> None:
    del index["b"]
    with pytest.raises(tamis.UnknownId):
        del index["b"]
    assert index.match({"x": 9}) == ["a", "c"]
    assert [str(expression) for expression in index.values()] == ["x > 1", "x > 3"]


def test_get_gives_a_default(index: Index) -> None:
    assert str(index.get("a")) == "x > 1"
    assert index.get("z") is None
    assert index.get("z", "none") == "none"
    assert index.get(1.5) is None  # type: ignore[arg-type]


def test_remove_many_removes_all_or_none(index: Index) -> None:
    with pytest.raises(tamis.UnknownId, match="row 1") as caught:
        index.remove_many(["a", "z", "b"])
    assert (caught.value.id, caught.value.row) == ("z", 1)
    with pytest.raises(tamis.UnknownId, match="row 1"):
        index.remove_many(["a", "a"])
    assert len(index) == 3
    index.remove_many(["c", "a"])
    assert index.match({"x": 9}) == ["b"]
    index.clear()
    assert (len(index), index.match({"x": 9})) == (0, [])
    index.validate()


def test_upsert_many_takes_the_last_of_an_id_or_nothing(index: Index) -> None:
    index.upsert_many([("d", "x > 4"), ("a", "x > 7"), ("d", "x > 5")])
    assert texts(index) == {"a": "x > 7", "b": "x > 2", "c": "x > 3", "d": "x > 5"}
    with pytest.raises(tamis.ParseError, match="row 1"):
        index.upsert_many({"a": "y = 1", "e": "y ="})
    with pytest.raises(tamis.InvalidId, match="row 1"):
        index.upsert_many([("a", "y = 1"), (None, "y = 2")])
    assert texts(index) == {"a": "x > 7", "b": "x > 2", "c": "x > 3", "d": "x > 5"}
    assert index.attributes() == frozenset({"x"})
    index.validate()


def test_a_batch_is_made_when_its_block_ends(index: Index) -> None:
    with index.batch() as batch:
        index.remove("a")
        index.add("a", "x > 5")
        index["b"] = "x > 6"
        del index["c"]
        index.add_many({"d": "x > 7"})
        batch.replace("d", "x > 8")
        batch["e"] = "x > 9"
        assert len(batch) == 7
        assert texts(index) == {"a": "x > 1", "b": "x > 2", "c": "x > 3"}
    # Removed and added again: at the end.
    assert list(texts(index).items()) == [("b", "x > 6"), ("a", "x > 5"), ("d", "x > 8"), ("e", "x > 9")]
    assert index.match({"x": 9}) == ["b", "a", "d"]
    assert list(index.match_many([{"x": 9}], ordered=True)) == [["b", "a", "d"]]
    index.validate()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda batch: batch.add("b", "x > 1"), tamis.DuplicateId),
        (lambda batch: batch.replace("z", "x > 1"), tamis.UnknownId),
        (lambda batch: batch.remove("z"), tamis.UnknownId),
        (lambda batch: batch.add("z", "x >"), tamis.ParseError),
        (lambda batch: batch.add(1.5, "x > 1"), tamis.InvalidId),
        (lambda batch: 1 / 0, ZeroDivisionError),
    ],
)
def test_a_batch_that_fails_has_done_nothing(index: Index, change: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught, index.batch() as batch:
        batch.replace("a", "y > 5")
        batch.remove("c")
        change(batch)
    if isinstance(caught.value, tamis.DuplicateId | tamis.UnknownId | tamis.InvalidId):
        assert caught.value.row == 2 and str(caught.value).startswith("row 2: ")
    assert texts(index) == {"a": "x > 1", "b": "x > 2", "c": "x > 3"}
    assert index.attributes() == frozenset({"x"})
    # The batch is closed: changes are made at once again.
    index.add("d", "x > 4")
    assert index.match({"x": 9}) == ["a", "b", "c", "d"]
    index.validate()


def test_an_engine_that_refuses_an_expression_leaves_all_of_a_batch_out() -> None:
    index = Index(engine="pst_bloom", limits=tamis.Limits(max_dnf=4))
    index.add_many({"a": "x > 1", "b": "x > 2"})
    big = " and ".join(f"(p{n} = 1 or q{n} = 2)" for n in range(4))
    with pytest.raises(tamis.TooComplex, match="row 3"), index.batch():
        index.replace("a", "y = 1")
        index.remove("b")
        index.add("c", "z = 1")
        index.add("d", big)
    assert texts(index) == {"a": "x > 1", "b": "x > 2"}
    assert index.match({"x": 5, "y": 1, "z": 1}) == ["a", "b"]
    assert index.attributes() == frozenset({"x"})
    index.validate()


def test_batches_do_not_nest_and_belong_to_a_thread(index: Index) -> None:
    with index.batch():
        index.remove("a")
        with pytest.raises(RuntimeError, match="open already"), index.batch():
            pass
        thread = threading.Thread(target=lambda: index.add("d", "x > 4"))
        thread.start()
        thread.join()
        assert list(index) == ["a", "b", "c", "d"]
    assert list(index) == ["b", "c", "d"]


def test_readers_see_all_of_a_batch_or_none() -> None:
    index = Index()
    index.add_many(dict.fromkeys(range(10), "x = 1"))
    seen: set[int] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(len(index.match({"x": 1})))

    reader = threading.Thread(target=read)
    reader.start()
    for value in (2, 1) * 200:
        with index.batch():
            for n in range(10):
                index[n] = f"x = {value}"
    done.set()
    reader.join()
    assert seen <= {0, 10} and seen


def test_a_rule_that_never_matches_warns_and_as_an_error_changes_nothing(index: Index) -> None:
    with pytest.warns(tamis.NeverMatchesWarning, match="'b'"):
        index["b"] = "x > 3 and x < 2"
    assert index.match({"x": 9}) == ["a", "c"]
    before = texts(index)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tamis.NeverMatchesWarning)
        with pytest.raises(tamis.NeverMatchesWarning):
            index.upsert_many({"a": "x > 3 and x < 2", "z": "x = 1"})
        with pytest.raises(tamis.NeverMatchesWarning), index.batch() as batch:
            batch.remove("a")
            batch.add("y", "x > 3 and x < 2")
    assert texts(index) == before


def test_large_batches_become_segments() -> None:
    index = Index(engine="compiled")
    index.add_many({n: f"x = {n}" for n in range(3000)})
    with index.batch():
        for n in range(0, 3000, 2):
            index[n] = f"y = {n}"
        for n in range(3000, 4000):
            index.add(n, f"y = {n % 7}")
        index.remove_many(range(1, 100, 2))
    index.validate()
    assert index.keys() == [n for n in range(4000) if n % 2 == 0 or n >= 100]
    assert index.match({"x": 301, "y": 4})[:3] == [4, 301, 3000 + (4 - 3000) % 7]


@pytest.mark.parametrize("engine", ENGINES)
def test_random_batches_equal_single_changes(engine: str) -> None:
    rng = random.Random(f"batches {engine}")
    batched, single = Index(engine=engine), Index(engine="scan")
    for _ in range(60):
        changes = []
        present = set(single)
        for _ in range(rng.randrange(12)):
            id, text = rng.randrange(20), f"x = {rng.randrange(5)} or y > {rng.randrange(9)}"
            kind = rng.choice(["remove", "replace", "upsert"] if id in present else ["add", "upsert"])
            present = present - {id} if kind == "remove" else present | {id}
            changes.append((kind, (id,) if kind == "remove" else (id, text)))
        with batched.batch() as batch:
            for kind, arguments in changes:
                getattr(batch, kind)(*arguments)
        for kind, arguments in changes:
            getattr(single, kind)(*arguments)
        batched.validate()
        assert list(texts(batched).items()) == list(texts(single).items())
        events = [{"x": rng.randrange(5), "y": rng.randrange(9)} for _ in range(5)]
        assert [batched.match(event) for event in events] == [single.match(event) for event in events]


def named_tables() -> dict[str, Any]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {"rule": ["a", "b"], "when": ["x > 1", "x > 2"], "owner": ["me", "you"]}
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "records": records,
        "mappings": [types.MappingProxyType(record) for record in records],
        "arrow": pa.table(columns),
        "reader": pa.table(columns).to_reader(),
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
    }


@pytest.mark.parametrize("name", ["records", "mappings", "arrow", "reader", "pandas", "polars"])
@pytest.mark.parametrize("method", ["add_many", "upsert_many", "batch"])
def test_tables_with_named_columns(name: str, method: str) -> None:
    index = Index()
    names = {"id_column": "rule", "expression_column": "when"}
    if method == "batch":
        with index.batch():
            index.add_many(named_tables()[name], **names)
    else:
        getattr(index, method)(named_tables()[name], **names)
    assert texts(index) == {"a": "x > 1", "b": "x > 2"}


@pytest.mark.parametrize("name", ["records", "arrow", "pandas", "polars"])
def test_a_missing_column_is_named_with_those_there_are(name: str) -> None:
    with pytest.raises((KeyError, tamis.ParseError)) as caught:
        Index().add_many(named_tables()[name], id_column="rule")
    assert "'expression'" in str(caught.value).replace('"', "'")
    assert "'when'" in str(caught.value).replace('"', "'") and "expression_column=" in str(caught.value)


def test_any_mapping_is_taken() -> None:
    index = Index()
    index.add_many(types.MappingProxyType({"a": "x > 1"}))
    index.add_many(collections.ChainMap({"b": "x > 2"}, {"c": "x > 3"}))
    assert set(index) == {"a", "b", "c"}
    with pytest.raises(TypeError, match="row 0: a rule is a pair"):
        index.add_many(["x"])
