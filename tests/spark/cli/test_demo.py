"""``tamis demo`` and the steps of ``tamis spark``, run for real, in the session of all tests."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.support.commands import RunCommand

import tamis
from tamis.spark.report import bins_of
from tamis.spark.report.charts import span

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def rows_of(page: ET.ElementTree[Any], id: str) -> list[list[str]]:
    """The cells of a table of the report, without its head."""
    table = page.find(f".//{XHTML}table[@id='{id}']")
    assert table is not None
    rows = [["".join(cell.itertext()) for cell in row.findall(f"{XHTML}td")] for row in table]
    return [row for row in rows if row]


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_the_demo(run: RunCommand, tmp_path: Path) -> None:
    code, out, _ = run("demo", "--subscriptions", "400", "--events", "300", "--out", "shown")
    folder = tmp_path / "shown"
    assert code == 0
    assert "checked 300 events against a plain scan: equal" in out
    assert "300 events of the stream, 3 versions, against a plain scan: equal" in out
    assert out.splitlines()[-1] == f"the report, for a browser: {folder / 'report.html'}"

    page = ET.parse(folder / "report.html")
    assert len(page.findall(f".//{SVG}svg")) == 4
    steps = [row[0] for row in rows_of(page, "steps")]
    names = ["generate", "ingest", "profile", "build", "match", "top-k", "stream", "check"]
    assert steps == [*names, "all"]

    matches = pq.read_table(folder / "matches")
    events = pq.read_table(folder / "events")
    assert (matches.num_rows > 0, events.num_rows) == (True, 300)
    shown = page.find(f".//{XHTML}strong[@id='matches']")
    assert shown is not None and number(shown.text or "") == matches.num_rows
    each = Counter(matches["event_id"].to_pylist())
    matched = Counter(each[id] for id in events["event_id"].to_pylist())
    expected = [[span(first, last), f"{count:,}"] for first, last, count in bins_of(matched)]
    assert rows_of(page, "matched") == expected

    manifest = json.loads((folder / "index/versions/first/manifest.json").read_text())
    shards = manifest["layers"][0]["shards"]
    assert [(number(row[1]), number(row[2])) for row in rows_of(page, "shards")] == [
        (shard["rows"], shard["bytes"]) for shard in shards
    ]
    assert sum(shard["rows"] for shard in shards) == 400

    frequencies = {
        row["attribute"]: f"{100 * row['frequency']:.3g}%"
        for row in pq.read_table(folder / "profile/attributes").to_pylist()
    }
    attributes = rows_of(page, "attributes")
    assert len(attributes) == 12
    assert {row[0]: row[1] for row in attributes}.items() <= frequencies.items()

    batches = rows_of(page, "batches")
    assert [row[1] for row in batches] == ["first", "second", "third"]
    # Of every hundred, one goes and one is added.
    assert [number(row[2]) for row in batches] == [400, 400, 400]
    for row in batches:
        found = pq.read_table(folder / f"stream/matches/batch_id={row[0]}", partitioning=None)
        assert (number(row[3]), number(row[4])) == (100, found.num_rows)

    refused = pq.read_table(folder / "quarantine/subscriptions").num_rows
    assert (refused, pq.read_table(folder / "quarantine/events").num_rows) == (3, 2)

    code, _, err = run("demo", "--out", "shown")
    assert code == 2 and "it already exists" in err


def file_pairs(folder: Path) -> set[tuple[int, int]]:
    table = pq.read_table(folder)
    return set(zip(table["event_id"].to_pylist(), table["id"].to_pylist(), strict=True))


def scan_of(rules: dict[int, str]) -> tamis.Index:
    index = tamis.Index(engine="scan")
    index.add_many(rules)
    return index


def plain_results(rules: dict[int, str], events: dict[int, str]) -> set[tuple[int, int]]:
    found = scan_of(rules).match_json_many(list(events.values()), ordered=True)
    return {(event, int(id)) for event, ids in zip(events, found, strict=True) for id in ids}


def test_the_steps(run: RunCommand, tmp_path: Path) -> None:
    def spark(*arguments: str, code: int = 0) -> str:
        ended, out, err = run("spark", *arguments)
        assert ended == code, err
        return out if code == 0 else err

    said = spark(
        *("generate", "work", "--preset", "ps-tree", "--subscriptions", "300", "--events", "60"),
        *("--set", "match_probability=0.02", "--partitions", "2"),
    )
    assert "300 rules: work/subscriptions" in said and "60 events: work/events" in said
    assert "it already exists" in spark("generate", "work", code=2)

    assert "100 attributes, a sample of 50 events: profile" in spark(
        "profile", "work/events", "profile", "--rows", "50"
    )
    assert pq.read_table("profile/sample").num_rows == 50
    assert {row["events"] for row in pq.read_table("profile/attributes").to_pylist()} == {60}
    assert "aspects of rules: aspects" in spark("profile", "work/subscriptions", "aspects")
    (every,) = [row for row in pq.read_table("aspects").to_pylist() if row["aspect"] == "all"]
    assert (every["subscriptions"], every["share"]) == (300, 1.0)

    table = pq.read_table("work/subscriptions")
    rules = dict(zip(table["id"].to_pylist(), table["expression"].to_pylist(), strict=True))
    table = pq.read_table("work/events")
    events = dict(zip(table["event_id"].to_pylist(), table["event"].to_pylist(), strict=True))

    said = spark(
        *("build", "work/subscriptions", "index", "--shards", "2", "--version", "one"),
        *("--stats", "profile/sample"),
    )
    assert "300 rules in 2 shards: version one, current" in said
    expected = plain_results(rules, events)
    said = spark("match", "work/events", "index", "matches")
    assert f"{len(expected):,} matches with version one: matches" in said
    assert expected and file_pairs(tmp_path / "matches") == expected

    # The other way in: rows of a table that Spark reads.
    lines = [json.dumps({"event_id": id, "event": event}) for id, event in events.items()]
    (tmp_path / "events.jsonl").write_text("\n".join(lines))
    said = spark("match", "events.jsonl", "index", "best", "--top-k", "1", "--output", "array")
    assert f"{len({event for event, _ in expected})} matches" in said
    best = {row["event_id"]: (row["ids"], row["scores"]) for row in pq.read_table("best").to_pylist()}
    for id, event in events.items():
        ranked = scan_of(rules).top_k(json.loads(event), 1)
        assert best[id] == ([rule for rule, _ in ranked], [score for _, score in ranked])

    changes = [
        {"id": 0, "op": "delete"},
        {"id": 1, "expression": "true", "op": "upsert"},
        {"id": 900, "expression": "a1 >= 0", "op": "upsert"},
    ]
    (tmp_path / "changes.jsonl").write_text("\n".join(json.dumps(change) for change in changes))
    assert "version two, current" in spark("changes", "changes.jsonl", "index", "--version", "two")
    rules |= {1: "true", 900: "a1 >= 0"}
    del rules[0]
    changed = plain_results(rules, events)
    assert changed != expected
    spark("match", "work/events", "index", "matches", "--overwrite")
    assert file_pairs(tmp_path / "matches") == changed
    spark("match", "work/events", "index", "then", "--index-version", "one")
    assert file_pairs(tmp_path / "then") == expected

    assert "version three, current" in spark("compact", "index", "--version", "three")
    assert "version three has no deltas" in spark("compact", "index")
    said = spark("stream", "work/events", "index", "streamed", "--checkpoint", "place", "--files", "1")
    assert "2 batches so far: streamed" in said
    assert file_pairs(tmp_path / "streamed") == changed

    assert "300 rules in 2 shards: version one, current" in spark("publish", "index", "one")
    said = spark("vacuum", "index", "--keep", "1", "--hours", "0")
    assert "versions/two/manifest.json" in said and "versions/one" not in said
    assert "has no version 'two'" in spark("publish", "index", "two", code=2)


def test_what_goes_wrong_is_said_in_a_line(run: RunCommand, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "expression": ["a > 1", "a >"]}), "rules.parquet")
    pq.write_table(pa.table({"event_id": [1], "a": [-5]}), "events.parquet")
    code, _, err = run("spark", "build", "rules.parquet", "index")
    assert code == 2 and err.startswith("tamis: error: rule 2") and "^" in err
    code, out, _ = run("spark", "build", "rules.parquet", "index", "--on-error", "quarantine")
    assert code == 0 and "1 bad rows in quarantine" in out
    code, out, _ = run("spark", "match", "events.parquet", "index", "none")
    assert code == 1 and "0 matches" in out

    for arguments, said in (
        (["build", "missing.parquet", "index"], "missing.parquet: error: no such file or folder"),
        (["build", "rules.parquet", "index", "--expr-col", "rule"], "'rule'"),
        (["build", "rules.parquet", "index", "--engine", "warp"], 'unknown engine "warp"'),
        (["match", "events.parquet", "nowhere", "out"], "nowhere"),
        (["match", "events.parquet", "index", "out", "--event-id-col", "nr"], "'nr'"),
        (["generate", "out", "--preset", "songs"], "preset is 'songs'; accepted is one of ps-tree,"),
        (["generate", "out", "--set", "alpha=much"], "alpha is 'much'; accepted is a number"),
        (["vacuum", "index", "--hours", "-1"], "must not be negative"),
        (["ingest", "rules.parquet", "out", "--as", "rules", "--bad", "out"], "different folders"),
        (["ingest", "rules.parquet", "out", "--as", "queries"], "'text'"),
    ):
        code, out, err = run("spark", *arguments)
        assert (code, out) == (2, ""), arguments
        assert said in err and err.count("\n") == 1 and "Traceback" not in err, err
    assert not (tmp_path / "out").exists()
