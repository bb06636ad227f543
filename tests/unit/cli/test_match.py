"""``tamis match``: what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.commands import RunCommand, json_lines

from tamis.cli.output.views import one_line


def test_a_pipe_gets_a_line_per_match(files: Path, run: RunCommand) -> None:
    code, out, err = run("match", "rules.txt", "events.jsonl")
    assert out == "1\t2\n1\t3\n2\t2\n2\t5\n4\t5\n"
    assert (code, err) == (0, "")


def test_json_has_an_object_per_event(files: Path, run: RunCommand) -> None:
    code, out, _ = run("match", "rules.txt", "events.jsonl", "--json")
    assert json_lines(out) == [
        {"event": 1, "ids": [2, 3]},
        {"event": 2, "ids": [2, 5]},
        {"event": 4, "ids": [5]},
        {"event": 5, "ids": []},
    ]
    assert code == 0


def test_counts(files: Path, run: RunCommand) -> None:
    _, out, _ = run("match", "rules.txt", "events.jsonl", "--count")
    assert out == "1\t2\n2\t2\n4\t1\n5\t0\n"
    _, out, _ = run("match", "rules.txt", "events.jsonl", "--count", "--json")
    assert json_lines(out)[2:] == [{"event": 4, "count": 1}, {"event": 5, "count": 0}]


def test_the_best_come_with_scores(files: Path, run: RunCommand) -> None:
    _, out, _ = run("match", "rules.txt", "events.jsonl", "--top-k", "1")
    assert out == "1\t2\t2.0\n2\t5\t2.5\n4\t5\t2.5\n"
    code, out, _ = run("match", "rules.txt", "events.jsonl", "--top-k", "2", "--json")
    assert json_lines(out)[1] == {"event": 2, "ids": [{"id": 5, "score": 2.5}, {"id": 2, "score": 2.0}]}
    assert code == 0


def test_events_can_be_called_by_a_field(files: Path, run: RunCommand) -> None:
    _, out, _ = run("match", "rules.txt", "events.jsonl", "--id-field", "name", "--json")
    assert [record["event"] for record in json_lines(out)] == ["ann", "bob", "cy", "dee"]


def test_an_event_without_the_field_is_bad(files: Path, run: RunCommand) -> None:
    code, out, err = run("match", "rules.txt", "events.jsonl", "--id-field", "device")
    assert (code, out) == (2, "phone\t2\nphone\t3\n")
    assert err == "events.jsonl:2: error: the event has no field 'device', which --id-field names\n"


def test_a_field_that_is_nan_is_missing(files: Path, run: RunCommand) -> None:
    pq.write_table(pa.table({"age": [40, 41], "name": [1.5, float("nan")]}), "events.parquet")
    code, out, err = run("match", "rules.txt", "events.parquet", "--id-field", "name")
    assert (code, out) == (2, "1.5\t5\n")
    assert err.startswith("events.parquet: row 2: error: the event has no field 'name'")


def test_a_limit_counts_events(files: Path, run: RunCommand) -> None:
    _, out, _ = run("match", "rules.txt", "events.jsonl", "--count", "--limit", "3")
    assert out == "1\t2\n2\t2\n4\t1\n"


def test_missing_can_mean_false(files: Path, run: RunCommand) -> None:
    _, out, _ = run("match", "rules.txt", "events.jsonl", "--missing", "false", "--json")
    assert json_lines(out)[-1] == {"event": 5, "ids": [3]}


def test_nothing_matched_is_exit_code_1(files: Path, run: RunCommand) -> None:
    (files / "none.jsonl").write_text('{"age": 1}\n', encoding="utf-8")
    assert run("match", "rules.txt", "none.jsonl") == (1, "", "")
    assert run("match", "rules.txt", "none.jsonl", "--count") == (1, "1\t0\n", "")


def test_no_events_and_no_rules_match_nothing(files: Path, run: RunCommand) -> None:
    (files / "empty").write_text("", encoding="utf-8")
    assert run("match", "rules.txt", "empty") == (1, "", "")
    assert run("match", "empty", "events.jsonl") == (1, "", "")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_give_what_json_gives(files: Path, run: RunCommand, ending: str) -> None:
    (files / "events.csv").write_text(
        "name,age,country,device\nann,24,US,phone\nbob,33,DE,\ncy,70,FR,tv\ndee,,,\n", encoding="utf-8"
    )
    lines = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines() if line]
    pq.write_table(pa.Table.from_pylist(lines), "events.parquet")
    for extra in ([], ["--id-field", "name"], ["--top-k", "2"], ["--count"]):
        expected = run("match", "rules.txt", "events.jsonl", "--json", *extra)
        found = run("match", "rules.txt", f"events.{ending}", "--json", *extra)
        # The blank line counts as a line, not as a row.
        assert found[1].replace('"event": 4', '"event": 5').replace('"event": 3', '"event": 4') == expected[1]
        assert found[0] == expected[0] == 0


def test_dates_in_csv_are_dates(files: Path, run: RunCommand) -> None:
    (files / "days.txt").write_text("day >= DATE '2026-11-15'\nat < TIMESTAMP '2026-11-15 10:00:00'\n")
    (files / "days.csv").write_text("day,at\n2026-11-14,2026-11-15T11:30:00+02:00\n2026-11-15,\n")
    assert run("match", "days.txt", "days.csv") == (0, "1\t2\n2\t1\n", "")


def test_formats_can_be_given_by_hand(files: Path, run: RunCommand) -> None:
    (files / "a").write_text("expression\nage = 1\n", encoding="utf-8")
    (files / "b").write_text("age\n1\n", encoding="utf-8")
    code, out, _ = run("match", "a", "b", "--rules-format", "csv", "--events-format", "csv")
    assert (code, out) == (0, "1\t1\n")


def test_ids_keep_their_line(files: Path, run: RunCommand) -> None:
    (files / "odd.jsonl").write_text('{"id": "two\\nlines", "expression": "age > 0"}', encoding="utf-8")
    _, out, _ = run("match", "odd.jsonl", "events.jsonl", "--limit", "1")
    assert out == "1\ttwo lines\n"
    _, out, _ = run("match", "odd.jsonl", "events.jsonl", "--limit", "1", "--json")
    assert json_lines(out) == [{"event": 1, "ids": ["two\nlines"]}]


def test_many_events_in_order(files: Path, run: RunCommand) -> None:
    """More than one chunk, with more than one thread."""
    count = 200_000
    with Path("many.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f'{{"age": {n % 100}, "padding": "{"x" * 20}"}}\n' for n in range(count))
    code, out, _ = run("match", "rules.txt", "many.jsonl", "--threads", "2", "--no-progress")
    assert code == 0
    assert out == "".join(f"{n + 1}\t5\n" for n in range(count) if n % 100 > 30)


def test_every_engine_can_be_chosen(files: Path, run: RunCommand) -> None:
    expected = run("match", "rules.txt", "events.jsonl")
    assert run("match", "rules.txt", "events.jsonl", "--engine", "scan") == expected
    code, out, err = run("match", "rules.txt", "events.jsonl", "--engine", "nonsense")
    assert (code, out) == (2, "")
    assert "nonsense" in err and err.startswith("tamis: error: ")


@pytest.mark.parametrize(("text", "expected"), [("a b", "a b"), ("a\tb\r\nc", "a b  c"), (7, "7")])
def test_one_line(text: object, expected: str) -> None:
    assert one_line(text) == expected
