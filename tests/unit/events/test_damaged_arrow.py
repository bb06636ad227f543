"""Arrow data that pyarrow opens although it is damaged: an error, never a crash, and no memory of others."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

import tamis
from tamis import Index

REFUSED = (tamis.TamisError, TypeError)


@dataclass
class Damaged:
    """A column, and what damages it: pyarrow checks what it makes, but not what changes behind its back."""

    array: pa.Array
    damage: Callable[[], None] = lambda: None
    rows: int = 0
    """Number of rows that a file says it has; 0 if the column is in no file."""

    def inside(self, *names: str, **beside: pa.Array) -> pa.RecordBatch:
        """The column in a batch, below these names, with other columns; damaged once the batch is made."""
        array = self.array
        for name in reversed(names[1:]):
            array = pa.StructArray.from_arrays([array], [name])
        batch = pa.RecordBatch.from_pydict({names[0]: array, **beside})
        if self.rows:
            batch = reopened(batch, self.rows)
        self.damage()
        return batch


def column(type: pa.DataType, format: str, numbers: tuple[int, ...], **more: Any) -> Damaged:
    """A column whose first buffer gets other numbers."""
    data = [more.pop("data")] if "data" in more else []
    memory = bytearray(struct.calcsize(f"<{len(numbers)}{format}"))
    length = len(numbers) - (0 if pa.types.is_integer(type) else 1)
    made = pa.Array.from_buffers(type, length, [None, pa.py_buffer(memory), *data], **more)
    return Damaged(made, lambda: struct.pack_into(f"<{len(numbers)}{format}", memory, 0, *numbers))


def strings(*offsets: int, data: bytes = b"abc") -> Damaged:
    return column(pa.string(), "i", offsets, data=pa.py_buffer(data))


def large_strings(*offsets: int) -> Damaged:
    return column(pa.large_string(), "q", offsets, data=pa.py_buffer(b"abc"))


def view(length: int, buffer: int, offset: int) -> Damaged:
    memory, data = bytearray(32), pa.py_buffer(b"abcd" * 8)
    made = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(memory), data])
    return Damaged(made, lambda: struct.pack_into("<i4sii", memory, 16, length, b"abcd", buffer, offset))


def lists(type: pa.DataType, format: str, *offsets: int) -> Damaged:
    return column(type, format, offsets, children=[pa.array([1, 2, 3])])


def list_of(values: Damaged) -> Damaged:
    return Damaged(pa.ListArray.from_arrays([0, len(values.array)], values.array), values.damage)


def dictionary(format: str, type: pa.DataType, *keys: int) -> Damaged:
    made = column(type, format, keys)
    return Damaged(pa.DictionaryArray.from_arrays(made.array, pa.array(["x", "y"])), made.damage)


def dictionary_of(values: Damaged) -> Damaged:
    return Damaged(pa.DictionaryArray.from_arrays(pa.array([0, 1]), values.array), values.damage)


def run_ends(*ends: int) -> Damaged:
    memory = bytearray(struct.pack("<2i", 1, 2))
    made = pa.Array.from_buffers(pa.int32(), 2, [None, pa.py_buffer(memory)])
    encoded = pa.RunEndEncodedArray.from_arrays(made, pa.array(["a", "b"]))
    return Damaged(encoded, lambda: struct.pack_into("<2i", memory, 0, *ends))


LENGTH = 777
"""Of columns in files; no other number in a file looks like it."""


def in_file(values: list[Any], type: pa.DataType | None = None, rows: int = 100_000_000) -> Damaged:
    """A column of a file that says it has more rows than it has."""
    return Damaged(pa.array((values * LENGTH)[:LENGTH], type), rows=rows)


def reopened(batch: pa.RecordBatch, rows: int) -> pa.RecordBatch:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    content = sink.getvalue().to_pybytes().replace(struct.pack("<q", LENGTH), struct.pack("<q", rows))
    return pa.ipc.open_stream(pa.py_buffer(content)).read_next_batch()


STRINGS: dict[str, Callable[[], Damaged]] = {
    "an offset beyond the data": lambda: strings(0, 1_000_000_000, 3),
    "a negative offset": lambda: strings(0, -5, 3),
    "offsets that descend": lambda: strings(0, 3, 1, 3),
    "a last offset beyond the data": lambda: strings(0, 1, 1_000_000_000),
    "a negative last offset": lambda: strings(0, 1, -1),
    "a first offset beyond the last": lambda: strings(1_000_000_000, 1_000_000_000, 3),
    "fewer offsets than rows": lambda: in_file(["ab"]),
    "a large offset beyond the data": lambda: large_strings(0, 2**60, 3),
    "a negative large offset": lambda: large_strings(0, -(2**60), 3),
    "a large last offset beyond the data": lambda: large_strings(0, 1, 2**62),
    "a negative large last offset": lambda: large_strings(0, 1, -(2**62)),
    "a view of another buffer": lambda: view(20, 1, 0),
    "a view of a negative buffer": lambda: view(20, -1, 0),
    "a view beyond its buffer": lambda: view(20, 0, 20),
    "a view at a negative offset": lambda: view(20, 0, -20),
    "a view of a negative length": lambda: view(-20, 0, 0),
    "a long view": lambda: view(2**31 - 1, 0, 0),
    "fewer views than rows": lambda: in_file(["a"], pa.string_view()),
    "not UTF-8": lambda: strings(0, 1, 3, data=b"a\xff\xfe"),
    "half a character": lambda: strings(0, 2, 3, data="aé".encode()),
}

OTHERS: dict[str, Callable[[], Damaged]] = {
    "a key beyond the dictionary": lambda: dictionary("b", pa.int8(), 0, 7),
    "a negative key": lambda: dictionary("i", pa.int32(), 0, -1),
    "a huge key": lambda: dictionary("q", pa.int64(), 0, 2**62),
    "a dictionary with a damaged value": lambda: dictionary_of(strings(0, -5, 3)),
    "a list beyond the elements": lambda: lists(pa.list_(pa.int64()), "i", 0, 1_000_000_000, 3),
    "a list at a negative offset": lambda: lists(pa.list_(pa.int64()), "i", 0, -7, 3),
    "a last list beyond the elements": lambda: lists(pa.list_(pa.int64()), "i", 0, 1, 1_000_000_000),
    "a large list beyond the elements": lambda: lists(pa.large_list(pa.int64()), "q", 0, 2**61, 3),
    "a list of damaged strings": lambda: list_of(strings(0, 2**30, 3)),
    "a list of damaged views": lambda: list_of(view(20, 5, 0)),
    "a list of damaged keys": lambda: list_of(dictionary("b", pa.int8(), 0, 7)),
    "fewer lists than rows": lambda: in_file([[1, 2]]),
    "short lists of fixed size": lambda: in_file([[1, 2]], pa.list_(pa.int64(), 2)),
    "fewer numbers than rows": lambda: in_file([1]),
    "fewer booleans than rows": lambda: in_file([True], rows=10_000_000_000),
    "fewer null bits than rows": lambda: in_file([1, None]),
    "fewer keys than rows": lambda: in_file(["a", "b"], pa.dictionary(pa.int32(), pa.string())),
    "run ends that descend": lambda: run_ends(5, 2),
    "a negative run end": lambda: run_ends(-1, 2),
    "a run end beyond the rows": lambda: run_ends(1, 10**9),
}


def refused(data: Callable[[], Any], *expressions: str) -> None:
    """Whatever reads the column `x` refuses the data; the index stays as it was."""
    index = Index()
    index.add_many(dict(enumerate(expressions)))
    for read in (index.match_arrow, index.observe, lambda data: index.top_k_batches(data, k=1)):
        with pytest.raises(REFUSED):
            read(data())
    assert list(index) == list(range(len(expressions)))
    index.validate()


@pytest.mark.parametrize("name", [*STRINGS, *OTHERS])
def test_damaged_columns_of_events(name: str) -> None:
    make = {**STRINGS, **OTHERS}[name]
    refused(lambda: make().inside("x"), "x = 'a'", "x > 1", "any(x) = 1", "x is null")
    refused(lambda: make().inside("n", "x"), "n.x = 'a'")
    refused(lambda: reader(make().inside("x")).read_all(), "x = 'a'")
    refused(lambda: reader(make().inside("x")), "x = 'a'")


def reader(batch: pa.RecordBatch) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(batch.schema, [batch])


@pytest.mark.parametrize("name", STRINGS)
def test_damaged_columns_of_rules(name: str) -> None:
    index = Index()
    for damaged, sound in (("expression", "id"), ("id", "expression")):
        column = STRINGS[name]()
        beside = {sound: pa.array([f"a = {n}" for n in range(len(column.array))])}
        with pytest.raises(REFUSED):
            index.add_many(column.inside(damaged, **beside))
    assert len(index) == 0


def test_damage_where_no_rule_looks_is_not_read() -> None:
    index = Index()
    index.add("ok", "y = 1")
    data = strings(0, -5, 3).inside("x", y=pa.array([1, 2]))
    assert index.match_arrow(data)["event"].to_pylist() == [0]


class Foreign:
    """Data of a library that tamis does not know."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.batch.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize("name", ["a negative offset", "offsets that descend", "a view of another buffer"])
def test_other_producers_are_checked_too(name: str) -> None:
    refused(lambda: Foreign(STRINGS[name]().inside("x")), "x = 'a'")


def test_parts_that_contradict_each_other_are_no_panic(capfd: pytest.CaptureFixture[str]) -> None:
    short = OTHERS["short lists of fixed size"]
    refused(lambda: Foreign(short().inside("x")), "any(x) = 1")
    capfd.readouterr()


def test_names_that_are_not_utf8_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    batch = pa.RecordBatch.from_pydict({"some_name": [1]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    content = sink.getvalue().to_pybytes().replace(b"some_name", b"some\xff\xfe\xfdme")

    def opened() -> pa.RecordBatchReader:
        return pa.ipc.open_stream(pa.py_buffer(content))

    refused(lambda: opened().read_all(), "a = 1")
    refused(lambda: opened().read_next_batch(), "a = 1")
    refused(lambda: Foreign(opened().read_next_batch()), "a = 1")
    capfd.readouterr()


def test_files_with_flipped_bytes_are_matched_or_refused(random_seed: int) -> None:
    """What pyarrow opens is matched or refused. 400 files, each with one to three bytes changed."""
    table = pa.table(
        {
            "i": pa.array([1, None, 3] * 40),
            "f": pa.array([0.5, 1.5, None] * 40),
            "b": pa.array([True, None, False] * 40),
            "s": pa.array(["a", "some longer text, 20 bytes", None] * 40),
            "v": pa.array(["a", "some longer text, 20 bytes", None] * 40, pa.string_view()),
            "d": pa.array(["a", "b", None] * 40).dictionary_encode(),
            "l": pa.array([["a", "b"], None, []] * 40),
            "n": pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}] * 40),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=30)
    content = sink.getvalue().to_pybytes()
    index = Index()
    scalars = ["i = 1", "f > 1", "b", "s like 'a%'", "v like 'a%'", "d = 'b'"]
    index.add_many({text: text for text in [*scalars, "any(l) = 'b'", "n.x = 1", "n.y = 'a'"]})
    chosen = random.Random(random_seed)
    outcomes = {"matched": 0, "refused": 0, "not opened": 0}
    for _ in range(400):
        changed = bytearray(content)
        for _ in range(chosen.randint(1, 3)):
            changed[chosen.randrange(len(changed))] ^= 1 << chosen.randrange(8)
        try:
            opened = pa.ipc.open_stream(pa.py_buffer(bytes(changed))).read_all()
        except (pa.ArrowException, OSError, ValueError, KeyError, UnicodeError):
            outcomes["not opened"] += 1
            continue
        try:
            index.match_arrow(opened)
            outcomes["matched"] += 1
        except REFUSED:
            outcomes["refused"] += 1
    assert outcomes["matched"] and outcomes["refused"], outcomes
    index.validate()
