"""``tamis explain``: why a rule matches, or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.commands import RunCommand


def test_a_pipe_gets_the_tree_as_text(files: Path, run: RunCommand) -> None:
    code, out, err = run("explain", "rules.txt", "events.jsonl", "--id", "2")
    assert (code, err) == (0, "")
    assert "TRUE" in out and "24" in out and len(out.splitlines()) >= 3


def test_json(files: Path, run: RunCommand) -> None:
    code, out, _ = run("explain", "rules.txt", "events.jsonl", "--id", "3", "--event", "2", "--json")
    record = json.loads(out)
    assert (record["id"], record["event"], record["matches"]) == (3, 2, False)
    assert record["explanation"]["truth"] == "UNKNOWN"
    assert code == 1


def test_the_id_may_be_text_or_a_number(files: Path, run: RunCommand) -> None:
    (files / "r.jsonl").write_text(
        '{"id": 7, "expression": "age > 99"}\n{"id": "7", "expression": "age > 0"}\n'
        '{"id": 8, "expression": "age > 1"}\n',
        encoding="utf-8",
    )
    assert run("explain", "r.jsonl", "events.jsonl", "--id", "7")[0] == 0
    _, out, _ = run("explain", "r.jsonl", "events.jsonl", "--id", "8", "--json")
    assert json.loads(out)["id"] == 8


def test_only_the_rule_asked_for_has_to_be_right(files: Path, run: RunCommand) -> None:
    (files / "r.txt").write_text("age >\nage > 1\n", encoding="utf-8")
    assert run("explain", "r.txt", "events.jsonl", "--id", "2")[0] == 0
    code, _, err = run("explain", "r.txt", "events.jsonl", "--id", "1")
    assert code == 2 and err.startswith("r.txt:1:6: error: ")


def test_dates_of_tables_are_shown(files: Path, run: RunCommand) -> None:
    (files / "days.txt").write_text("day > DATE '2026-11-01'\n", encoding="utf-8")
    (files / "days.csv").write_text("day\n2026-11-15\n", encoding="utf-8")
    code, out, _ = run("explain", "days.txt", "days.csv", "--id", "1", "--json")
    assert code == 0 and "2026-11-15" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--id", "9"], "rules.txt: error: no rule has the id '9'\n"),
        (["--id", "2", "--event", "3"], "events.jsonl:3: error: there is no event here\n"),
        (["--id", "2", "--event", "9"], "events.jsonl: error: there is no event 9; the last one is 5\n"),
    ],
)
def test_what_is_not_there(files: Path, run: RunCommand, arguments: list[str], message: str) -> None:
    assert run("explain", "rules.txt", "events.jsonl", *arguments) == (2, "", message)


def test_a_close_id_is_offered(files: Path, run: RunCommand) -> None:
    (files / "r.tsv").write_text("ad-travel\tage > 1\n", encoding="utf-8")
    _, _, err = run("explain", "r.tsv", "events.jsonl", "--id", "ad-travl")
    assert "did you mean ad-travel?" in err


def test_missing_can_mean_false(files: Path, run: RunCommand) -> None:
    arguments = ("explain", "rules.txt", "events.jsonl", "--id", "3", "--event", "2")
    assert run(*arguments)[0] == 1
    assert run(*arguments, "--missing", "false")[0] == 0
