"""The best matches of many events at once: those that `top_k` finds for each."""

from __future__ import annotations

import json
import random
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import tamis
from tamis import Index, RankedMatches

ATTRIBUTES = ["a", "b", "c", "n.d"]
# What Arrow makes of the events below; "n.d" lies in a struct.
SCHEMA = pa.schema(
    [("a", pa.int64()), ("b", pa.int64()), ("c", pa.string()), ("n", pa.struct({"d": pa.float64()}))]
)


def expression(draw: random.Random, depth: int = 3) -> str:
    if depth == 0 or draw.random() < 0.3:
        weight = draw.choice(["", "", " ^ 0", " ^ 2.5", " ^ 0.1"])
        return draw.choice(["", "", "not "]) + (
            draw.choice(
                [
                    f"a > {draw.randrange(9)}",
                    f"b between {draw.randrange(5)} and {draw.randrange(4, 9)}",
                    f"c in ('x', '{draw.choice('xyz')}')",
                    f"c like '{draw.choice('xyz')}%'",
                    f"n.d <= {draw.randrange(9)}.5",
                    "b is null",
                ]
            )
            + weight
        )
    connective = draw.choice([" and ", " and ", " or ", " or ", " xor "])
    return connective.join(f"({expression(draw, depth - 1)})" for _ in range(draw.randrange(2, 4)))


def event(draw: random.Random) -> dict[str, Any]:
    drawn: dict[str, Any] = {
        "a": draw.randrange(10),
        "b": draw.choice([None, draw.randrange(10)]),
        "c": draw.choice("xyz"),
        "n": draw.choice([None, {"d": draw.randrange(10) / 2}]),
    }
    return {name: value for name, value in drawn.items() if draw.random() < 0.8}


def weights(draw: random.Random) -> dict[str, float] | None:
    some = {name: draw.choice([0.0, 0.5, 3.0]) for name in ATTRIBUTES if draw.random() < 0.4}
    return draw.choice([None, {}, some, some, {**some, "unused": 7.0}])


@pytest.fixture(params=["compiled", "a_tree", "scan"])
def index(request: pytest.FixtureRequest, draw: random.Random) -> Index:
    """Subscriptions of which some were removed and some replaced."""
    index = Index(engine=request.param)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
        index.add_many({n: expression(draw) for n in range(400)})
        for n in draw.sample(range(400), 60):
            index.remove(n)
        for id in draw.sample(list(index), 60):
            index.replace(id, expression(draw))
    return index


@pytest.fixture
def draw(random_seed: int) -> random.Random:
    return random.Random(random_seed)


def rows(table: pa.Table, events: int) -> list[list[tuple[Any, float]]]:
    """The columns of a table, event by event."""
    each: list[list[tuple[Any, float]]] = [[] for _ in range(events)]
    for row in table.to_pylist():
        each[row["event"]].append((row["id"], row["score"]))
    return each


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("k", [0, 1, 4, 10_000])
def test_many_are_one_by_one(index: Index, draw: random.Random, k: int, threads: int) -> None:
    events = [event(draw) for _ in range(300)]
    texts = [json.dumps(given) for given in events]
    table = pa.Table.from_pylist(events, SCHEMA)
    for given in (None, {"a": 0.5, "n.d": 2.0}, [weights(draw) for _ in events]):
        each = given if isinstance(given, list) else [given] * len(events)
        expected = [index.top_k(event, k, weight) for event, weight in zip(events, each, strict=True)]
        assert index.top_k_many(events, k, given, threads) == expected
        assert index.top_k_json_many(texts, k, given, threads) == expected
        assert index.top_k_json_many("\n".join(texts), k, given, threads) == expected
        assert rows(index.top_k_arrow(table, k, given, threads), len(events)) == expected
        # In batches, so that weights have to be found by the number of the row.
        assert rows(index.top_k_arrow(pl.from_arrow(table), k, given, threads), len(events)) == expected
    assert k == 0 or sum(map(len, expected)) > 200


def test_what_comes_back() -> None:
    index = Index()
    index.add_many({"x": "a > 0", 2: "a > 5 ^ 3"})
    ranked = index.top_k_many(iter([{"a": 1}, {"a": 6}, {}]))
    assert isinstance(ranked, RankedMatches)
    assert repr(ranked) == "RankedMatches(3 events, 3 matches)"
    assert list(ranked) == [[("x", 1.0)], [(2, 3.0), ("x", 1.0)], []] == ranked
    assert ranked != [[]] and ranked != "nothing"
    assert ranked[-2] == [(2, 3.0), ("x", 1.0)]
    assert ranked[1:] == [[(2, 3.0), ("x", 1.0)], []]
    with pytest.raises(IndexError):
        ranked[3]
    with pytest.raises(TypeError):
        hash(ranked)
    assert np.asarray(ranked.offsets).tolist() == [0, 1, 3, 3]
    assert pa.array(ranked.ids).to_pylist() == ["x", "2", "x"]
    scores = np.asarray(ranked.scores)
    assert scores.dtype == np.float64 and scores.tolist() == [1.0, 3.0, 1.0]
    assert not scores.flags.writeable and memoryview(ranked.scores).format == "d"
    assert pa.array(ranked.scores).to_pylist() == [1.0, 3.0, 1.0]
    table = ranked.to_arrow()
    assert table.schema.names == ["event", "id", "score"]
    assert table.schema.types == [pa.int64(), pa.large_string(), pa.float64()]
    assert table == pa.table(ranked)


def test_no_events_and_nothing_to_find() -> None:
    index = Index()
    for none in (index.top_k_many([]), index.top_k_json_many(""), index.top_k_json_many([], weights=[])):
        assert len(none) == 0 and list(none) == []
    assert index.top_k_many([{}, {}]) == [[], []]
    table = index.top_k_arrow(pa.table({"a": pa.array([], pa.int64())}), weights=[])
    assert table.num_rows == 0 and table.schema.types == [pa.int64(), pa.int64(), pa.float64()]
    index.add("x", "a > 1")
    assert index.top_k_arrow(pa.table({"a": [0]})).schema.field("id").type == pa.large_string()


def test_wrong_arguments() -> None:
    index = Index()
    index.add(1, "a > 0")
    events = [{"a": 1}, {"a": 2}]
    table = pa.Table.from_batches([pa.record_batch({"a": [1]}), pa.record_batch({"a": [2]})])
    calls: list[tuple[Callable[..., Any], Any]] = [
        (index.top_k_many, events),
        (index.top_k_json_many, ['{"a": 1}', '{"a": 2}']),
        (index.top_k_arrow, table),
    ]
    for call, given in calls:
        with pytest.raises(ValueError, match="k is -1, must not be negative"):
            call(given, k=-1)
        with pytest.raises(ValueError, match="threads is 0"):
            call(given, threads=0)
        for count, message in ((1, "weights of 1 events for 2 events"), (3, "of 3 events for 2 events")):
            with pytest.raises(tamis.EventError, match=message):
                call(given, weights=[None] * count)
        with pytest.raises(TypeError, match=r"row 1: weights are a mapping or None, not 'a'"):
            call(given, weights=[{}, "a"])
        with pytest.raises(tamis.EventError, match='attribute "a": the weight -1 ') as caught:
            call(given, weights={"a": -1.0})
        assert (caught.value.row, caught.value.attribute) == (None, "a")
        with pytest.raises(tamis.EventError, match='row 1: attribute "a": the weight inf') as caught:
            call(given, weights=[{}, {"a": float("inf")}])
        assert (caught.value.row, caught.value.attribute) == (1, "a")
        with pytest.raises(TypeError, match="row 0: must be real number"):
            call(given, weights=[{"a": "much"}, {}])


def test_bad_events_are_named() -> None:
    index = Index()
    index.add(1, "a > 0")
    calls: list[Callable[[], object]] = [
        lambda: index.top_k_many([{"a": 1}, {"a": 1j}]),
        lambda: index.top_k_json_many(['{"a": 1}', '{"a":']),
        lambda: index.top_k_json_many(['{"a": 1}', 3]),  # type: ignore[list-item]
        lambda: index.top_k_arrow(pa.table({"a": pa.array([0, 2**62], pa.timestamp("s"))})),
    ]
    for call in calls:
        with pytest.raises(tamis.EventError) as caught:
            call()
        assert caught.value.row == 1


def test_what_was_parsed_is_forgotten_when_it_changes() -> None:
    for engine in ("compiled", "scan"):
        index = Index(engine=engine)
        index.add_many(dict.fromkeys(range(3), "a = 1 ^ 2 or b = 1"))
        asked = [{"a": 1, "b": 1}] * 2
        assert index.top_k_many(asked) == [[(0, 3.0), (1, 3.0), (2, 3.0)]] * 2
        index.replace(1, "a = 1 ^ 7")
        index.remove(0)
        assert index.top_k_many(asked) == [[(1, 7.0), (2, 3.0)]] * 2
        index.add(0, "a = 1")
        index.compact()
        assert index.top_k_many(asked) == [[(1, 7.0), (2, 3.0), (0, 1.0)]] * 2


def test_others_update_meanwhile() -> None:
    index = Index()
    index.add_many({n: f"a >= {n} ^ {n + 1} or a = -1" for n in range(100)})
    done = threading.Event()

    def churn() -> None:
        for n in range(2_000):
            index.add(1_000 + n, f"b{n % 50} = 1")
            index.remove(1_000 + n)
        done.set()

    worker = threading.Thread(target=churn)
    worker.start()
    expected = [[(n, n + 1.0) for n in range(a, max(a - 3, -1), -1)] for a in range(100)]
    while not done.is_set():
        assert index.top_k_many([{"a": a} for a in range(100)], k=3) == expected
    worker.join()
