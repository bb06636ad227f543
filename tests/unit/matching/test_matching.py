"""Matching many events: mappings and JSON, on one thread or several."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.unit.index.filled import index_of

from tamis import Index


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
