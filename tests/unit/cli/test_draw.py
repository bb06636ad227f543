"""``tamis draw``: rules as a graph."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.commands import RunCommand


@pytest.fixture
def graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a program in the place of Graphviz, so that the tests need none."""

    def install(program: str) -> None:
        script = tmp_path / "dot.py"
        script.write_text(program, encoding="utf-8")
        command = tmp_path / "dot"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return install


def test_a_drawing_is_printed(files: Path, run: RunCommand) -> None:
    code, out, err = run("draw", "rules.txt")
    assert (code, err) == (0, "")
    assert out.startswith("digraph a_tree {\n") and out.endswith("}\n")
    predicates = ("age BETWEEN 18 AND 35", "country IN ('DE', 'US')")
    for label in (*predicates, r"and\nid 2", r"device != 'tv'\nid 3", r"age > 30\nid 5"):
        assert f'label="{label}"' in out
    assert out.count(" -> ") == 2


def test_rules_come_in_every_form(files: Path, run: RunCommand) -> None:
    (files / "r.jsonl").write_text('{"id": "a", "expression": "x > 1"}\n', encoding="utf-8")
    (files / "r.csv").write_text("id,expression\na,x > 1\n", encoding="utf-8")
    (files / "r.list").write_text("a\tx > 1\n", encoding="utf-8")
    drawings = {run("draw", "r.jsonl"), run("draw", "r.csv"), run("draw", "r.list", "--rules-format", "tsv")}
    assert len(drawings) == 1
    assert r'label="x > 1\nid ' in drawings.pop()[1]


def test_missing_can_mean_false(files: Path, run: RunCommand) -> None:
    assert r"device != 'tv' OR device IS NULL\nid 3" in run("draw", "rules.txt", "--missing", "false")[1]


@pytest.mark.parametrize("name", ["rules.dot", "rules.GV"])
def test_text_goes_to_a_file(files: Path, run: RunCommand, name: str) -> None:
    _, printed, _ = run("draw", "rules.txt")
    assert run("draw", "rules.txt", "--output", name) == (0, "", "")
    assert (files / name).read_text(encoding="utf-8") == printed


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_graphviz_makes_pictures(
    files: Path, run: RunCommand, graphviz: Callable[[str], None], form: str
) -> None:
    graphviz(
        "import sys\n"
        "sys.stdout.buffer.write(' '.join(sys.argv[1:]).encode() + b' ' + sys.stdin.buffer.read())\n"
    )
    (files / "rules.txt").write_text("name = 'größe'\n", encoding="utf-8")
    _, printed, _ = run("draw", "rules.txt")
    assert run("draw", "rules.txt", "--output", f"rules.{form}") == (0, "", "")
    assert (files / f"rules.{form}").read_text(encoding="utf-8") == f"-T{form} {printed}"


def test_a_failure_of_graphviz_is_told(files: Path, run: RunCommand, graphviz: Callable[[str], None]) -> None:
    graphviz("import sys\nsys.stdin.read()\nsys.exit('no such font')\n")
    expected = "rules.svg: error: Graphviz failed with exit code 1: no such font\n"
    assert run("draw", "rules.txt", "--output", "rules.svg") == (2, "", expected)
    assert not (files / "rules.svg").exists()


def test_pictures_need_graphviz(files: Path, run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(files))
    code, out, err = run("draw", "no-such-rules.txt", "--output", "rules.svg")
    assert (code, out) == (2, "")
    assert err.startswith("rules.svg: error: a picture needs Graphviz, whose command `dot` was not found; ")
    assert err.endswith("or write rules.dot, which is text\n")


def test_other_endings_are_refused(files: Path, run: RunCommand) -> None:
    code, _, err = run("draw", "rules.txt", "--output", "rules.jpeg")
    assert code == 2 and "expected a name that ends in one of .dot, .gv, .svg, .png, .pdf" in err


def test_too_many_rules_are_refused_unless_allowed(files: Path, run: RunCommand) -> None:
    (files / "many.txt").write_text("".join(f"a = {n}\n" for n in range(201)), encoding="utf-8")
    message = "201 rules are too many for a drawing; up to 200 are drawn, or more with --limit 201"
    assert run("draw", "many.txt") == (2, "", f"many.txt: error: {message}\n")
    code, out, err = run("draw", "many.txt", "--limit", "201")
    assert (code, err) == (0, "") and out.count("shape=box") == 201


def test_a_bad_rule_stops_with_its_place(files: Path, run: RunCommand) -> None:
    (files / "r.txt").write_text("age > 1\nage >\n", encoding="utf-8")
    code, out, err = run("draw", "r.txt")
    assert (code, out) == (2, "") and err.startswith("r.txt:2:6: error: ")


def test_an_engine_that_cannot_be_drawn_says_so(files: Path, run: RunCommand) -> None:
    code, out, err = run("draw", "rules.txt", "--engine", "scan")
    drawn = "a_tree, be_star_tree, be_tree and gem_tree"
    message = f"tamis: error: engine scan has no graph to draw; {drawn} have one\n"
    assert (code, out, err) == (2, "", message)
