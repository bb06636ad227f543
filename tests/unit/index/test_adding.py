"""Adding rules: every form that add_many takes, ids, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from tests.unit.index.filled import index_of

import tamis
from tamis import Index, attr, parse

EVENT = {"a": 5}


IDS = ["one", "two"]
TEXTS = ["a > 1", "a > 9"]
FORMS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "side by side": lambda: (IDS, TEXTS),
    "iterators": lambda: (iter(IDS), (text for text in TEXTS)),
    "expressions": lambda: (IDS, [parse(text) for text in TEXTS]),
    "pairs": lambda: (list(zip(IDS, TEXTS, strict=True)),),
    "pairs from an iterator": lambda: (zip(IDS, TEXTS, strict=True),),
    "pairs as lists": lambda: ([["one", "a > 1"], ["two", parse("a > 9")]],),
    "mapping": lambda: (dict(zip(IDS, TEXTS, strict=True)),),
    "pyarrow table": lambda: (pa.table({"id": IDS, "expression": TEXTS}),),
    "pyarrow batch": lambda: (pa.record_batch({"expression": TEXTS, "id": IDS, "more": [1, 2]}),),
    "pyarrow chunks": lambda: (
        pa.concat_tables([pa.table({"id": [i], "expression": [t]}) for i, t in zip(IDS, TEXTS, strict=True)]),
    ),
    "pyarrow reader": lambda: (pa.table({"id": IDS, "expression": TEXTS}).to_reader(),),
    "pyarrow views": lambda: (
        pa.table({"id": pa.array(IDS, pa.string_view()), "expression": pa.array(TEXTS, pa.large_string())}),
    ),
    "polars": lambda: (pl.DataFrame({"id": IDS, "expression": TEXTS}),),
    "duckdb": lambda: (
        duckdb.connect().sql("SELECT * FROM (VALUES ('one', 'a > 1'), ('two', 'a > 9')) t(id, expression)"),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_add_many_takes(form: str) -> None:
    index = Index()
    index.add_many(*FORMS[form]())
    assert list(index) == IDS
    assert [str(index[id]) for id in IDS] == TEXTS
    assert index.match(EVENT) == ["one"]
    index.validate()


def test_add_many_takes_nothing() -> None:
    index = Index()
    index.add_many([])
    index.add_many([], [])
    index.add_many({})
    index.add_many(pa.table({"id": pa.array([], pa.int64()), "expression": pa.array([], pa.string())}))
    assert (len(index), index.match({})) == (0, [])


@pytest.mark.parametrize("type", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_arrow_ids_of_every_integer_type(type: str) -> None:
    index = Index()
    index.add_many(pa.table({"id": pa.array([7, 3], getattr(pa, type)()), "expression": TEXTS}))
    assert list(index) == [7, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], ["a"]), "2 ids, but 1 expressions"),
        (([1], "a"), "one str"),
        (([(1, "a"), (2,)],), "row 1: a rule is a pair"),
        (([1, 2],), "row 0: a rule is a pair"),
        ((5,), "not iterable"),
    ],
)
def test_add_many_refuses(arguments: tuple[Any, ...], message: str) -> None:
    index = Index()
    with pytest.raises((TypeError, ValueError), match=message):
        index.add_many(*arguments)
    assert len(index) == 0


def test_an_attribute_alone_is_no_expression_of_its_own() -> None:
    index = Index()
    with pytest.raises(tamis.ParseError, match="a str or an Expression, not Attribute"):
        index.add(1, attr("a"))  # type: ignore[arg-type]
    index.add(1, attr("a").is_true())
    assert index.match({"a": True}) == [1]


def test_ids_are_strings_and_integers_and_stay_apart() -> None:
    index = Index()
    ids = [1, "1", -(2**63), 2**63 - 1, "", "é\U0001f600", 0]
    index.add_many([(id, "a > 1") for id in ids])
    assert index.match(EVENT) == ids
    assert list(index.match_many([EVENT], ordered=True)) == [ids]
    assert [type(id) for id in index] == [type(id) for id in ids]
    # Where both kinds occur, Arrow gets text.
    assert index.match_arrow(pa.table({"a": [5]}), ordered=True)["id"].to_pylist() == [str(id) for id in ids]
    index.remove(1)
    assert (1 in index, "1" in index) == (False, True)


def test_integers_of_numpy_are_ids() -> None:
    index = Index()
    index.add(np.int64(7), "a > 1")  # type: ignore[arg-type]
    assert (np.int64(7) in index, 7 in index, index.match(EVENT)) == (True, True, [7])


@pytest.mark.parametrize(
    "id", [None, 1.5, True, b"x", (1,), 2**63, -(2**63) - 1, "\ud800", np.float64(1), np.True_]
)
def test_other_ids_are_refused(id: Any) -> None:
    index = index_of(x="a > 1")
    for use in (
        lambda: index.add(id, "a"),
        lambda: index.replace(id, "a"),
        lambda: index.remove(id),
        lambda: index[id],
    ):
        with pytest.raises(tamis.InvalidId):
            use()
    with pytest.raises(tamis.InvalidId, match="row 1") as caught:
        index.add_many([2, id], ["a", "a"])
    assert caught.value.row == 1
    assert id not in index
    assert list(index) == ["x"]


def test_an_id_exists_once() -> None:
    index = index_of(x="a > 1")
    with pytest.raises(tamis.DuplicateId, match="'x'") as caught:
        index.add("x", "a > 2")
    assert (caught.value.id, caught.value.row) == ("x", None)
    assert str(index["x"]) == "a > 1"


@pytest.mark.filterwarnings("error::tamis.NeverMatchesWarning")
@pytest.mark.parametrize("engine", ["compiled", "scan"])
def test_where_warnings_are_errors_a_rule_that_never_matches_is_not_added(engine: str) -> None:
    never = "a = 1 and a = 2"
    index = Index(engine=engine)
    index.add_many({"x": "a = 1", "y": "a = 2"})

    def is_unchanged() -> bool:
        index.validate()
        return list(index) == ["x", "y"] and index.match({"a": 1}) == ["x"]

    with pytest.raises(tamis.NeverMatchesWarning):
        index.add("z", never)
    assert is_unchanged()
    with pytest.raises(tamis.NeverMatchesWarning):
        index.replace("x", never)
    assert is_unchanged() and str(index["x"]) == "a = 1"
    rows = {"id": ["p", "q"], "expression": ["a = 1", never]}
    forms: list[Any] = [
        dict(zip(rows["id"], rows["expression"], strict=True)),
        pa.table(rows),
        pa.table(rows).to_reader(),
        pl.DataFrame(rows),
    ]
    for form in forms:
        with pytest.raises(tamis.NeverMatchesWarning):
            index.add_many(form)
        assert is_unchanged()
