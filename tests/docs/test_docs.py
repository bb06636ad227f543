"""Every code block of the documentation runs, and every docstring example.

A fence says what is done with its block: ``python`` runs, all blocks of a page in one namespace; of ``sh``
and ``console`` the lines that call ``tamis`` run, in a folder with the files they name. Lines that call
``dev.py`` would run these tests within themselves, so they must only name a subcommand that exists; CI runs
them. Any other fence must be one of ``PLAIN``, so that no block goes unseen.
"""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import tamis

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(path for top in ("docs", "fuzz", "testdata") for path in (ROOT / top).rglob("*.md")),
    ]
)
PLAIN = {"text", "json", "toml", "rust"}


class Block(NamedTuple):
    """A fenced block, the line it starts in, and the word behind its fence."""

    line: int
    language: str
    code: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^( *)```(\S*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [Block(text.count("\n", 0, block.start()) + 1, block[2], block[3]) for block in found]


def with_blocks(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", with_blocks("python"), ids=name)
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pages call `tamis` as their readers do: by its name.
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    namespace: dict[str, object] = {"__name__": page.stem}
    for block in blocks(page):
        if block.language == "python":
            # Empty lines in front make a traceback name the line of the page.
            exec(compile("\n" * block.line + block.code, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", with_blocks("sh", "console"), ids=name)
def test_commands_exist(page: Path) -> None:
    known = {"tamis": subcommands("tamis"), "dev.py": subcommands("dev.py")}
    checked = 0
    for block in blocks(page):
        if block.language not in ("sh", "console"):
            continue
        for line in block.code.splitlines():
            for command in line.removeprefix("$ ").split("|"):
                words = [word for word in shlex.split(command, comments=True) if "=" not in word]
                words = words[1:] if words[:1] == ["python3"] else words
                if words and words[0] in known:
                    assert words[1] in known[words[0]], f"{name(page)}:{block.line}: {line}"
                    checked += 1
    assert checked


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the rules and events that the pages speak of, in every form they name."""
    rules = pa.table({"id": [1, 2, 3], "expression": ["age >= 18", "country = 'US'", "age > 90 or vip"]})
    events = pa.table(
        {"age": [20, 95, 10, 30, 40, 50, 60], "country": ["US", "DE", "FR", "US", "DE", "FR", "US"]}
    )
    pq.write_table(rules, tmp_path / "rules.parquet")
    pq.write_table(events, tmp_path / "events.parquet")
    csv.write_csv(rules, tmp_path / "rules.csv")
    (tmp_path / "rules.txt").write_text("\n".join(rules["expression"].to_pylist()))
    lines = "\n".join(json.dumps(event) for event in events.to_pylist())
    for file in ("events.jsonl", "log.jsonl"):
        (tmp_path / file).write_text(lines + "\n")
    return tmp_path


def tamis_commands() -> list[tuple[str, str]]:
    shells = [
        (page, block) for page in PAGES for block in blocks(page) if block.language in ("sh", "console")
    ]
    lines = [(name(page), line) for page, block in shells for line in block.code.splitlines()]
    return [(page, line.removeprefix("$ ")) for page, line in lines if re.search(r"(^|\| |\$ )tamis ", line)]


@pytest.mark.parametrize(("page", "command"), tamis_commands())
def test_tamis_commands_run(page: str, command: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    # 1 is no fault: `tamis explain` says by it that the rule does not match.
    done = subprocess.run(command, shell=True, cwd=files, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), f"{page}: {command}\n{done.stderr}"
    assert done.stdout and not done.stderr


def test_the_readme_shows_commands() -> None:
    assert sum(page == "README.md" for page, _ in tamis_commands()) >= 5


def subcommands(program: str) -> set[str]:
    tool = (
        [sys.executable, "-m", "tamis.cli"] if program == "tamis" else [sys.executable, str(ROOT / "dev.py")]
    )
    shown = subprocess.run([*tool, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ {2,4}([a-z]+) ", shown, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_goes_unseen(page: Path) -> None:
    for block in blocks(page):
        assert block.language in {"python", "sh", "console", *PLAIN}, f"{name(page)}:{block.line}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def modules() -> list[str]:
    found = pkgutil.walk_packages(tamis.__path__, "tamis.")
    return [
        "tamis",
        *(module.name for module in found if not module.name.endswith(("._native", ".__main__"))),
    ]


@pytest.mark.parametrize("module", modules())
def test_docstring_examples(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_some_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    examples = sum(
        len(test.examples) for module in modules() for test in finder.find(importlib.import_module(module))
    )
    assert examples > 40


def test_the_readme_shows_both_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\npython3 dev.py demo" in readme and "\npython3 dev.py test" in readme
    assert subprocess.run([sys.executable, "-m", "tamis.cli", "tour"], capture_output=True).returncode == 0
