"""Arrow data in, from whoever makes it, and matches out without a copy."""

from __future__ import annotations

import datetime
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tamis
from tamis import Index

DAY = datetime.date(2026, 11, 15)
NOON = datetime.datetime(2026, 11, 15, 12)


def matched(data: Any, **expressions: str) -> list[tuple[int, Any]]:
    """The pairs of row and id."""
    index = Index()
    index.add_many(expressions)
    table = index.match_arrow(data, ordered=True)
    return list(zip(table["event"].to_pylist(), table["id"].to_pylist(), strict=True))


# A type, two values of it, and an expression that only the first satisfies.
TYPES: list[tuple[pa.DataType, list[Any], str]] = [
    (pa.bool_(), [True, False], "x"),
    *((getattr(pa, f"int{bits}")(), [-7, 7], "x = -7") for bits in (8, 16, 32, 64)),
    *((getattr(pa, f"uint{bits}")(), [200, 7], "x = 200") for bits in (8, 16, 32, 64)),
    (pa.int64(), [-(2**63), 2**63 - 1], "x = -9223372036854775808"),
    (pa.float16(), [np.float16(0.5), np.float16(1)], "x = 0.5"),
    (pa.float32(), [0.5, 1.0], "x = 0.5"),
    (pa.float64(), [0.1, float("inf")], "x = 0.1"),
    (pa.string(), ["é", "e"], "x = 'é'"),
    (pa.large_string(), ["é", "e"], "x = 'é'"),
    (pa.string_view(), ["short", "a string that is longer than a view holds"], "x = 'short'"),
    (pa.date32(), [DAY, datetime.date(1, 1, 1)], "x = date '2026-11-15'"),
    (pa.date64(), [DAY, datetime.date(1, 1, 1)], "x = date '2026-11-15'"),
    *(
        (pa.timestamp(unit), [NOON, NOON.replace(hour=13)], "x = timestamp '2026-11-15 12:00:00'")
        for unit in ("s", "ms", "us", "ns")
    ),
    (pa.timestamp("us", tz="UTC"), [NOON, NOON.replace(hour=13)], "x = timestamp '2026-11-15 12:00:00'"),
    (
        pa.timestamp("us", tz="Europe/Paris"),
        [NOON, NOON.replace(hour=13)],
        "x = timestamp '2026-11-15 12:00:00'",
    ),
    (pa.dictionary(pa.int8(), pa.string()), ["é", "e"], "x = 'é'"),
    (pa.dictionary(pa.uint32(), pa.int64()), [5, 6], "x = 5"),
    (pa.list_(pa.int32()), [[1, 5], [2]], "any(x) = 5"),
    (pa.large_list(pa.string()), [["a", "b"], []], "any(x) = 'b'"),
    (pa.list_(pa.float64(), 2), [[0.5, 1.0], [1.0, 1.0]], "any(x) = 0.5"),
    (pa.list_(pa.dictionary(pa.int8(), pa.string())), [["a"], ["b"]], "any(x) = 'a'"),
    (pa.list_(pa.timestamp("us")), [[NOON], []], "any(x) = timestamp '2026-11-15 12:00:00'"),
]


@pytest.mark.parametrize(("type", "values", "expression"), TYPES, ids=[str(type) for type, _, _ in TYPES])
def test_types(type: pa.DataType, values: list[Any], expression: str) -> None:
    column = pa.array([*values, None, values[0]], type)
    expected = [(0, "yes"), (1, "no"), (2, "null"), (3, "yes")]
    expressions = {"yes": expression, "no": f"not {expression}", "null": "x is null"}
    assert matched(pa.table({"x": column}), **expressions) == expected
    # Inside a struct, behind an offset, and in chunks.
    struct = pa.StructArray.from_arrays([column], ["x"])
    nested = {id: text.replace("x", "n.x") for id, text in expressions.items()}
    assert matched(pa.table({"n": struct}), **nested) == expected
    padded = pa.concat_arrays([column, column]).slice(3, 5)
    assert matched(pa.table({"x": padded}), **expressions) == [
        (0, "yes"),
        *((row + 1, id) for row, id in expected),
    ]
    chunks = pa.chunked_array([column.slice(0, 1), column.slice(1, 0), column.slice(1)])
    assert matched(pa.table({"x": chunks}), **expressions) == expected


UNSUPPORTED = [
    pa.array([datetime.time(1)]),
    pa.array([datetime.timedelta(1)]),
    pa.array([[1]], pa.list_view(pa.int64())),
    pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    pa.RunEndEncodedArray.from_arrays([1], [5]),
    pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
]


@pytest.mark.parametrize("column", UNSUPPORTED, ids=[str(column.type) for column in UNSUPPORTED])
def test_types_without_meaning_are_refused_by_name(column: pa.Array) -> None:
    fine = {"ok": "y = 1"}
    assert matched(pa.table({"x": column, "y": [1]}), **fine) == [(0, "ok")]
    with pytest.raises(tamis.EventError, match='attribute "x": a column of Arrow type') as caught:
        matched(pa.table({"x": column, "y": [1]}), **fine, bad="x = 1")
    assert caught.value.attribute == "x"
    nested = pa.StructArray.from_arrays([column], ["x"])
    with pytest.raises(tamis.EventError) as caught:
        matched(pa.table({"n": nested}), bad="n.x = 1")
    assert caught.value.attribute == "n.x"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([0, 1], pa.timestamp("ns")), "would lose precision"),
        (pa.array([0, 2**62], pa.timestamp("s")), "does not fit 64 bits"),
        (pa.array([[0], [1, 2**62]], pa.list_(pa.timestamp("s"))), "does not fit 64 bits"),
    ],
)
def test_values_without_meaning_name_column_and_row(column: pa.Array, message: str) -> None:
    table = pa.table({"x": pa.chunked_array([column.slice(0, 1), column])})
    index = Index()
    index.add(1, "x is null or any(x) = 1")
    with pytest.raises(tamis.EventError, match=message) as caught:
        index.match_arrow(table)
    assert (caught.value.attribute, caught.value.row) == ("x", 2)


def test_dictionaries() -> None:
    def dictionary(keys: list[int | None], values: list[str | None]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(values, pa.string()))

    ids = {"a": "x = 'a'", "null": "x is null"}
    assert matched(pa.table({"x": dictionary([1, 0, None, 2], ["a", "b", None])}), **ids) == [
        (1, "a"),
        (2, "null"),
        (3, "null"),
    ]
    assert matched(pa.table({"x": dictionary([None, None], [])}), **ids) == [(0, "null"), (1, "null")]
    # Chunks may have dictionaries of their own.
    chunks = pa.chunked_array([dictionary([0], ["a"]), dictionary([1, 0], ["a", "b"])])
    assert matched(pa.table({"x": chunks}), **ids) == [(0, "a"), (2, "a")]


def test_structs() -> None:
    inner = pa.array([{"x": 1}, None, {"x": None}, {"x": 2}], pa.struct({"x": pa.int64()}))
    outer = pa.StructArray.from_arrays([inner], ["m"], mask=pa.array([False, False, False, True]))
    found = matched(
        pa.table({"n": outer}),
        one="n.m.x = 1",
        two="n.m.x = 2",
        null="n.m.x is null",
        inner="n.m is null",
        outer="n is null",
    )
    assert found == [
        (0, "one"),
        (1, "null"),
        (1, "inner"),
        (2, "null"),
        (3, "null"),
        (3, "inner"),
        (3, "outer"),
    ]


def test_lists_of_lists_and_objects_are_of_no_kind() -> None:
    table = pa.table({"x": [[[1], None]], "y": [[{"z": 1}, None]], "z": [[1, None]]})
    assert matched(table, x="any(x) = 1", y="any(y) = 1", there="x is not null and y is not null") == [
        (0, "there")
    ]
    assert matched(table, z="any(z) = 1", all="all(z) = 1", none="not any(z) = 1") == [(0, "z")]


def test_a_column_may_have_a_dotted_name() -> None:
    table = pa.table({"n.x": [1, 2], "n": pa.array([{"y": 5}, {"y": 6}])})
    assert matched(table, both="n.x = 2 and n.y = 6") == [(1, "both")]


def test_floats_that_are_no_numbers_are_missing() -> None:
    assert matched(pa.table({"x": [float("nan"), 1.0]}), null="x is null") == [(0, "null")]


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"x": [1, 5]}),
        pa.record_batch({"x": [1, 5]}),
        pa.table({"x": [1, 5]}).to_reader(),
        pa.array([{"x": 1}, {"x": 5}]),
        pa.chunked_array([pa.array([{"x": 1}]), pa.array([{"x": 5}])]),
        pl.DataFrame({"x": [1, 5], "other": [b"a", b"b"]}),
        pl.DataFrame({"x": [1, 5]}).to_struct("rows"),
    ],
    ids=lambda data: f"{type(data).__module__}.{type(data).__name__}",
)
def test_producers(data: Any) -> None:
    assert matched(data, five="x = 5") == [(1, "five")]


def test_types_of_polars() -> None:
    frame = pl.DataFrame(
        {
            "text": ["a", "ü" * 20],
            "category": pl.Series(["u", "v"], dtype=pl.Categorical),
            "choice": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])),
            "day": [DAY, None],
            "time": [NOON, NOON],
            "list": [[1, 2], [3]],
            "array": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int8, 2)),
            "struct": [{"a": 1}, {"a": 2}],
        }
    )
    ids = {
        "text": f"text = '{'ü' * 20}'",
        "category": "category = 'v'",
        "choice": "choice = 'v'",
        "day": "day is null",
        "time": "time = timestamp '2026-11-15 12:00:00' and text != 'a'",
        "list": "any(list) = 3",
        "array": "any(array) = 4",
        "struct": "struct.a = 2",
    }
    assert matched(frame, **ids) == [(1, id) for id in ids]
    # Polars hands out a column of nulls alone in a form Arrow does not know; its own conversion is right.
    nulls = frame.with_columns(nothing=pl.lit(None))
    assert matched(nulls.to_arrow(), null="nothing is null") == [(0, "null"), (1, "null")]


def test_types_of_duckdb() -> None:
    connection = duckdb.connect()
    rows = connection.sql(
        """SELECT 5::TINYINT AS tiny, 'v'::ENUM('u', 'v') AS choice, DATE '2026-11-15' AS day,
           TIMESTAMPTZ '2026-11-15 13:00:00+01' AS time, [1, 2] AS list,
           {'a': 2} AS struct, 1.5::DOUBLE AS real"""
    )
    ids = {
        "tiny": "tiny = 5",
        "choice": "choice = 'v'",
        "day": "day = date '2026-11-15'",
        "time": "time = timestamp '2026-11-15 12:00:00'",
        "list": "any(list) = 2",
        "struct": "struct.a = 2",
        "real": "real = 1.5",
    }
    assert matched(rows, **ids) == [(0, id) for id in ids]
    assert matched(connection.sql("SELECT 1.5 AS price"), cheap="price = 1.5") == [(0, "cheap")]
    connection.close()


def test_pandas() -> None:
    frame = pd.DataFrame({"x": [1.5, None], "t": ["a", None], "when": [pd.Timestamp(NOON), pd.NaT]})
    ids = {
        "x": "x = 1.5",
        "t": "t = 'a'",
        "when": "when = timestamp '2026-11-15 12:00:00'",
        "null": "x is null and t is null",
    }
    assert matched(frame, **ids) == [(0, "x"), (0, "t"), (0, "when"), (1, "null")]
    assert tamis.parse("x is null").evaluate({"x": pd.NaT}) is True


@pytest.mark.parametrize("data", [None, {"x": [1]}, [{"x": 1}], "x", 5], ids=repr)
def test_what_is_no_arrow_data(data: Any) -> None:
    with pytest.raises(TypeError, match="is no Arrow data"):
        Index().match_arrow(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pa.array([1, 2]), "a struct of columns is needed"),
        (pa.chunked_array([[1, 2]]), "a struct of columns is needed"),
        (pa.array([{"x": 1}, None]), "a row is null as a whole"),
        (pa.chunked_array([pa.array([{"x": 1}, None])]), "a row is null as a whole"),
    ],
)
def test_arrow_data_that_is_no_table(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        matched(data, one="x = 1")


# --- results ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "type"), [([1, 2], pa.int64()), (["a", "b"], pa.large_string()), ([1, "b"], pa.large_string())]
)
def test_the_schema_of_results_does_not_depend_on_the_matches(
    ids: list[str | int], type: pa.DataType
) -> None:
    index = Index()
    index.add_many([(id, "x = 1") for id in ids])
    expected = pa.schema(
        [pa.field("event", pa.int64(), nullable=False), pa.field("id", type, nullable=False)]
    )
    for values in ([1, 1], [5], []):
        data = pa.table({"x": pa.array(values, pa.int64())})
        assert index.match_arrow(data).schema == expected
        assert index.match_many(data.to_pylist()).to_arrow().schema == expected


def test_a_batch_without_columns_has_rows_all_the_same() -> None:
    index = Index()
    index.add(1, "x is null")
    data = pa.RecordBatch.from_struct_array(pa.array([{}, {}, {}], pa.struct([])))
    assert index.match_arrow(data)["event"].to_pylist() == [0, 1, 2]


def test_rows_are_numbered_through_all_batches() -> None:
    index = Index()
    index.add(1, "x >= 20000")
    batches = [pa.record_batch({"x": range(start, start + 10_000)}) for start in range(0, 40_000, 10_000)]
    found = index.match_arrow(pa.Table.from_batches(batches), threads=2)
    assert sorted(found["event"].to_pylist()) == list(range(20_000, 40_000))


def test_offsets_and_ids_are_read_without_a_copy() -> None:
    index = Index()
    index.add_many([(7, "x > 0"), (9, "x > 1")])
    matches = index.match_many([{"x": 1}, {"x": 2}], ordered=True)
    for ours, expected in [(matches.offsets, [0, 1, 3]), (matches.ids, [7, 7, 9])]:
        by_numpy, again, by_arrow = np.asarray(ours), np.asarray(ours), pa.array(ours)
        assert (by_numpy.tolist(), by_arrow.to_pylist()) == (expected, expected)
        address = by_arrow.buffers()[1].address
        assert by_numpy.__array_interface__["data"] == (address, True)
        assert again.__array_interface__["data"][0] == address
        assert len(ours) == len(expected)
        view = memoryview(ours)
        assert (view.readonly, view.format, view.tolist()) == (True, "q", expected)
        with pytest.raises(ValueError, match="read-only"):
            by_numpy[0] = 1
    # The column of the table is the same memory, too.
    column = matches.to_arrow()["id"].chunk(0)
    assert column.buffers()[1].address == pa.array(matches.ids).buffers()[1].address


def test_text_ids_are_read_without_a_copy() -> None:
    index = Index()
    index.add_many([("one", "x > 0"), ("two", "x > 1")])
    matches = index.match_many([{"x": 1}, {"x": 2}], ordered=True)
    first, second = pa.array(matches.ids), pa.array(matches.ids)
    assert first.to_pylist() == ["one", "one", "two"]
    assert [b and b.address for b in first.buffers()] == [b and b.address for b in second.buffers()]
    with pytest.raises(BufferError, match="strings"):
        memoryview(matches.ids)


def test_results_outlive_the_index_and_the_matches() -> None:
    index = Index()
    index.add_many([(n, "x > 0") for n in range(1000)])
    matches = index.match_many([{"x": 1}] * 10, ordered=True)
    by_numpy, table = np.asarray(matches.ids), matches.to_arrow()
    del index, matches
    assert by_numpy.tolist() == list(range(1000)) * 10
    assert table["id"].to_pylist() == by_numpy.tolist()


def test_matches_speak_arrow_to_others() -> None:
    index = Index()
    index.add_many([("one", "x > 0")])
    matches = index.match_many([{"x": 1}, {}, {"x": 2}])
    expected = {"event": [0, 2], "id": ["one", "one"]}
    assert pa.table(matches).to_pydict() == expected
    assert pl.DataFrame(matches.to_arrow()).to_dict(as_series=False) == expected
    with duckdb.connect() as connection:
        connection.register("found", matches)
        assert connection.execute("SELECT count(*), max(event) FROM found").fetchall() == [(2, 2)]


def test_maps_are_objects() -> None:
    kind = pa.map_(pa.string(), pa.int64())
    maps = pa.array([[("k", 1), ("a.b", 2)], [], None], kind)
    nested = pa.StructArray.from_arrays([maps], ["m"])
    rules = {"k": "m.k = 1", "dot": "m.a.b = 2", "there": "m is not null", "nested": "n.m.k = 1"}
    found = matched(pa.table({"m": maps, "n": nested}), **rules)
    assert found == [*((0, name) for name in rules), (1, "there")]
    with pytest.raises(tamis.EventError, match="a map with keys of Arrow type Int64; strings are needed"):
        matched(pa.table({"m": pa.array([[(1, 1)]], pa.map_(pa.int64(), pa.int64()))}), k="m.k = 1")
