"""Random trees and rows, all from Hypothesis strategies, so that failing cases shrink.

Values come from small pools of edge cases, so that a row often holds a value equal or next to a literal.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st
from tests.semantics.tree import (
    COLUMNS,
    Between,
    Column,
    Compare,
    Constant,
    Flag,
    Function,
    In,
    IsNull,
    Join,
    Kind,
    Not,
    Pattern,
    Tree,
    Value,
)

Row: TypeAlias = Mapping[str, Value | None]

DEPTH = 6
TWO_53, TWO_63 = 2**53, 2**63
EDGE_INTS = [
    *(0, 1, -1, 2, 7, TWO_53 - 1, TWO_53, TWO_53 + 1, -TWO_53 - 1),
    *(TWO_63 - 1, TWO_63 - 2, -TWO_63, -TWO_63 + 1),
]
EDGE_FLOATS = [
    *(0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 0.1, 1.5, 7.0, 1e15, 1e22),
    *(5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308),
    *(float(TWO_53 - 1), float(TWO_53), float(TWO_53 + 2)),
    *(float(TWO_63), -float(TWO_63), math.nextafter(TWO_63, 0)),
]
# Quotes, wildcards, escapes, line ends, letters of all widths, and neighbours in code-point order that
# UTF-16 would order the other way round.
TEXTS = [
    *("", " ", "a", "A", "ab", "abc", "abcabc", "b", "aa", "ba", "a b", "10", "9"),
    *("'", "it's", "''", '"', "%", "a%", "%a%", "_", "a_c", "\\", "a\\b", "\\%", "a%b_c\\d"),
    *("a\nb", "a\n", "\t", "é", "É", "e\u0301", "ß", "straße", "中文", "\ufffd", "\U0001f600", "\U0001f600a"),
]
ASCII_TEXTS = [
    *("", "a", "A", "aB", "AB", "ab", "bA", "abC", "ABC", "a_B", "A%b", "z\\Z"),
    *("K", "k", "s", "S", "10", "中a"),
]
DAYS = [
    datetime.date(1, 1, 1),
    datetime.date(1969, 12, 31),
    datetime.date(1970, 1, 1),
    datetime.date(2024, 2, 29),
    datetime.date(2026, 11, 15),
    datetime.date(9999, 12, 31),
]
INSTANTS = [
    *(datetime.datetime(day.year, day.month, day.day) for day in DAYS),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime.datetime(2026, 11, 15, 0, 0, 0, 1),
    datetime.datetime(2026, 11, 15, 10, 0),
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
]

ints = st.sampled_from(EDGE_INTS) | st.integers(-3, 9) | st.integers(-TWO_63, TWO_63 - 1)
floats = st.sampled_from(EDGE_FLOATS) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.sampled_from(TEXTS) | st.text(alphabet="ab%_\\'é\U0001f600", max_size=4)
ascii_texts = st.sampled_from(ASCII_TEXTS) | st.text(alphabet="abABkKsS%_", max_size=4)
dates = st.sampled_from(DAYS) | st.dates()
timestamps = st.sampled_from(INSTANTS) | st.datetimes()

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.INT: ints,
    Kind.FLOAT: floats,
    Kind.TEXT: texts,
    Kind.ASCII: ascii_texts,
    Kind.BOOL: st.booleans(),
    Kind.DATE: dates,
    Kind.TIMESTAMP: timestamps,
}
# Values that no literal has. Infinity is a number in all three; NaN is a missing value.
UNWRITABLE: dict[Kind, list[Value]] = {Kind.FLOAT: [math.inf, -math.inf, math.nan]}

# The values of one example, drawn once for its rows and its literals: so they are often equal,
# and an example stays small. Hypothesis gives up on large ones, which would leave the simplest expressions.
POOLS = {
    kind: st.shared(st.lists(values, min_size=3, max_size=6), key=kind.value)
    for kind, values in VALUES.items()
}


Item = TypeVar("Item")


@st.composite
def most_of(draw: st.DrawFn, items: st.SearchStrategy[Item], count: int) -> list[Item]:
    """Nearly `count` items, and at least one.

    A failing case shrinks to those it needs, which a list of a fixed size could not; a list of any size would
    mostly be short.
    """
    maybe = st.sampled_from([False] + [True] * 19).flatmap(lambda keep: items if keep else st.none())
    rest = [draw(maybe) for _ in range(count - 1)]
    return [draw(items), *(item for item in rest if item is not None)]


@st.composite
def tables(draw: st.DrawFn, rows: int) -> list[Row]:
    """Rows of all columns. The cells of a failing case shrink to null."""
    cells = {
        column.name: st.sampled_from([None, *draw(POOLS[column.kind]), *UNWRITABLE.get(column.kind, [])])
        for column in COLUMNS
    }
    return draw(most_of(st.fixed_dictionaries(cells), rows))


@dataclass(frozen=True)
class Numbers:
    """Which numbers an oracle compares exactly with an integer column, and with a float column."""

    with_ints: st.SearchStrategy[int | float]
    with_floats: st.SearchStrategy[int | float]


pooled_ints = POOLS[Kind.INT].flatmap(st.sampled_from)
pooled_floats = POOLS[Kind.FLOAT].flatmap(st.sampled_from)
# SQLite compares integers and floats as the numbers they are.
EXACT = Numbers(with_ints=pooled_ints | ints | floats, with_floats=pooled_floats | floats | ints)
# DuckDB makes both sides floats, so the types stay apart, except for integers that floats hold.
SAME_TYPE = Numbers(
    with_ints=pooled_ints | ints,
    with_floats=pooled_floats | floats | ints.filter(lambda i: int(float(i)) == i),
)


def literals(numbers: Numbers) -> dict[Kind, st.SearchStrategy[Any]]:
    """What a column of each kind is compared with."""
    pooled = {kind: pool.flatmap(st.sampled_from) for kind, pool in POOLS.items()}
    times = pooled[Kind.DATE] | pooled[Kind.TIMESTAMP] | dates | timestamps
    return {
        Kind.INT: numbers.with_ints,
        Kind.FLOAT: numbers.with_floats,
        Kind.TEXT: pooled[Kind.TEXT] | texts,
        Kind.ASCII: pooled[Kind.ASCII] | ascii_texts,
        Kind.BOOL: st.booleans(),
        Kind.DATE: times,
        Kind.TIMESTAMP: times,
    }


def _columns(*kinds: Kind) -> st.SearchStrategy[Column]:
    return st.sampled_from([column for column in COLUMNS if not kinds or column.kind in kinds])


def like_patterns(alphabet: str) -> st.SearchStrategy[str]:
    """Wildcards, escapes of them and of plain characters; no backslash at the end, which tamis refuses."""
    element = st.sampled_from(["%", "_", "\\%", "\\_", "\\\\", "\\a", *alphabet])
    return st.lists(element, max_size=5).map("".join)


_atoms = st.sampled_from(
    ["a", "b", "é", "1", ".", "[ab]", "[^a]", "[a-c0-9]", "(a|bc)", "(ab)", "\\.", "\\\\", "'", "%"]
)
_repeats = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}"])


@st.composite
def regexes(draw: st.DrawFn) -> str:
    """Expressions that the Rust crate, RE2 and Python's `re` read alike; `$` only ends a branch."""

    def branch() -> str:
        atoms = draw(st.lists(st.tuples(_atoms, _repeats), max_size=4))
        body = "".join(atom + repeat for atom, repeat in atoms)
        return draw(st.sampled_from(["", "^"])) + body + draw(st.sampled_from(["", "$"]))

    return "|".join(branch() for _ in range(draw(st.integers(1, 2))))


def predicates(numbers: Numbers) -> st.SearchStrategy[Tree]:
    values = literals(numbers)
    symbols = st.sampled_from(["=", "==", "!=", "<>", "<", "<=", ">", ">="])
    negated = st.booleans()
    any_text = (Kind.TEXT, Kind.ASCII)

    def compares(column: Column) -> st.SearchStrategy[Tree]:
        return st.builds(Compare, st.just(column), symbols, values[column.kind], st.booleans())

    def betweens(column: Column) -> st.SearchStrategy[Tree]:
        # Bounds in the wrong order are part of the test: such a range is empty.
        return st.builds(Between, st.just(column), negated, values[column.kind], values[column.kind])

    def lists(column: Column) -> st.SearchStrategy[Tree]:
        chosen = st.lists(values[column.kind], min_size=1, max_size=4).map(tuple)
        return st.builds(In, st.just(column), negated, chosen)

    functions = st.sampled_from(["startswith", "endswith", "contains"])
    folded_regexes = regexes().map(lambda regex: "(?i)" + regex.replace("é", "k"))
    return st.one_of(
        st.builds(Constant, st.booleans()),
        st.builds(Flag, _columns(Kind.BOOL)),
        _columns().flatmap(compares),
        _columns().flatmap(compares),
        _columns().flatmap(betweens),
        _columns().flatmap(lists),
        st.builds(IsNull, _columns(), negated),
        st.builds(Pattern, _columns(*any_text), negated, st.just("like"), like_patterns("ab'é\U0001f600")),
        st.builds(Pattern, _columns(Kind.ASCII), negated, st.just("ilike"), like_patterns("abABkS'")),
        st.builds(Pattern, _columns(*any_text), negated, st.just("rlike"), regexes()),
        st.builds(Pattern, _columns(Kind.ASCII), negated, st.just("rlike"), folded_regexes),
        st.builds(Function, functions, _columns(*any_text), texts),
    )


@st.composite
def trees(draw: st.DrawFn, leaves: st.SearchStrategy[Tree], depth: int = DEPTH) -> Tree:
    """A tree of at most this depth.

    Its shape is drawn first: as alternatives of one_of, predicates would outnumber connectives so far that
    hardly a tree had any.
    """
    shapes = ["leaf"] if depth == 1 else ["leaf", "not", "AND", "OR", "XOR", "XNOR"]
    shape = draw(st.sampled_from(shapes))
    if shape == "leaf":
        return draw(leaves)
    smaller = trees(leaves, depth - 1)
    if shape == "not":
        return Not(draw(smaller))
    count = draw(st.integers(2, 3)) if shape in ("AND", "OR") else 2
    return Join(shape, tuple(draw(smaller) for _ in range(count)))
