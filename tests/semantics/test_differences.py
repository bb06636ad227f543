"""Both oracles have three-valued logic; they differ from tamis only where docs/semantics.md says so."""

from __future__ import annotations

import datetime
import itertools
import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tamis

PAGE = Path(__file__).resolve().parents[2] / "docs" / "semantics.md"
TRUTHS = {"TRUE": True, "FALSE": False, "NULL": None}


def sqlite(condition: str) -> bool | str | None:
    connection = sqlite3.connect(":memory:")
    try:
        return _truth(connection.execute(f"SELECT {condition}").fetchone()[0])
    except sqlite3.Error:
        return "error"
    finally:
        connection.close()


def in_duckdb(condition: str) -> bool | str | None:
    with duckdb.connect() as connection:
        try:
            row = connection.execute(f"SELECT {condition}").fetchone()
        except duckdb.Error:
            return "error"
    assert row is not None
    return _truth(row[0])


def _truth(value: Any) -> bool | None:
    return None if value is None else bool(value)


def ours(expression: str, event: dict[str, Any]) -> bool | str | None:
    try:
        return tamis.parse(expression).evaluate(event)
    except tamis.TamisError:
        return "error"


@pytest.mark.parametrize(
    ("connective", "sql"), [("AND", "AND"), ("OR", "OR"), ("XOR", "<>"), ("XNOR", "="), ("NOT", "NOT")]
)
def test_connectives_are_those_of_kleene(connective: str, sql: str) -> None:
    rank = {False: 0, None: 1, True: 2}
    for (left, a), (right, b) in itertools.product(TRUTHS.items(), repeat=2):
        match connective:
            case "AND":
                expected = min(a, b, key=rank.__getitem__)
            case "OR":
                expected = max(a, b, key=rank.__getitem__)
            case "NOT":
                expected = None if a is None else not a
            case _:
                expected = None if a is None or b is None else (a != b) == (connective == "XOR")
        condition = f"NOT {left}" if connective == "NOT" else f"({left}) {sql} ({right})"
        expression = "not a" if connective == "NOT" else f"a {connective} b"
        typed = re.sub("NULL", "NULL::BOOL", condition)
        assert (sqlite(condition), in_duckdb(typed)) == (expected, expected), condition
        assert ours(expression, {"a": a, "b": b}) is expected, (expression, a, b)


@dataclass(frozen=True)
class Difference:
    """One expression in the syntax of tamis, SQLite and DuckDB, with the result of each."""

    topic: str
    tamis: tuple[str, Any, bool | str | None]
    sqlite: tuple[str, bool | str | None]
    duckdb: tuple[str, bool | str | None]


DAY = datetime.date(2026, 1, 1)
NAN = float("nan")
NO_ILIKE = ("'x' ILIKE 'x'", "error")
NO_REGEXP = ("'x' REGEXP 'x'", "error")
DIFFERENCES = [
    Difference("text and number", ("x > 30", "abc", None), ("'abc' > 30", True), ("'abc' > 30", "error")),
    Difference("digits and number", ("x = 10", "10", None), ("'10' = 10", False), ("'10' = 10", True)),
    Difference("boolean and number", ("x = 1", True, None), ("TRUE = 1", True), ("TRUE = 1", True)),
    Difference("number as condition", ("x", 2, None), ("2 AND TRUE", True), ("2 AND TRUE", True)),
    Difference(
        "list of several kinds",
        ("x in (1, 'b')", "b", True),
        ("'b' IN (1, 'b')", True),
        ("'b' IN (1, 'b')", "error"),
    ),
    Difference(
        "list of several kinds",
        ("x not in (1, 'b')", 2, None),
        ("2 NOT IN (1, 'b')", True),
        ("2 NOT IN (1, 'b')", "error"),
    ),
    Difference(
        "NULL as a literal",
        ("x in (1, NULL)", 2, "error"),
        ("2 IN (1, NULL)", None),
        ("2 IN (1, NULL)", None),
    ),
    Difference(
        "integer and float",
        ("x = 9007199254740992.0", 9007199254740993, False),
        ("9007199254740993 = 9007199254740992.0", False),
        ("9007199254740993::BIGINT = 9007199254740992::DOUBLE", True),
    ),
    Difference("NaN", ("x > 1", NAN, None), ("(1e999 - 1e999) > 1", None), ("'nan'::DOUBLE > 1", True)),
    Difference(
        "NaN", ("x is null", NAN, True), ("(1e999 - 1e999) IS NULL", True), ("'nan'::DOUBLE IS NULL", False)
    ),
    Difference(
        "date and text",
        ("x = '2026-01-01'", DAY, None),
        ("date('2026-01-01') = '2026-01-01'", True),
        ("DATE '2026-01-01' = '2026-01-01'", True),
    ),
    Difference(
        "date and timestamp",
        ("x = timestamp '2026-01-01 00:00:00'", DAY, True),
        ("date('2026-01-01') = datetime('2026-01-01 00:00:00')", False),
        ("DATE '2026-01-01' = TIMESTAMP '2026-01-01 00:00:00'", True),
    ),
    Difference("case in LIKE", ("x like 'A'", "a", False), ("'a' LIKE 'A'", True), ("'a' LIKE 'A'", False)),
    Difference(
        "escape in LIKE", (r"x like '\%'", "%", True), (r"'%' LIKE '\%'", False), (r"'%' LIKE '\%'", False)
    ),
    Difference(
        "escape in LIKE",
        ("x like 'a\\'", "a", "error"),
        ("'a' LIKE 'a\\' ESCAPE '\\'", False),
        ("'a' LIKE 'a\\' ESCAPE '\\'", "error"),
    ),
    Difference(
        "NUL in LIKE",
        ("x like 'a_b'", "a\0b", True),
        ("('a' || char(0) || 'b') LIKE 'a_b'", False),
        ("('a' || chr(0) || 'b') LIKE 'a_b'", True),
    ),
    Difference("case folding", ("x ilike 's'", "\u017f", True), NO_ILIKE, ("'\u017f' ILIKE 's'", False)),
    Difference("case folding", ("x ilike 'Σ'", "ς", True), NO_ILIKE, ("'ς' ILIKE 'Σ'", False)),
    Difference("case folding", ("x ilike 'i'", "İ", False), NO_ILIKE, ("'İ' ILIKE 'i'", True)),
    Difference(
        "classes in RLIKE", (r"x rlike '\d'", "٣", True), NO_REGEXP, (r"regexp_matches('٣', '\d')", False)
    ),
    Difference(
        "classes in RLIKE", (r"x rlike '\w'", "é", True), NO_REGEXP, (r"regexp_matches('é', '\w')", False)
    ),
]


@pytest.mark.parametrize(
    "difference", DIFFERENCES, ids=lambda difference: f"{difference.topic}: {difference.tamis[0]}"
)
def test_difference(difference: Difference) -> None:
    expression, value, expected = difference.tamis
    assert ours(expression, {"x": value}) == expected
    assert sqlite(difference.sqlite[0]) == difference.sqlite[1]
    assert in_duckdb(difference.duckdb[0]) == difference.duckdb[1]
    assert expected != difference.sqlite[1] or expected != difference.duckdb[1], "no difference"


def test_the_page_lists_exactly_these_topics() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## Where SQLite and DuckDB differ")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE)
    assert rows[0] == "topic"
    assert sorted(set(rows) - {"topic", "---"}) == sorted({difference.topic for difference in DIFFERENCES})
