"""Rules and events that the Spark tests share, and their matches by plain tamis."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

import tamis

EVENTS_SCHEMA = pa.schema(
    [
        ("event_id", pa.int64()),
        ("age", pa.int64()),
        ("price", pa.float64()),
        ("country", pa.string()),
        ("vip", pa.bool_()),
        ("tags", pa.list_(pa.string())),
        ("unused", pa.string()),
    ]
)
COUNTRIES = ["US", "DE", "FR", "it's", "日本"]


def subscriptions(count: int, seed: int = 1) -> dict[int, str]:
    """Expressions of every kind over the attributes above, by id."""
    draw = random.Random(seed)

    def predicate() -> str:
        low = draw.randrange(60)
        country = draw.choice(COUNTRIES).replace("'", "''")
        return draw.choice(
            [
                f"age > {low}",
                f"age between {low} and {low + draw.randrange(20)}",
                f"price <= {draw.randrange(100) / 4}",
                f"country = '{country}'",
                f"country in ('{country}', 'US')",
                "vip",
                f"any(tags) = 't{draw.randrange(6)}'",
                "price is null",
            ]
        )

    def expression() -> str:
        first, second, third = predicate(), predicate(), predicate()
        return draw.choice(
            [
                first,
                f"{first} and {second}",
                f"({first} or not {second}) and {third}",
                f"{first} xor {second}",
            ]
        )

    return {id: expression() for id in range(count)}


def events(count: int, seed: int = 2, first: int = 0) -> list[dict[str, Any]]:
    """Events with some of the attributes, by position."""
    draw = random.Random(seed)
    drawn = []
    for number in range(first, first + count):
        event: dict[str, Any] = {
            "age": draw.randrange(80),
            "price": draw.randrange(100) / 4,
            "country": draw.choice(COUNTRIES),
            "vip": draw.random() < 0.3,
            "tags": [f"t{draw.randrange(6)}" for _ in range(draw.randrange(3))],
            "unused": "x",
        }
        kept = {name: value for name, value in event.items() if draw.random() < 0.7}
        drawn.append({"event_id": number, **kept})
    return drawn


def attributes_of(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "event_id"}


def as_columns(drawn: Iterable[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(drawn), EVENTS_SCHEMA)


def as_json(drawn: Iterable[Mapping[str, Any]]) -> pa.Table:
    drawn = list(drawn)
    return pa.table(
        {
            "event_id": pa.array([event["event_id"] for event in drawn], pa.int64()),
            "event": pa.array([json.dumps(attributes_of(event)) for event in drawn], pa.string()),
        }
    )


def as_rules(rules: Mapping[Any, str]) -> pa.Table:
    kind = pa.string() if any(isinstance(id, str) for id in rules) else pa.int64()
    return pa.table(
        {"id": pa.array(list(rules), kind), "expression": pa.array(list(rules.values()), pa.string())}
    )


def plain_index(rules: Mapping[Any, str], **settings: Any) -> tamis.Index:
    index = tamis.Index(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
        index.add_many(rules)
    return index


def plain_matches(rules: Mapping[Any, str], drawn: list[dict[str, Any]]) -> set[tuple[Any, Any]]:
    """Pairs of event id and id, as plain tamis finds them."""
    found = plain_index(rules).match_many([attributes_of(event) for event in drawn])
    return {(event["event_id"], id) for event, ids in zip(drawn, found, strict=True) for id in ids}
