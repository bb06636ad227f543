"""Events that cannot be read: raised, skipped or null, with the reasons, and without matches of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest

import tamis
from tamis import Index

RULES = {1: "a > 0", 2: "true", 3: "a is null", 4: "any(l) = 1"}
# A good event, and a bad one of each kind.
MAPPINGS: list[Any] = [{"a": 5}, {"a": object()}, {}, 7, {"l": [1, 1j]}, {"a": -1}]
TEXTS = ['{"a": 5}', '{"a": 99999999999999999999}', "{}", "[1]", '{"a": 1', '{"a": -1}']
TIMES = pa.table({"a": pa.array([0, 2**62, None, 2**62, 2**62, 1], pa.timestamp("s"))})
GOOD = [[1, 2], None, [2, 3], None, None, [2]]


def index(rules: dict[Any, str] = RULES, engine: str = "auto") -> Index:
    index = Index(engine=engine)
    index.add_many(rules)
    return index


def calls(index: Index, on_error: Any, **arguments: Any) -> list[tamis.Matches]:
    arguments = {"ordered": True, "on_error": on_error, **arguments}
    return [
        index.match_many(MAPPINGS, **arguments),
        index.match_json_many(TEXTS, **arguments),
        index.match_json_many("\n".join(TEXTS), **arguments),
    ]


@pytest.mark.parametrize("engine", ["compiled", "scan", "a_tree"])
@pytest.mark.parametrize("threads", [1, 3])
def test_bad_events_match_nothing_and_are_listed(engine: str, threads: int) -> None:
    for matches in calls(index(engine=engine), "null", threads=threads):
        assert list(matches) == GOOD
        assert [bad.event for bad in matches.errors] == [1, 3, 4]
        assert matches[1:3] == [None, [2, 3]] and [matches[-3]] == [None]
    for matches in calls(index(engine=engine), "skip", threads=threads):
        assert list(matches) == [ids or [] for ids in GOOD]
        assert [bad.event for bad in matches.errors] == [1, 3, 4]
        assert matches.to_arrow().column("event").to_pylist() == [0, 0, 2, 2, 5]


def test_the_reasons_are_those_of_the_error() -> None:
    [first, second, third] = index().match_many(MAPPINGS, on_error="skip").errors
    assert (first.attribute, third.attribute) == ("a", "l")
    assert "a value of type object" in first.reason and "an event is a mapping, not int" in second.reason
    with pytest.raises(tamis.EventError, match=r"row 1: .*a value of type object"):
        index().match_many(MAPPINGS)
    [first, second, third] = index().match_json_many(TEXTS, on_error="skip").errors
    assert first.attribute == "a" and "does not fit 64 bits" in first.reason
    assert "not a JSON event" in second.reason and "not a JSON event" in third.reason


def test_rows_of_arrow_data() -> None:
    rules = index({1: "a >= timestamp '1970-01-01 00:00:01'", 2: "true"})
    matches = rules.match_batches(TIMES, ordered=True, on_error="null")
    assert list(matches) == [[2], None, [2], None, None, [1, 2]]
    assert [(bad.event, bad.attribute) for bad in matches.errors] == [(1, "a"), (3, "a"), (4, "a")]
    assert rules.match_arrow(TIMES, on_error="skip").column("event").to_pylist() == [0, 2, 5, 5]
    # Many batches and portions: numbers count over all of them.
    large = pa.concat_tables([TIMES] * 4000)
    errors = rules.match_batches(large, on_error="skip").errors
    assert [bad.event for bad in errors] == [6 * n + at for n in range(4000) for at in (1, 3, 4)]
    # A column without a meaning is no bad row.
    with pytest.raises(tamis.EventError, match="Arrow type"):
        rules.match_batches(pa.table({"a": pa.array([1], pa.duration("s"))}), on_error="skip")


@pytest.mark.parametrize("ids", [[1, 2], ["x", "y"], [1, "y"]])
def test_every_kind_of_ids_is_kept(ids: list[Any]) -> None:
    rules = index(dict(zip(ids, ["true", "a > 0"], strict=True)))
    events: list[Any] = [{"a": 1}, {"a": 1j}, {"a": 2}, 5, {}]
    matches = rules.match_many(events, ordered=True, on_error="skip")
    assert list(matches) == [ids, [], ids, [], ids[:1]]


def test_good_events_are_as_without_it() -> None:
    events = [{"a": n % 7 - 3} for n in range(500)]
    for on_error in ("skip", "null"):
        matches = index().match_many(events, ordered=True, on_error=on_error)
        assert matches == index().match_many(events, ordered=True) and matches.errors == []
        texts = [json.dumps(event) for event in events]
        assert index().match_json_many(texts, ordered=True, on_error=on_error) == matches


def test_other_words_and_other_exceptions_are_raised() -> None:
    with pytest.raises(ValueError, match="on_error is 'ignore'; known are 'raise', 'skip' and 'null'"):
        index().match_many([], on_error="ignore")  # type: ignore[arg-type]

    class Broken(Mapping[str, Any]):
        def __getitem__(self, name: str) -> Any:
            raise RuntimeError("broken")

        def __iter__(self) -> Iterator[str]:
            yield "a"

        def __len__(self) -> int:
            return 1

    with pytest.raises(RuntimeError, match="broken"):
        index().match_many([Broken()], on_error="skip")
