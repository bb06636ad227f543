"""Near misses: expressions that failed by one predicate, and that predicate."""

from __future__ import annotations

import threading

import pytest

import tamis
from tamis import Index, NearMiss

ENGINES = [engine.name for engine in tamis.engines() if engine.exact]

RULES = {
    "both": "age >= 18 and country = 'US'",
    "not": "age >= 18 and not country = 'DE'",
    "either": "age >= 18 or vip",
    "three": "age >= 18 and country = 'US' and vip",
    "matches": "age < 18",
    "always": "TRUE",
    "shared": "(vip or age > 60) and (vip or country = 'US')",
}


def pairs(found: list[NearMiss]) -> list[tuple[str | int, list[str]]]:
    return [(miss.id, miss.predicates) for miss in found]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_missing_is_said(engine: str) -> None:
    index = Index(engine=engine)
    index.add_many(RULES)
    assert pairs(index.near_misses({"age": 17, "country": "DE"})) == [
        ("either", ["age >= 18", "vip = TRUE"]),
        ("shared", ["vip = TRUE"]),
    ]
    assert pairs(index.near_misses({"age": 20, "country": "DE"}, limit=2)) == [
        ("both", ["country = 'US'"]),
        ("not", ["country != 'DE'"]),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_contradictions_are_left_out(engine: str) -> None:
    index = Index(engine=engine)
    with pytest.warns(tamis.NeverMatchesWarning):
        index.add(1, "a > 5 and a < 3")
    index.add(2, "a > 5")
    assert pairs(index.near_misses({})) == [(2, ["a > 5"])]


def test_a_near_miss_becomes_a_match_with_its_predicate() -> None:
    index = Index()
    index.add_many({n: f"a = {n} and b = {n % 3}" for n in range(100)})
    [miss] = index.near_misses({"a": 7, "b": 0}, limit=1)
    assert miss == NearMiss(0, ["a = 0"])
    assert index.match({"a": 0, "b": 0}) == [0]


@pytest.mark.parametrize("engine", ENGINES)
def test_order_and_limit(engine: str) -> None:
    index = Index(engine=engine)
    index.add_many({n: f"a = {n}" for n in range(3000)})
    index.remove(1)
    index.replace(0, "a = 9 or b = 9")
    index.add(1, "a = 1")
    found = index.near_misses({"a": 2}, limit=5000)
    assert [miss.id for miss in found] == [0, *range(3, 3000), 1]
    assert found[0].predicates == ["a = 9", "b = 9"]
    assert [len(index.near_misses({"a": 2}, limit=n)) for n in (0, 1, 10)] == [0, 1, 10]
    assert len(index.near_misses({"a": 2})) == 10


def test_at_most_ten_predicates_are_named() -> None:
    index = Index()
    index.add(1, " or ".join(f"a{n} = 1" for n in range(50)))
    [miss] = index.near_misses({})
    assert miss.predicates == [f"a{n} = 1" for n in range(10)]


def test_the_closed_world_names_missing_values() -> None:
    index = Index(missing="false")
    index.add(1, "not a = 1 and b = 2")
    assert pairs(index.near_misses({"a": 1, "b": 2})) == [(1, ["a != 1 OR a IS NULL"])]
    assert pairs(index.near_misses({})) == [(1, ["b = 2"])]


def test_bad_input_is_refused() -> None:
    index = Index()
    index.add(1, "a = 1")
    with pytest.raises(ValueError, match="limit is -1"):
        index.near_misses({}, limit=-1)
    with pytest.raises(tamis.EventError, match='attribute "a"'):
        index.near_misses({"a": 1j})
    assert Index().near_misses({"a": 1}) == []


@pytest.mark.parametrize("engine", ["scan", "compiled"])
def test_updates_go_on_meanwhile(engine: str) -> None:
    index = Index(engine=engine)
    index.add_many({n: f"a = {n} and b = 1" for n in range(2000)})
    stop = threading.Event()

    def update() -> None:
        n = 10_000
        while not stop.is_set():
            index.add(n, f"new{n % 50} = 1 and other{n % 50} = 1")
            n += 1

    writer = threading.Thread(target=update)
    writer.start()
    try:
        for _ in range(20):
            assert [miss.id for miss in index.near_misses({"a": 5}, limit=1)] == [5]
    finally:
        stop.set()
        writer.join()
