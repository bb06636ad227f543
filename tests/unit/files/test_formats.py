"""The format of a file by its ending, missing files, and paths into events."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.files import EventsFormat, InputError, RulesFormat, open_events, read_rules
from tamis.files.formats import events_format, rules_format
from tamis.files.paths import value_at


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("r.txt", RulesFormat.TEXT),
        ("r", RulesFormat.TEXT),
        ("r.sql", RulesFormat.TEXT),
        ("r.TSV", RulesFormat.TSV),
        ("r.jsonl", RulesFormat.JSONL),
        ("r.ndjson", RulesFormat.JSONL),
        ("r.json", RulesFormat.JSONL),
        ("r.csv", RulesFormat.CSV),
        ("r.parquet", RulesFormat.PARQUET),
    ],
)
def test_the_ending_tells_the_rules_format(name: str, expected: RulesFormat) -> None:
    assert rules_format(Path(name)) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("e.jsonl", EventsFormat.JSONL),
        ("e.NDJSON", EventsFormat.JSONL),
        ("e.json", EventsFormat.JSONL),
        ("e.log", EventsFormat.JSONL),
        ("e.csv", EventsFormat.CSV),
        ("e.parquet", EventsFormat.PARQUET),
    ],
)
def test_the_ending_tells_the_events_format(name: str, expected: EventsFormat) -> None:
    assert events_format(Path(name)) is expected


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("gone.txt", "gone.csv", "gone.jsonl", "gone.parquet"):
        with pytest.raises(InputError, match=f"{name}: No such file"):
            read_rules(tmp_path / name)
        with pytest.raises(InputError, match=f"{name}: No such file"):
            open_events(tmp_path / name)


@pytest.mark.parametrize(
    ("event", "path", "expected"),
    [
        ({"a": 1}, "a", 1),
        ({"a": {"b": {"c": 2}}}, "a.b.c", 2),
        ({"a.b": {"c": 3}}, "a.b.c", 3),
        ({"a": {"b.c": 4}}, "a.b.c", 4),
        ({"a.b.c": 5}, "a.b.c", 5),
        ({"a": 1}, "a.b", None),
        ({}, "a", None),
    ],
)
def test_value_at(event: dict[str, object], path: str, expected: object) -> None:
    assert value_at(event, path) == expected
