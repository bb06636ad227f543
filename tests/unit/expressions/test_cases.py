"""The shared cases of testdata/ through the Python API, over every engine that is exact."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import Index, parse

TESTDATA = Path(__file__).resolve().parents[3] / "testdata"
LANGUAGE = {"canonical", "parse_errors", "never_always"}
ENGINES = [engine.name for engine in tamis.engines() if engine.exact]
TRUTHS = {"TRUE": True, "FALSE": False, "UNKNOWN": None}


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((TESTDATA / f"{name}.json").read_text(encoding="utf-8"))
    assert cases
    return cases


MATCHING = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted(TESTDATA.glob("*.json"))
    if path.stem not in LANGUAGE
    for case in load(path.stem)
]


def value(written: Any) -> Any:
    """A value as testdata/README.md says it is written."""
    match written:
        case {"$date": text}:
            return datetime.date.fromisoformat(text)
        case {"$timestamp": text}:
            return datetime.datetime.fromisoformat(text)
        case {"$float": text}:
            return math.copysign(math.inf, float(text)) if "Inf" in text else float(text)
        case dict():
            return {key: value(inner) for key, inner in written.items()}
        case list():
            return [value(inner) for inner in written]
        case _:
            return written


def is_json(written: Any) -> bool:
    return "$" not in json.dumps(written)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", MATCHING)
@pytest.mark.filterwarnings("ignore::tamis.NeverMatchesWarning")
def test_matching(case: dict[str, Any], engine: str) -> None:
    missing = case.get("missing", "unknown")
    index = Index(engine=engine, missing=missing)
    try:
        index.add_many(case["subscriptions"])
    except tamis.TooComplex:
        pytest.skip(f"{engine} does not take these expressions")
    events = [value(entry["event"]) for entry in case["events"]]
    for entry, event, many in zip(
        case["events"], events, index.match_many(events, ordered=True), strict=True
    ):
        assert index.match(event) == many == entry["matches"], entry
        for id in case["subscriptions"]:
            truth = index[id].evaluate(event, missing=missing)
            assert (truth is True) == (id in entry["matches"]), (id, entry)
            assert index.explain(id, event).truth == {v: k for k, v in TRUTHS.items()}[truth]
            if id in entry.get("truth", {}):
                assert truth is TRUTHS[entry["truth"][id]], (id, entry)
        if "top_k" in entry:
            found = index.top_k(event, k=entry["k"], weights=entry.get("weights"))
            assert found == [tuple(pair) for pair in entry["top_k"]], entry
        if is_json(entry["event"]):
            assert index.match_json(json.dumps(entry["event"])) == entry["matches"], entry
    index.validate()


@pytest.mark.parametrize("case", load("canonical"), ids=lambda case: str(case.get("name", case["text"]))[:60])
def test_canonical_text(case: dict[str, Any]) -> None:
    assert str(parse(case["text"])) == case["canonical"]
    assert str(parse(case["canonical"])) == case["canonical"]
    assert parse(case["text"]) == parse(case["canonical"])


@pytest.mark.parametrize(
    "case", load("parse_errors"), ids=lambda case: str(case.get("name", case["text"]))[:60]
)
def test_parse_error(case: dict[str, Any]) -> None:
    with pytest.raises(tamis.ParseError) as caught:
        parse(case["text"])
    assert (caught.value.line, caught.value.column) == (case["line"], case["column"])
    assert case["expected"] in (caught.value.expected or "")
    if "found" in case:
        assert caught.value.found == case["found"]


@pytest.mark.parametrize(
    "case", load("never_always"), ids=lambda case: str(case.get("name", case.get("text")))[:60]
)
def test_contradictions_are_warned_about(case: dict[str, Any], recwarn: pytest.WarningsRecorder) -> None:
    index = Index(missing=case.get("missing", "unknown"))
    index.add(1, case["text"])
    warned = [warning for warning in recwarn if warning.category is tamis.NeverMatchesWarning]
    assert bool(warned) == (case["verdict"] == "never")
    if case["verdict"] == "always":
        assert index.match({}) == [1]
