"""Rules, events and arguments that are wrong: what is said, where, and what goes on."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.commands import RunCommand, json_lines


def test_a_bad_rule_is_shown_with_a_caret(files: Path, run: RunCommand) -> None:
    (files / "bad.txt").write_text("age > 1\n  age >> 2\n", encoding="utf-8")
    code, out, err = run("match", "bad.txt", "events.jsonl")
    first, snippet, caret, *rest = err.splitlines()
    assert (code, out, rest) == (2, "", [])
    assert first.startswith("bad.txt:2:8: error: found ")
    assert (snippet.strip(), caret.strip()) == ("age >> 2", "^")
    assert snippet[caret.index("^") - 1 :] == ">> 2"


def test_bad_rules_can_be_skipped(files: Path, run: RunCommand) -> None:
    lines = ["a\tage > 20", "b\tage >", "c\tage > 50", "a\tage > 60", "no tab", "d\tage rlike 'x"]
    (files / "bad.tsv").write_text("\n".join(lines), encoding="utf-8")
    code, out, err = run("match", "bad.tsv", "events.jsonl", "--skip-bad-rules", "--json", "--limit", "3")
    assert [record["ids"] for record in json_lines(out)] == [
        ["a"],
        ["a"],
        ["a", "c"],
    ]
    places = [line.split(": ")[0] for line in err.splitlines() if "skipped: " in line]
    assert places == ["bad.tsv:5", "bad.tsv:2:8", "bad.tsv:4", "bad.tsv:6:13"]
    assert "it is first used at bad.tsv:1" in err
    assert code == 0


def test_a_bad_rule_inside_a_table_is_named_by_its_line(files: Path, run: RunCommand) -> None:
    (files / "bad.csv").write_text('id,expression\na,"age\n>> 3"\n', encoding="utf-8")
    _, _, err = run("match", "bad.csv", "events.jsonl")
    assert err.startswith("bad.csv:2: line 2, column 2 of the expression: error: found ")


def test_a_rule_past_a_limit_is_named_by_its_line(files: Path, run: RunCommand) -> None:
    (files / "long.txt").write_text("age > 1\nname = '" + "x" * 600_000 + "'\n", encoding="utf-8")
    code, _, err = run("match", "long.txt", "events.jsonl")
    assert code == 2
    assert err.startswith("long.txt:2:") and "500000" in err


def test_a_rule_that_cannot_match_is_only_warned_about(files: Path, run: RunCommand) -> None:
    (files / "never.txt").write_text("age > 5 and age < 3\nage > 0\n", encoding="utf-8")
    code, out, err = run("match", "never.txt", "events.jsonl")
    assert (code, out) == (0, "1\t2\n2\t2\n4\t2\n")
    assert err.startswith("never.txt: warning: ") and len(err.splitlines()) == 1


def test_a_bad_event_ends_the_work_after_the_good_ones(files: Path, run: RunCommand) -> None:
    (files / "bad.jsonl").write_text('{"age": 40}\n\n{"age": \n{"age": 50}\n', encoding="utf-8")
    code, out, err = run("match", "rules.txt", "bad.jsonl")
    assert (code, out) == (2, "1\t5\n")
    assert err.startswith("bad.jsonl:3: error: ") and len(err.splitlines()) == 1


@pytest.mark.parametrize("extra", [[], ["--top-k", "5"], ["--id-field", "age"]])
def test_bad_events_can_be_skipped(files: Path, run: RunCommand, extra: list[str]) -> None:
    lines = ['{"age": 40}', "[]", '{"age": 41}', "", f'{{"age": {2**64}}}', '{"age": 42}', "{}}"]
    (files / "bad.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code, out, err = run("match", "rules.txt", "bad.jsonl", "--skip-bad-events", *extra)
    events = [line.split("\t")[0] for line in out.splitlines()]
    assert events == (["40", "41", "42"] if "--id-field" in extra else ["1", "3", "6"])
    places = [line.split(": ")[0] for line in err.splitlines() if "skipped: " in line]
    assert places == ["bad.jsonl:2", "bad.jsonl:5", "bad.jsonl:7"]
    assert code == 0


def test_bad_rows_of_csv_can_be_skipped(files: Path, run: RunCommand) -> None:
    (files / "bad.csv").write_text("age\n40\n41,1\n42\n", encoding="utf-8")
    code, out, err = run("match", "rules.txt", "bad.csv")
    assert (code, out, err) == (2, "", "bad.csv: row 2: error: expected 1 cells, found 2\n")
    code, out, err = run("match", "rules.txt", "bad.csv", "--skip-bad-events")
    assert (code, out, err) == (0, "1\t5\n3\t5\n", "bad.csv: row 2: skipped: expected 1 cells, found 2\n")


def test_a_column_of_no_known_type_is_named(files: Path, run: RunCommand) -> None:
    pq.write_table(pa.table({"age": pa.array([datetime.time(1)])}), "odd.parquet")
    code, _, err = run("match", "rules.txt", "odd.parquet", "--skip-bad-events")
    assert code == 2
    assert "age" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.txt", "events.jsonl"], "gone.txt: error: No such file or directory\n"),
        (["rules.txt", "gone.jsonl"], "gone.jsonl: error: No such file or directory\n"),
        (["rules.txt", ".", "--events-format", "jsonl"], "Is a directory"),
    ],
)
def test_files_that_cannot_be_read(files: Path, run: RunCommand, arguments: list[str], message: str) -> None:
    code, out, err = run("match", *arguments)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["match", "rules.txt"],
        ["match", "rules.txt", "events.jsonl", "--top-k", "0"],
        ["match", "rules.txt", "events.jsonl", "--limit", "many"],
        ["match", "rules.txt", "events.jsonl", "--top-k", "1", "--count"],
        ["match", "rules.txt", "events.jsonl", "--rules-format", "xml"],
        ["explain", "rules.txt", "events.jsonl"],
    ],
)
def test_wrong_usage_is_exit_code_2(files: Path, run: RunCommand, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "usage: tamis" in err
