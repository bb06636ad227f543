"""``tamis spark ingest``: every kind of table, every style, from files to files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.spark.support.frames import file_columns, file_rows
from tests.support.commands import RunCommand

import tamis
from tamis import parse

CATALOG = "sku,brand,price,colour\n1,Tamis,5,red\n2,Tamis,,\n3,Crible,5,\n"


def test_rules(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "rules.csv").write_text("id,expression\n1,a > 1\n2,a >\n3,b = 'x'\n")
    code, out, _ = run("spark", "ingest", "rules.csv", "rules", "--as", "rules")
    assert code == 0 and "2 good rows: rules; 1 bad rows with reasons: rules-bad" in out
    assert file_columns("rules", "id", "expression") == {1: "a > 1", 3: "b = 'x'"}
    assert "expected" in pq.read_table("rules-bad")["reason"][0].as_py()


def test_wishes_and_items(run: RunCommand, tmp_path: Path) -> None:
    # Nobody can want row 4, which asks for nothing; as an item it merely matches nobody's wish.
    (tmp_path / "catalog.csv").write_text(f"{CATALOG}4,,,\n")
    code, out, _ = run("spark", "ingest", "catalog.csv", "wishes", "--as", "wishes", "--id-col", "sku")
    assert code == 0 and "3 good rows: wishes; 1 bad rows with reasons: wishes-bad" in out
    wishes = file_columns("wishes", "id", "expression")
    assert wishes == {
        1: "brand = 'Tamis' AND price = 5 AND colour = 'red'",
        2: "brand = 'Tamis'",
        3: "brand = 'Crible' AND price = 5",
    }
    assert pq.read_table("wishes-bad")["id"].to_pylist() == ["4"]

    code, out, _ = run(
        *("spark", "ingest", "catalog.csv", "items", "--as", "items", "--id-col", "sku", "--bad", "refused")
    )
    assert code == 0 and "4 good rows: items; 0 bad rows with reasons: refused" in out
    items = sorted(pq.read_table("items").to_pylist(), key=lambda item: item["event_id"])
    assert items[1] == {"event_id": 2, "brand": "Tamis", "price": None, "colour": None}

    assert run("spark", "build", "wishes", "index")[0] == 0
    assert run("spark", "match", "items", "index", "found")[0] == 0
    assert file_rows("found") == [(1, 1), (1, 2), (2, 2), (3, 3)]


def test_json(run: RunCommand, tmp_path: Path) -> None:
    lines = ['{"a": {"b": 1}}', '{"a": ', None, "[]", "{}"]
    pq.write_table(pa.table({"nr": ["x", "y", "z", "w", "v"], "body": lines}), "log.parquet")
    code, out, _ = run(
        *("spark", "ingest", "log.parquet", "events", "--as", "json", "--text-col", "body", "--id-col", "nr")
    )
    assert code == 0 and "2 good rows: events; 3 bad rows with reasons: events-bad" in out
    assert file_columns("events", "event_id", "event") == {"x": '{"a": {"b": 1}}', "v": "{}"}
    assert file_columns("events-bad", "id", "reason").keys() == {"y", "z", "w"}
    assert file_columns("events-bad", "id", "column") == dict.fromkeys(("y", "z", "w"), "body")

    code, out, err = run("spark", "ingest", "log.parquet", "events", "--as", "json")
    assert (code, out) == (2, "") and "events: error: it already exists" in err
    code, _, err = run("spark", "ingest", "log.parquet", "others", "--as", "json", "--id-col", "nr")
    assert code == 2 and "there is no column 'text'" in err


def texts(run: RunCommand, tmp_path: Path, style: str) -> tuple[dict[int, str], dict[int, dict[str, Any]]]:
    """Take texts in as queries and as documents; give expressions and events."""
    (tmp_path / "texts.csv").write_text("id,text\n1,fine sieve\n2,\n3,Boolean sieves: a fine fine sieve\n")
    for kind in ("queries", "documents"):
        code, out, _ = run("spark", "ingest", "texts.csv", kind, "--as", kind, "--style", style)
        # A text that is null is no query, and no document.
        assert code == 0 and f"2 good rows: {kind}; 1 bad rows with reasons: {kind}-bad" in out
        assert file_columns(f"{kind}-bad", "id", "reason") == {"2": "the text is null"}
    events = file_columns("documents", "event_id", "event")
    return file_columns("queries", "id", "expression"), {
        id: json.loads(event) for id, event in events.items()
    }


def matches(rules: dict[int, str], events: dict[int, dict[str, Any]]) -> dict[int, list[Any]]:
    index = tamis.Index(engine="scan")
    index.add_many(rules)
    return {id: index.match(event) for id, event in events.items()}


def test_words_that_are_there(run: RunCommand, tmp_path: Path) -> None:
    rules, events = texts(run, tmp_path, "presence")
    assert rules[1] == "fine = 1 AND sieve = 1"
    assert events[3] == {"boolean": 1, "sieves": 1, "a": 1, "fine": 1, "sieve": 1}
    assert matches(rules, events) == {1: [1], 3: [1, 3]}


def test_words_that_are_counted(run: RunCommand, tmp_path: Path) -> None:
    rules, events = texts(run, tmp_path, "frequency")
    assert re.fullmatch(r"fine BETWEEN \d+ AND \d+ AND sieve BETWEEN \d+ AND \d+", rules[1])
    assert parse(rules[3]).attributes() == {"boolean", "sieves", "a", "fine", "sieve"}
    assert events == {
        1: {"fine": 1, "sieve": 1},
        3: {"boolean": 1, "sieves": 1, "a": 1, "fine": 2, "sieve": 1},
    }


def test_words_that_are_split(run: RunCommand, tmp_path: Path) -> None:
    rules, events = texts(run, tmp_path, "split")
    assert rules[1] == "any(fi) = 'ne' AND any(si) = 'eve'"
    assert events[3] == {"boo": ["lea"], "sie": ["ves"], "a": [""], "fi": ["ne"], "si": ["eve"]}
    assert matches(rules, events) == {1: [1], 3: [1, 3]}
