"""The index as a collection: what goes in, what comes out, in which order."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import tamis
from tamis import Index, attr, parse

EVENT = {"a": 5}


def index_of(**expressions: str) -> Index:
    index = Index()
    index.add_many(expressions)
    return index


# --- adding -----------------------------------------------------------------------------------------

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
        (([(1, "a"), (2,)],), "row 1: add_many takes pairs"),
        (([1, 2],), "row 0: add_many takes pairs"),
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


# --- changing ---------------------------------------------------------------------------------------


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


# --- matching many ----------------------------------------------------------------------------------


def test_matches_is_a_sequence_of_lists() -> None:
    index = index_of(x="a > 1", y="a > 3")
    matches = index.match_many(iter([{"a": 2}, {}, {"a": 4}]), ordered=True)
    assert matches == [["x"], [], ["x", "y"]]
    assert (len(matches), matches[-1], matches[1:], matches[0]) == (
        3,
        ["x", "y"],
        [[], ["x", "y"]],
        ["x"],
    )
    assert (["x"] in matches, matches.index([]), next(reversed(matches))) == (True, 1, ["x", "y"])
    assert repr(matches) == "Matches(3 events, 3 matches)"
    assert matches != [["x"]]
    assert matches != "x"
    for outside in (3, -4):
        with pytest.raises(IndexError):
            matches[outside]
    with pytest.raises(TypeError):
        hash(matches)


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_threads_change_nothing(threads: int | None) -> None:
    index = Index()
    index.add_many([(n, f"a >= {n}") for n in range(50)])
    events = [{"a": n % 60} for n in range(1000)]
    expected = [index.match(event) for event in events]
    assert index.match_many(events, threads=threads, ordered=True) == expected
    lines = "\n".join(f'{{"a": {event["a"]}}}' for event in events)
    assert index.match_json_many(lines, threads=threads, ordered=True) == expected
    table = index.match_arrow(
        pa.table({"a": [event["a"] for event in events]}), threads=threads, ordered=True
    )
    assert table["event"].to_pylist() == [row for row, ids in enumerate(expected) for _ in ids]
    assert table["id"].to_pylist() == [id for ids in expected for id in ids]


def test_threads_and_k_must_make_sense() -> None:
    index = Index()
    with pytest.raises(ValueError, match="threads is 0"):
        index.match_many([], threads=0)
    with pytest.raises(ValueError, match="k is -1"):
        index.top_k({}, k=-1)


def test_json() -> None:
    index = index_of(x="a > 1", y="n.t = 'é'")
    assert index.match_json('{"a": 2, "n": {"t": "\\u00e9"}}') == ["x", "y"]
    assert index.match_json(b'{"a": 2}') == ["x"]
    assert index.match_json_many(b'{"a": 2}\n\n  \n{"a": 0}\r\n') == [["x"], []]
    assert index.match_json_many(['{"a": 2}', b"{}"]) == [["x"], []]
    assert index.match_json_many(iter([])) == []


# --- scores -----------------------------------------------------------------------------------------


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


# --- figures, files ---------------------------------------------------------------------------------


def test_explain_follows_the_index_about_missing_values() -> None:
    index = Index(missing="false")
    index.add(1, "not a > 1 and b = 2")
    explanation = index.explain(1, {"b": 2})
    assert explanation.truth == "TRUE"
    assert [(node.text, node.truth, node.value) for node in explanation.predicates()] == [
        ("a > 1", "FALSE", "missing"),
        ("b = 2", "TRUE", "2"),
    ]


def test_stats_and_memory() -> None:
    index = index_of(x="a > 1 and n.b = 'x'", y="a > 2")
    stats = index.stats()
    assert (stats["engine"], stats["missing"]) == (index.engine, "unknown")
    assert (stats["subscriptions"], stats["attributes"]) == (2, 2)
    memory = index.memory_usage()
    assert memory["total"] == sum(size for part, size in memory.items() if part != "total") > 0
    index.add("z", "a in (" + ", ".join(map(str, range(0, 20_000, 2))) + ")")
    assert index.memory_usage()["total"] > memory["total"] + 20_000


@pytest.mark.parametrize("engine", [engine.name for engine in tamis.engines()])
def test_attributes(engine: str, tmp_path: Path) -> None:
    index = Index(engine=engine)
    assert index.attributes() == frozenset()
    index.add_many({1: "a = 1 and n.b > 2", 2: "any(c) = 'x' or not a > 3", 3: "true"})
    assert index.attributes() == {"a", "n.b", "c"}
    index.replace(1, "d = 1")
    index.remove(2)
    # Every attribute in use is named; those of what is gone may be.
    assert {"d"} <= index.attributes() <= {"a", "n.b", "c", "d"}
    index.save(tmp_path / "index")
    assert {"d"} <= Index.load(tmp_path / "index").attributes() <= {"a", "n.b", "c", "d"}


def test_properties_and_repr() -> None:
    limits = tamis.Limits(max_depth=7)
    index = Index(missing="false", limits=limits)
    assert (index.missing, index.limits, index.options) == ("false", limits, {})
    assert index.engine in [engine.name for engine in tamis.engines()]
    assert repr(index) == f"Index(0 expressions, engine={index.engine!r})"


@pytest.mark.parametrize(
    "arguments",
    [
        {"engine": "nope"},
        {"missing": "maybe"},
        {"options": {"nope": 1}},
        {"options": {"nope": None}},
        {"limits": tamis.Limits(max_depth=1001)},
    ],
)
def test_unknown_settings_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(tamis.OptionError):
        Index(**arguments)


@pytest.mark.parametrize("value", [0, -1, 2**63, 1.5, True, "9"])
def test_limits_are_positive_integers(value: Any) -> None:
    with pytest.raises(tamis.OptionError, match="max_length"):
        tamis.Limits(max_length=value)


@pytest.mark.parametrize("through", ["file", "pickle", "copy", "deepcopy"])
@pytest.mark.filterwarnings("ignore::tamis.NeverMatchesWarning")
def test_an_index_survives(through: str, tmp_path: Path) -> None:
    index = Index(missing="false", limits=tamis.Limits(max_depth=50))
    index.add_many({"x": "a > 1 ^ 0.5", 7: "TRUE", "never": "FALSE", "é": r"t like '%\_''%'"})
    index.remove("x")
    index.add("x", attr("n").any() == 3)
    match through:
        case "file":
            index.save(tmp_path / "index.tamis")
            again = Index.load(str(tmp_path / "index.tamis"))
            assert [path.name for path in tmp_path.iterdir()] == ["index.tamis"]
        case "pickle":
            again = pickle.loads(pickle.dumps(index))
        case "copy":
            again = copy.copy(index)
        case _:
            again = copy.deepcopy(index)
    assert list(again) == list(index) == [7, "never", "é", "x"]
    assert [again[id] for id in again] == [index[id] for id in index]
    assert (again.missing, again.limits, again.engine) == (index.missing, index.limits, index.engine)
    event = {"n": [1, 3], "t": "a_'b"}
    assert again.match(event) == index.match(event) == [7, "é", "x"]
    again.add("new", "a")
    assert "new" not in index


def test_save_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "index.tamis"
    index_of(x="a > 1").save(path)
    index_of(y="a > 1").save(path)
    assert list(Index.load(path)) == ["y"]


def test_engines_describe_themselves() -> None:
    engines = tamis.engines()
    assert len({engine.name for engine in engines}) == len(engines)
    assert all(engine.name and engine.description and engine.takes for engine in engines)
    for engine in engines:
        assert Index(engine=engine.name).engine == engine.name
