"""Random rules and events. Values come from small pools, so that events often satisfy rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa

INTEGERS = [*range(-3, 12), 2**53, 2**53 + 1, -(2**63), 2**63 - 1]
FLOATS = [-1.5, -0.0, 0.0, 0.5, 1.0, 2.0, 9.75, 1e300]
TEXTS = ["", "a", "ab", "abc", "b", "ba", "it's", "100%", "é", "straße", "中文", "x" * 40]
TAGS = ["eu-1", "eu-2", "us-1", "x", ""]
ADDRESSES = ["10.0.0.1", "10.1.2.3", "192.168.1.9", "::1", "2001:db8::1"]
NETWORKS = ["10.0.0.0/8", "192.168.0.0/16", "::1", "2001:db8::/32"]
REGEXES = ["^a", "b$", "a+b", "[é-ü]", "(ab|ba)c?", "^$", "x{3,}"]
LIKES = ["a%", "%b", "_b%", "%", "100\\%", "%ß%"]

# Columns of events and their types in Arrow data.
COLUMNS = {
    "n": pa.int64(),
    "m": pa.int64(),
    "x": pa.float64(),
    "s": pa.string(),
    "u": pa.string(),
    "flag": pa.bool_(),
    "tags": pa.list_(pa.string()),
    "ip": pa.string(),
    "user": pa.struct([("age", pa.int64()), ("city", pa.string())]),
}
SCHEMA = pa.schema(list(COLUMNS.items()))


def rule(draw: Random, depth: int = 3) -> str:
    """A rule of every operator, nested up to `depth` levels."""
    if depth == 0 or draw.random() < 0.3:
        return predicate(draw)
    choice = draw.random()
    if choice < 0.12:
        return f"not ({rule(draw, depth - 1)})"
    word = "and" if choice < 0.65 else "or" if choice < 0.9 else draw.choice(["xor", "xnor"])
    operands = [f"({rule(draw, depth - 1)})" for _ in range(draw.choice([2, 2, 2, 3, 5]))]
    return f" {word} ".join(operands)


def predicate(draw: Random) -> str:
    if draw.random() < 0.05:
        return draw.choice(["true", "not flag"])
    weight = f" ^ {draw.choice([0, 0.5, 2])}" if draw.random() < 0.1 else ""
    return draw.choice(_FORMS)(draw) + weight


def event(draw: Random) -> dict[str, Any]:
    """An event of some columns; a value may be null."""
    values: dict[str, Callable[[], Any]] = {
        "n": lambda: draw.choice(INTEGERS),
        "m": lambda: draw.choice(INTEGERS),
        "x": lambda: draw.choice(FLOATS),
        "s": lambda: draw.choice(TEXTS),
        "u": lambda: draw.choice(TEXTS),
        "flag": lambda: draw.random() < 0.5,
        "tags": lambda: draw.sample(TAGS, draw.randrange(4)),
        "ip": lambda: draw.choice(ADDRESSES),
        "user": lambda: {"age": draw.choice(INTEGERS), "city": draw.choice([None, *TEXTS])},
    }
    drawn = {name: value() for name, value in values.items() if draw.random() < 0.7}
    return {name: value if draw.random() < 0.9 else None for name, value in drawn.items()}


def as_json(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False)


def as_arrow(events: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(events, schema=SCHEMA)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _number(draw: Random) -> str:
    return str(draw.choice(INTEGERS) if draw.random() < 0.7 else draw.choice(FLOATS))


def _numeric(draw: Random) -> str:
    return draw.choice(["n", "m", "x", "user.age"])


def _textual(draw: Random) -> str:
    return draw.choice(["s", "u", "user.city", "any(tags)", "all(tags)"])


def _listed(draw: Random, pool: list[str]) -> str:
    return ", ".join(_quoted(text) for text in draw.sample(pool, draw.randint(1, 4)))


def _between(draw: Random) -> str:
    negation = draw.choice(["", "not "])
    return f"{_numeric(draw)} {negation}between {_number(draw)} and {_number(draw)}"


def _numbers(draw: Random) -> str:
    values = ", ".join(_number(draw) for _ in range(draw.randint(1, 6)))
    return f"{_numeric(draw)} {draw.choice(['', 'not '])}in ({values})"


_FORMS: list[Callable[[Random], str]] = [
    lambda draw: f"{_numeric(draw)} {draw.choice(['=', '!=', '<', '<=', '>', '>='])} {_number(draw)}",
    lambda draw: f"{draw.choice(['n', 'm'])} = {draw.randint(-3, 11)}",
    _between,
    _numbers,
    lambda draw: f"{_textual(draw)} {draw.choice(['=', '!=', '<', '>='])} {_quoted(draw.choice(TEXTS))}",
    lambda draw: f"{_textual(draw)} {draw.choice(['', 'not '])}in ({_listed(draw, TEXTS)})",
    lambda draw: f"{draw.choice(['any', 'all'])}(tags) in ({_listed(draw, TAGS)})",
    lambda draw: (
        f"{_textual(draw)} {draw.choice(['like', 'ilike', 'not like'])} {_quoted(draw.choice(LIKES))}"
    ),
    lambda draw: f"{_textual(draw)} {draw.choice(['rlike', 'not rlike'])} {_quoted(draw.choice(REGEXES))}",
    lambda draw: f"{draw.choice(['startswith', 'endswith', 'contains'])}(s, {_quoted(draw.choice(TEXTS))})",
    lambda draw: f"in_cidr(ip, {_listed(draw, NETWORKS)})",
    lambda draw: f"{draw.choice(list(COLUMNS))} is {draw.choice(['', 'not '])}null",
    lambda draw: draw.choice(["flag", "flag = false", "n", "unknown_name = 1"]),
]
