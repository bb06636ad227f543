"""Python values as events: what each means, and which are refused."""

from __future__ import annotations

import collections
import datetime
import enum
import json
import types
from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tamis
from tamis import Index, parse

NOON = datetime.datetime(2026, 11, 15, 12)
PARIS = ZoneInfo("Europe/Paris")


class Flag(enum.IntEnum):
    UP = 3


class Word(enum.StrEnum):
    YES = "yes"


class Reading(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, **values: Any) -> None:
        self.values_by_name = values

    def __getitem__(self, key: str) -> Any:
        return self.values_by_name[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


# A value for `x`, an expression, and what it is.
MEANINGS: list[tuple[Any, str, bool | None]] = [
    (True, "x", True),
    (np.False_, "x = false", True),
    (True, "x = 1", None),
    (1, "x", None),
    (5, "x = 5.0", True),
    (-(2**63), "x = -9223372036854775808", True),
    (2**63 - 1, "x = 9223372036854775807", True),
    (Flag.UP, "x = 3", True),
    (np.int16(-3), "x = -3", True),
    (np.uint64(2**63 - 1), "x = 9223372036854775807", True),
    (0.5, "x = 0.5", True),
    (np.float32(0.1), "x = 0.1", False),
    (np.float16(0.5), "x = 0.5", True),
    (float("inf"), "x > 1e308", True),
    (-0.0, "x = 0", True),
    (float("nan"), "x is null", True),
    (np.float64("nan"), "x is null", True),
    (None, "x is null", True),
    ("10", "x = 10", None),
    ("", "x = ''", True),
    ("a\0b", "x = 'a\0b'", True),
    (Word.YES, "x = 'yes'", True),
    (np.str_("é"), "x = 'é'", True),
    (datetime.date(2026, 11, 15), "x = date '2026-11-15'", True),
    (datetime.date(2026, 11, 15), "x = timestamp '2026-11-15 00:00:00'", True),
    (datetime.date.min, "x = date '0001-01-01'", True),
    (NOON, "x = timestamp '2026-11-15 12:00:00'", True),
    (NOON.replace(microsecond=1), "x > timestamp '2026-11-15 12:00:00'", True),
    (NOON.replace(tzinfo=datetime.UTC), "x = timestamp '2026-11-15 12:00:00'", True),
    (NOON.replace(tzinfo=PARIS), "x = timestamp '2026-11-15 11:00:00'", True),
    (datetime.datetime(2026, 10, 25, 2, 30, tzinfo=PARIS), "x = timestamp '2026-10-25 00:30:00'", True),
    (
        datetime.datetime(2026, 10, 25, 2, 30, tzinfo=PARIS, fold=1),
        "x = timestamp '2026-10-25 01:30:00'",
        True,
    ),
    (datetime.datetime.max, "x = timestamp '9999-12-31 23:59:59.999999'", True),
    (datetime.datetime.min, "x < date '1970-01-01'", True),
    ([1, 2], "any(x) = 2", True),
    ((1, 2), "all(x) >= 1", True),
    ({1, 2}, "any(x) = 2", True),
    (frozenset("ab"), "all(x) in ('a', 'b')", True),
    (np.array([1, 2]), "any(x) = 2", True),
    (np.array(["a", "b"]), "any(x) = 'b'", True),
    (np.array([0.5, np.nan]), "all(x) = 0.5", None),
    (np.array(3), "x = 3", True),
    ([], "any(x) = 1", False),
    ([], "all(x) = 1", True),
    ([], "x is null", False),
    ([1, "a", None, NOON], "any(x) = 'a'", True),
    ([None, float("nan")], "any(x) = 1", None),
    ([1, 2], "x = 1", None),
    (1, "any(x) = 1", None),
    # Lists inside lists are there, but of no kind, whatever they are made of.
    ([[1], 3], "any(x) = 1", None),
    ([[1], 3], "any(x) = 3", True),
    ([(1,), 3], "any(x) = 1", None),
    ([{1}, 3], "any(x) = 1", None),
    ([frozenset([1]), 3], "any(x) = 1", None),
    ([np.array([1, 2]), 3], "any(x) = 1", None),
    ([np.array([1, 2]), 3], "any(x) = 3", True),
    (np.array([[1, 2], [3, 4]]), "any(x) = 1", None),
    ([{"y": 1}, 3], "any(x) = 3", True),
    ({"y": 1}, "x is null", False),
    ({"y": 1}, "x = 1", None),
    ({}, "x is null", False),
]


@pytest.mark.parametrize(
    ("value", "expression", "expected"), MEANINGS, ids=[f"{v!r}: {e}" for v, e, _ in MEANINGS]
)
def test_meaning(value: Any, expression: str, expected: bool | None) -> None:
    event = {"x": value}
    assert parse(expression).evaluate(event) is expected
    index = Index()
    index.add(1, expression)
    assert index.match(event) == ([1] if expected else [])
    assert index.match_many([event, {}, event]) == [index.match(event), index.match({}), index.match(event)]


REFUSED: list[tuple[Any, str]] = [
    (2**64, "does not fit 64 bits"),
    (-(2**63) - 1, "does not fit 64 bits"),
    (10**5000, "does not fit 64 bits"),
    ("\ud800", "a lone surrogate"),
    (1j, "a value of type complex"),
    (range(3), "a value of type range"),
    (object(), "a value of type object"),
    (datetime.time(1), "a value of type time"),
    (datetime.timedelta(1), "a value of type timedelta"),
    (np.datetime64("2026-11-15T00:00:00.000000001"), "a time that would lose precision"),
    (np.datetime64(2**62, "D"), "a time that would lose precision"),
    (np.timedelta64(1, "s"), "a value of type timedelta64"),
    (pd.Timestamp("2026-11-15 00:00:00.000000001"), "a time that would lose precision"),
    (np.complex128(1), "a value of type complex128"),
]


@pytest.mark.parametrize(
    ("value", "message"), REFUSED, ids=[message + f" ({i})" for i, (_, message) in enumerate(REFUSED)]
)
def test_refused(value: Any, message: str) -> None:
    index = Index()
    index.add(1, "n.x = 1 or any(n.x) = 1 or y = 1")
    for wrapped in (value, [1, value]):
        for event in ({"n": {"x": wrapped}}, {"n.x": wrapped}):
            with pytest.raises(tamis.EventError, match=message) as caught:
                index.match(event)
            assert (caught.value.attribute, caught.value.row) == ("n.x", None)
            with pytest.raises(tamis.EventError, match="row 2: ") as caught:
                index.match_many([{}, {"y": 1}, event, {}])
            assert (caught.value.attribute, caught.value.row) == ("n.x", 2)
            with pytest.raises(tamis.EventError, match=message):
                index.top_k(event)
            with pytest.raises(tamis.EventError, match=message):
                index.explain(1, event)
            with pytest.raises(tamis.EventError, match=message):
                index[1].evaluate(event)
    # What no expression refers to may be anything.
    assert index.match({"other": value, "n": {"other": value}, "y": 1}) == [1]
    assert index.match({"n": [value], "y": 1}) == [1]


def test_arrays_of_objects_are_refused() -> None:
    with pytest.raises(tamis.EventError, match="a value of type ndarray"):
        parse("any(x) = 1").evaluate({"x": np.array([object()])})


@pytest.mark.parametrize("event", [None, 5, [("x", 1)], {1}, "", "x", object()], ids=repr)
def test_an_event_is_a_mapping(event: Any) -> None:
    index = Index()
    index.add(1, "x = 1")
    with pytest.raises(tamis.EventError) as caught:
        index.match(event)
    assert caught.value.attribute is None
    with pytest.raises(tamis.EventError, match="row 1: an event is a mapping"):
        index.match_many([{}, event])
    with pytest.raises(tamis.EventError, match="an event is a mapping"):
        parse("x = 1").evaluate(event)


def test_names_are_strings() -> None:
    index = Index()
    index.add(1, "x = 1")
    with pytest.raises(tamis.EventError, match="the name of an attribute is a str, not int"):
        index.match({"x": 1, 5: 1})  # type: ignore[dict-item]
    # No expression can name this one.
    assert index.match({"\ud800": 1, "x": 1}) == [1]


@pytest.mark.parametrize(
    "event",
    [
        {"n": {"m": {"x": 1}}},
        {"n": {"m.x": 1}},
        {"n.m": {"x": 1}},
        {"n.m.x": 1},
        {"n": Reading(m=Reading(x=1))},
        Reading(n={"m": {"x": 1}}),
        types.MappingProxyType({"n.m.x": 1}),
        collections.ChainMap[str, Any]({"n": {"m": {"x": 1}}}, {"n": None}),
        collections.defaultdict(int, {"n.m.x": 1}),
        collections.OrderedDict([("n", collections.OrderedDict([("m.x", 1)]))]),
    ],
    ids=repr,
)
def test_paths(event: Mapping[str, Any]) -> None:
    index = Index()
    index.add_many(
        {"deep": "n.m.x = 1", "quoted": '"n.m.x" = 1', "parent": "n.m is not null", "other": "n.x = 1"}
    )
    found = index.match(event)
    assert found[:2] == ["deep", "quoted"]
    assert "other" not in found


@pytest.mark.parametrize(
    ("event", "matches"),
    [
        ({"n": {"x": 1}, "n.x": 2}, [2]),
        ({"n.x": 2, "n": {"x": 1}}, [1]),
        ({"n": {"x": 1}, "n.x": None}, ["null"]),
        ({"n.x": 1, "n": {"y": 5}}, [1]),
        ({"n.x": 1, "n": None}, [1]),
    ],
)
def test_the_last_value_given_wins(event: dict[str, Any], matches: list[str | int]) -> None:
    index = Index()
    index.add_many({1: "n.x = 1", 2: "n.x = 2", "null": "n.x is null"})
    assert index.match(event) == matches


def test_a_mapping_that_contains_itself_is_followed_only_as_far_as_named() -> None:
    event: dict[str, Any] = {"y": 1}
    event["x"] = event
    index = Index()
    index.add(1, "x.x.x.y = 1 and x.x is not null")
    assert index.match(event) == [1]


def test_not_a_time_is_missing() -> None:
    class NotATime(datetime.datetime):
        """What pandas calls NaT: a datetime that is not equal to itself."""

        __hash__ = datetime.datetime.__hash__

        def __eq__(self, other: object) -> bool:
            return False

        def __ne__(self, other: object) -> bool:
            return True

    assert parse("x is null").evaluate({"x": NotATime(2026, 1, 1)}) is True


def test_errors_of_the_mapping_come_through() -> None:
    class Broken(Reading):
        def __getitem__(self, key: str) -> Any:
            raise RuntimeError("no such sensor")

    index = Index()
    index.add(1, "x = 1")
    with pytest.raises(RuntimeError, match="no such sensor"):
        index.match(Broken(x=1))
    assert index.match({"x": 1}) == [1]


JSON_REFUSED = [
    ("", "not a JSON event"),
    ("[1]", "not a JSON event"),
    ('{"x": 1', "not a JSON event"),
    ('{"x": 1} 2', "not a JSON event"),
    ('{"x": 01}', "not a JSON event"),
    ("{'x': 1}", "not a JSON event"),
    ('{"x": 18446744073709551616}', "does not fit 64 bits"),
    ('{"x": [-9223372036854775809]}', "does not fit 64 bits"),
    ('{"x": "\\ud800"}', "not a JSON event"),
    ('{"x": "\ud800"}', "lone surrogate"),
]


@pytest.mark.parametrize(("text", "message"), JSON_REFUSED)
def test_refused_json(text: str, message: str) -> None:
    index = Index()
    index.add(1, "x = 1")
    with pytest.raises(tamis.EventError, match=message):
        index.match_json(text)
    with pytest.raises(tamis.EventError, match=f"row 1: .*{message}") as caught:
        index.match_json_many(["{}", text])
    assert caught.value.row == 1
    assert index.match_json('{"x": 1}') == [1]


def test_json_means_what_the_mapping_means() -> None:
    index = Index()
    index.add_many(
        {
            "int": "x = 1",
            "float": "x = 1.5",
            "text": "x = 'é'",
            "true": "x",
            "null": "x is null",
            "list": "any(x) = 1",
        }
    )
    for text, expected in [
        ('{"x": 1}', ["int"]),
        ('{"x": 1.0}', ["int"]),
        ('{"x": 15e-1}', ["float"]),
        ('{"x": "\\u00e9"}', ["text"]),
        ('{"x": true}', ["true"]),
        ('{"x": null}', ["null"]),
        ('{"x": NaN}', ["null"]),
        ("{}", ["null"]),
        ('{"x": [1, [2], {"y": 1}, null]}', ["list"]),
        ('{"x": {"y": 1}}', []),
        ('{"x": 2, "x": 1}', ["int"]),
        ('{"y": 99999999999999999999, "x": 1}', ["int"]),
    ]:
        assert index.match_json(text) == expected, text
        assert index.match_json(text.encode()) == expected, text


def test_each_form_has_its_method() -> None:
    index = Index()
    index.add(1, "a = 1")
    with pytest.raises(tamis.EventError, match="an event is a mapping, not str"):
        index.match('{"a": 1}')  # type: ignore[arg-type]
    with pytest.raises(tamis.EventError, match="a JSON event is a str or bytes, not dict"):
        index.match_json({"a": 1})  # type: ignore[arg-type]


def test_times_of_numpy_and_pandas() -> None:
    day, noon = datetime.date(2026, 11, 15), datetime.datetime(2026, 11, 15, 12)
    for unit in ("D", "s", "ms", "us", "ns"):
        assert parse(f"x = DATE '{day}'").evaluate({"x": np.datetime64(day.isoformat(), unit)}) is True
    for value in (np.datetime64(noon, "ns"), pd.Timestamp(noon), pd.Timestamp(noon, tz="UTC")):
        assert parse(f"x = TIMESTAMP '{noon}'").evaluate({"x": value}) is True
    assert parse("x is null").evaluate({"x": np.datetime64("NaT")}) is True
    times = np.array(["2026-11-15", "NaT"], "datetime64[ns]")
    assert parse(f"any(x) = DATE '{day}'").evaluate({"x": times}) is True
    assert parse(f"all(x) = DATE '{day}'").evaluate({"x": times}) is None
    assert parse(f"all(x) = DATE '{day}'").evaluate({"x": times[:1]}) is True
    assert parse(f"any(x) = DATE '{day}'").evaluate({"x": times[:0]}) is False
    with pytest.raises(tamis.EventError, match="a time that would lose precision"):
        parse("any(x) = 1").evaluate({"x": times + np.timedelta64(1, "ns")})


def test_a_null_object_erases_nothing() -> None:
    """As in JSON and in Arrow: the later value of a name counts, but a null object has no values."""
    index = Index()
    index.add(1, "u.q = 5")
    for event in ({"u.q": 5, "u": None}, {"u": None, "u.q": 5}, {"u": {"q": 6}, "u.q": 5}):
        assert index.match(event) == index.match_json(json.dumps(event)) == [1]
        columns = {name: pa.array([value]) for name, value in event.items()}
        assert index.match_arrow(pa.table(columns)).num_rows == 1
    assert index.match({"u.q": 5, "u": {"q": None}}) == []
