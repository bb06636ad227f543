"""Bad input gets a clear answer that names the place, and leaves the index as it was."""

from __future__ import annotations

import datetime
import pickle
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tamis
from tamis import Index, Limits, parse

EVENTS: list[dict[str, Any]] = [{}, {"a": 1}, {"a": 5, "n": {"t": "xyz"}}, {"a": "text", "l": [1, 2]}]


def filled() -> Index:
    index = Index()
    index.add_many(
        {"one": "a > 1", 2: "n.t like 'x%'", "list": "any(l) = 2", "always": "TRUE", "gone": "a = 1"}
    )
    index.remove("gone")
    return index


def picture(index: Index) -> dict[str, Any]:
    """All that can be seen of an index."""
    return {
        "ids": list(index),
        "texts": [str(index[id]) for id in index],
        "matches": [index.match(event) for event in EVENTS],
        "many": list(index.match_many(EVENTS, ordered=True)),
        "top": [index.top_k(event) for event in EVENTS],
        "stats": {
            figure: index.stats()[figure] for figure in ("engine", "missing", "subscriptions", "attributes")
        },
        "bytes": pickle.dumps(index),
    }


@contextmanager
def unchanged(index: Index) -> Iterator[None]:
    before = picture(index)
    yield
    assert picture(index) == before
    index.validate()
    # And it goes on working.
    index.add("after", "b > 1")
    assert index.match({"b": 2}) == ["always", "after"]


# --- expressions ------------------------------------------------------------------------------------

DEEP = 100_000
REFUSED_TEXTS: dict[str, tuple[str, str, int | None]] = {
    "nothing": ("", "found the end of the text, expected an attribute", 1),
    "a megabyte": ("a = 1 or " * 120_000 + "b = 1", "at most 500000 bytes (max_length)", 500_001),
    "a megabyte of text": ("a = '" + "x" * 2**20 + "'", "at most 500000 bytes (max_length)", 500_001),
    "parentheses": ("(" * DEEP + "a" + ")" * DEEP, "at most 200 levels of nesting (max_depth)", 200),
    "open parentheses": ("(" * DEEP, "at most 200 levels of nesting (max_depth)", 200),
    "closed parentheses": (")" * DEEP, "found ), expected an attribute", 1),
    "negations": ("not " * DEEP + "a", "at most 200 levels of nesting (max_depth)", 797),
    "exclamation marks": ("!" * DEEP + "a", "at most 200 levels of nesting (max_depth)", 200),
    "dots": ("a" + ".a" * DEEP + " = 1", "at most 1000 bytes for an attribute's name", 1),
    "quotes": ("a = '" + "''" * DEEP, "a quote that is never closed", 5),
    "regex too large": ("a rlike '(\\w{500}){500}'", "(max_regex_size)", 9),
    "regex too deep": (
        f"a rlike '{'(' * 5000}{')' * 5000}'",
        "nested parentheses/brackets (100)",
        9,
    ),
    "regex broken": ("a rlike '(b'", "a valid regular expression (unclosed group)", 9),
    "regex with look-ahead": ("a rlike 'b(?=c)'", "look-around", 9),
    "regex with a back-reference": ("a rlike '(b)\\1'", "backreferences are not supported", 9),
    "pattern too large": (f"a ilike '{'_%' * 100_000}'", "(max_regex_size)", 9),
    "pattern with a loose escape": ("a like 'b\\'", "a character after the escaping backslash", 8),
    "integer too large": ("a = 9223372036854775808", "an integer of 64 bits", 5),
    "integer of many digits": ("a = " + "9" * 10_000, "an integer of 64 bits", 5),
    "float too large": ("a = 1e999", "a number that fits a 64-bit float", 5),
    "NaN": ("a = NaN", "attributes compare with literals", 5),
    "infinity": ("a = -inf", "found '-', expected", 5),
    "NULL": ("a = NULL", "NULL is no value, write IS NULL", 5),
    "lone surrogate": ("a = '\ud800'", "a lone surrogate", 6),
    "no such day": ("a = date '2026-02-30'", "a date such as", 10),
    "weight": ("a > 1 ^ -1", "a weight: a finite number, not negative", 9),
    "host bits": ("in_cidr(a, '10.0.0.1/8')", "a network without host bits: '10.0.0.0/8'", 12),
}


@pytest.mark.parametrize("case", REFUSED_TEXTS)
def test_refused_text(case: str) -> None:
    text, message, column = REFUSED_TEXTS[case]
    index = filled()
    with unchanged(index):
        for use in (lambda: parse(text), lambda: index.add("new", text), lambda: index.replace("one", text)):
            with pytest.raises(tamis.ParseError) as caught:
                use()
            error = caught.value
            assert message in str(error)
            assert (error.line, error.row) == (1, None)
            assert column is None or error.column == column
            assert len(str(error)) < 1000
        batches: list[Callable[[], None]] = [
            lambda: index.add_many(["b1", "b2", "b3"], ["new1 > 1", text, "new3 > 1"]),
        ]
        if case != "lone surrogate":
            table = pa.table({"id": ["b1", "b2", "b3"], "expression": ["new1 > 1", text, "new3 > 1"]})
            batches.append(lambda: index.add_many(table))
        for add in batches:
            with pytest.raises(tamis.ParseError) as caught:
                add()
            assert caught.value.row == 1
            assert str(caught.value).startswith("row 1: line 1, column ")


@pytest.mark.parametrize("function", ["any", "all", "contains", "in_cidr"])
def test_calls_inside_calls(function: str) -> None:
    # In a process of its own: at stake is that it lives on.
    program = f"""import tamis
try:
    tamis.parse("{function}(" * (499_000 // len("{function}(")))
except tamis.ParseError as error:
    print(error.column, error.expected)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "an attribute" in done.stdout


def test_the_place_is_shown_in_long_and_many_lines() -> None:
    with pytest.raises(tamis.ParseError) as caught:
        parse("a = 1\nand é = 'ü' and\n\tb == = 2")
    assert (caught.value.line, caught.value.column, caught.value.found) == (3, 7, "=")
    assert str(caught.value).splitlines()[1:] == ["   b == = 2", "        ^"]
    with pytest.raises(tamis.ParseError) as caught:
        parse("a = 1 and " * 1000 + "b = " + " and a = 1" * 1000)
    line, caret = str(caught.value).splitlines()[1:]
    assert line[caret.index("^") :].startswith("and a = 1")
    assert len(line) < 140


def test_raised_limits_take_what_the_default_refuses() -> None:
    text = " or ".join(f"a = {i}" for i in range(100_000))
    assert len(text) > 2**20
    index = Index(limits=Limits(max_length=2**21, max_depth=1000))
    index.add("long", text)
    index.add("deep", "not " * 900 + "b")
    assert index.match({"a": 99_999, "b": True}) == ["long", "deep"]


# --- ids --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arrow", [False, True], ids=["sequences", "arrow"])
@pytest.mark.parametrize(
    ("ids", "row"),
    [(["n1", "one", "n3"], 1), (["n1", "n2", "n1"], 2), (["n1", "n2", "n3", "n4", "n2"], 4)],
    ids=["in the index", "in the batch", "in the batch, later"],
)
def test_a_duplicate_in_a_batch(ids: list[str], row: int, arrow: bool) -> None:
    index = filled()
    texts = [f"new{i} > 1 and a = {i}" for i in range(len(ids))]
    with unchanged(index):
        with pytest.raises(tamis.DuplicateId) as caught:
            if arrow:
                index.add_many(pa.table({"id": ids, "expression": texts}))
            else:
                index.add_many(ids, texts)
        assert (caught.value.row, caught.value.id) == (row, ids[row])
        assert str(caught.value).startswith(f"row {row}: ")


def test_a_failed_batch_leaves_the_figures_of_the_engine() -> None:
    index = filled()
    before = index.stats()
    with pytest.raises(tamis.ParseError):
        index.add_many(["b1", "b2"], ["new1 > 1", "("])
    assert index.stats() == before


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({"id": [1, None], "expression": ["a", "b"]}, tamis.InvalidId, "row 1: the id is null"),
        ({"id": [1.5, 2.5], "expression": ["a", "b"]}, tamis.InvalidId, "of Arrow type Float64"),
        (
            {"id": pa.array([1, 2**63], pa.uint64()), "expression": ["a", "b"]},
            tamis.InvalidId,
            "row 1: .*64 bits",
        ),
        ({"id": [1, 2], "expression": ["a", None]}, tamis.ParseError, "row 1: the expression is null"),
        ({"id": [1, 2], "expression": [1, 2]}, tamis.ParseError, "row 0: .*of Arrow type Int64"),
        ({"id": [1, 2]}, tamis.ParseError, 'no column "expression"'),
        ({"expression": ["a", "b"]}, tamis.ParseError, 'no column "id"'),
        ({"other": pa.array([], pa.int64())}, tamis.ParseError, 'no column "id"'),
    ],
)
def test_tables_that_hold_no_expressions(table: dict[str, Any], error: type[Exception], message: str) -> None:
    index = filled()
    with unchanged(index), pytest.raises(error, match=message):
        index.add_many(pa.table(table))


def not_utf8(texts: list[bytes]) -> pa.Array:
    """A column of strings that are none: Arrow does not look."""
    return pa.Array.from_buffers(pa.string(), len(texts), pa.array(texts).buffers())


def test_arrow_text_that_is_not_utf8() -> None:
    index = filled()
    texts = not_utf8([b"a > 1", b"a = '\xff'"])
    with unchanged(index):
        with pytest.raises(tamis.ParseError, match="row 1: the expression is not UTF-8"):
            index.add_many(pa.table({"id": [1, 3], "expression": texts}))
        with pytest.raises(tamis.InvalidId, match="row 1: the id is not UTF-8"):
            index.add_many(pa.table({"id": texts, "expression": ["a", "b"]}))


def test_arrow_events_that_are_not_utf8() -> None:
    index = filled()
    struct = pa.StructArray.from_arrays([not_utf8([b"fine", b"\xff\xfe"])], ["t"])
    with unchanged(index), pytest.raises(tamis.EventError, match="UTF-8") as caught:
        index.match_arrow(pa.table({"n": struct}))
    assert (caught.value.attribute, caught.value.row) == ("n.t", 1)


# --- events -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [2**64, "\ud800", 1j, object()], ids=["2**64", "surrogate", "complex", "object"]
)
def test_events(value: Any) -> None:
    index = filled()
    with unchanged(index):
        for use in (
            lambda: index.match({"a": value}),
            lambda: index.match_many([*EVENTS, {"a": value}]),
            lambda: index.observe([*EVENTS, {"a": value}]),
            lambda: index.top_k({"a": value}),
            lambda: index.explain("one", {"a": value}),
        ):
            with pytest.raises(tamis.EventError) as caught:
                use()
            assert caught.value.attribute == "a"


def test_nan_is_a_missing_value_and_no_error() -> None:
    index = filled()
    index.add("null", "a is null")
    for event in ({"a": float("nan")}, {"a": None}, {}):
        assert index.match(event) == ["always", "null"]


def test_a_column_without_meaning() -> None:
    index = filled()
    with (
        unchanged(index),
        pytest.raises(tamis.EventError, match='attribute "a": a column of Arrow type Time'),
    ):
        index.match_arrow(pa.table({"a": [datetime.time(1)]}))


# --- files ------------------------------------------------------------------------------------------


def test_truncated_files(tmp_path: Path) -> None:
    path = tmp_path / "index.tamis"
    filled().save(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(tamis.FileError) as caught:
            Index.load(path)
        assert caught.value.path == path
        assert str(caught.value).startswith(f"{path}: ")
    path.write_bytes(whole + b"\0")
    with pytest.raises(tamis.FileError, match="truncated or extended"):
        Index.load(path)
    path.write_bytes(whole)
    assert picture(Index.load(path)) == picture(filled())


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "index.tamis"
    filled().save(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        path.write_bytes(damaged)
        with pytest.raises(tamis.FileError):
            Index.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a tamis index"),
        (b"PAR1" + b"\0" * 100, "not a tamis index"),
        (b'{"a": 1}', "not a tamis index"),
        (zlib.compress(b"x" * 1000), "not a tamis index"),
        (b"tamis\0ix" + b"\x63\0\0\0" + b"\0" * 100, "format version 99"),
    ],
)
def test_foreign_files(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(tamis.FileError, match=message) as caught:
        Index.load(path)
    assert caught.value.path == path


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    for use in (
        lambda: Index.load(tmp_path / "missing"),
        lambda: Index.load(tmp_path),
        lambda: filled().save(tmp_path / "no" / "folder"),
        lambda: filled().save(tmp_path),
    ):
        with pytest.raises(tamis.FileError) as caught:
            use()
        assert caught.value.path is not None
    assert list(tmp_path.iterdir()) == []
