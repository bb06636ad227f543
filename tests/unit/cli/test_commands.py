"""``tamis engines``, ``tamis tour``, help and version."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.commands import RunCommand, json_lines

import tamis


def test_engines(run: RunCommand) -> None:
    code, out, _ = run("engines")
    assert code == 0 and "scan" in out and "takes" in out
    code, out, _ = run("engines", "--json")
    assert "scan" in [engine["name"] for engine in json_lines(out)]


def test_engines_are_listed_by_family(run: RunCommand) -> None:
    _, out, _ = run("engines")
    order = [out.index(name) for name in ("product", "compiled", "paper", "pst_bloom", "baseline")]
    assert order == sorted(order)
    _, out, _ = run("engines", "--json")
    families = [engine["family"] for engine in json_lines(out)]
    assert families == sorted(families, key=["product", "paper", "baseline"].index)


def test_options_of_engines_are_listed(run: RunCommand) -> None:
    code, out, _ = run("engines", "--options")
    assert code == 0
    for engine in tamis.engines():
        assert all(option in out for option in engine.options)
    _, out, _ = run("engines", "--json")
    (found,) = [engine for engine in json_lines(out) if engine["name"] == "pst_hash"]
    assert found["options"][0]["name"] == "access_predicates"
    assert found["options"][0]["default"] == 2
    assert found["options"][0]["accepts"] == "a whole number from 1 to 4"


def test_the_tour_shows_everything_it_promises(run: RunCommand) -> None:
    code, out, err = run("tour")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    for part in ("31 rules", "200 events", "Why does", "A near miss", "best?", "What to try next"):
        assert part in out
    assert out.splitlines()[-1].startswith("200 events, 31 rules: ")


def test_every_rule_of_the_tour_matches_something(run: RunCommand, files: Path) -> None:

    data = Path(tamis.__file__).parent / "cli/commands/tour_data"
    _, out, err = run("match", str(data / "rules.tsv"), str(data / "events.jsonl"), "--json")
    matched = {id for record in json_lines(out) for id in record["ids"]}
    assert (len(matched), err) == (31, "")


@pytest.mark.parametrize("command", ["match", "explain", "engines", "draw", "tour", "demo", "spark"])
def test_help_has_examples(run: RunCommand, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"examples:\n  tamis {command}" in out


def test_help_says_how_commands_end_and_events_are_numbered(run: RunCommand) -> None:
    _, out, _ = run("match", "--help")
    assert "exit codes:" in out
    assert "Events are numbered from 1" in out


def test_version(run: RunCommand) -> None:
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("tamis ") and out.strip()[-1].isdigit()


def test_help_and_json_need_neither_pyarrow_nor_rich(files: Path) -> None:
    script = (
        "import sys\nfrom tamis.cli import main\n"
        "main(['--help']); main(['match', 'rules.txt', 'events.jsonl', '--json'])\n"
        "assert not {'pyarrow', 'rich', 'numpy', 'pandas'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_no_submodule_has_the_name_of_a_function_of_its_package() -> None:
    """Importing a submodule binds its name in the package, in place of a function of that name."""
    clashes = []
    for init in Path(tamis.__file__).parent.rglob("__init__.py"):
        defined = {
            node.name
            for node in ast.parse(init.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        clashes += [str(path) for path in init.parent.iterdir() if path.stem in defined]
    assert clashes == []
