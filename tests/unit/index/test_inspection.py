"""Explanations, statistics, settings, and the list of engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.index.filled import index_of

import tamis
from tamis import Index


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


def test_engines_describe_themselves() -> None:
    engines = tamis.engines()
    assert len({engine.name for engine in engines}) == len(engines)
    assert all(engine.name and engine.description and engine.takes for engine in engines)
    for engine in engines:
        assert Index(engine=engine.name).engine == engine.name
