"""ARCHITECTURE.md names what exists: files, folders, functions, and all modules of a folder it describes.

- A walk is a section that begins with "One" and has at most ten numbered stops. A stop begins with a file and
  a function: ``1. `crates/tamis-core/src/expr/parser/mod.rs`, `parse`: ...``.
- A folder is a heading with path and question: ``### `python/tamis/cli`: how is it used in a shell?``.
  Its section says what it is useful for and what not, and names every module directly inside it in backticks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.house.tree import BUILT_SUFFIXES, ROOT, SOURCE_SUFFIXES

PAGE = ROOT / "ARCHITECTURE.md"
MAX_STOPS = 10
# Not modules: what a folder has by convention.
CONVENTIONAL = {
    "mod.rs",
    "lib.rs",
    "main.rs",
    "__init__.py",
    "__main__.py",
    "py.typed",
    "tests.rs",
    "conftest.py",
}
NOT_LISTED = {"__pycache__", "target"}


class Section(NamedTuple):
    """A heading, the line it stands in, and the text below it up to the next heading."""

    line: int
    title: str
    text: str


def sections() -> list[Section]:
    found: list[Section] = []
    fenced = False
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        if line.startswith("#") and not fenced:
            found.append(Section(number, line.lstrip("# "), ""))
        elif found:
            last = found[-1]
            found[-1] = last._replace(text=f"{last.text}{line}\n")
    return found


def folder_sections() -> list[tuple[Section, Path]]:
    found = []
    for section in sections():
        if heading := re.match(r"`([^`]+)`: .+\?$", section.title):
            found.append((section, ROOT / heading[1]))
    return found


def walk_sections() -> list[Section]:
    return [section for section in sections() if section.title.startswith("One ")]


def stops(section: Section) -> list[tuple[int, str]]:
    lines = section.text.splitlines()
    return [(section.line + 1 + at, line) for at, line in enumerate(lines) if re.match(r"\d+\. ", line)]


def codes(text: str) -> list[str]:
    """What stands in backticks, outside fenced blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def defines(path: Path, name: str) -> bool:
    """Whether a file defines a function, method, class, struct, enum or trait of this name."""
    last = re.escape(re.split(r"::|\.", name.removesuffix("()"))[-1])
    source = path.read_text(encoding="utf-8")
    return bool(
        re.search(rf"\b(?:fn|def|class|struct|enum|trait|macro_rules!|type|static|const)\s+{last}\b", source)
    )


def where_defined(name: str) -> str:
    """Files that define the name, for the message of a failure."""
    tops = [ROOT / "crates", ROOT / "python", ROOT / "fuzz"]
    files = [path for top in tops for path in top.rglob("*") if path.suffix in (".rs", ".py")]
    found = [path.relative_to(ROOT).as_posix() for path in files if defines(path, name)]
    return ", ".join(found[:4]) or "no file"


def test_there_are_three_walks_of_at_most_ten_stops() -> None:
    walks = walk_sections()
    assert [walk.title.split(":")[0] for walk in walks] == ["One event", "One rule", "One DataFrame"]
    for walk in walks:
        assert 3 <= len(stops(walk)) <= MAX_STOPS, f"{walk.title}: {len(stops(walk))} stops"


def test_every_stop_names_a_file_and_a_function_in_it() -> None:
    wrong = []
    for walk in walk_sections():
        for line, stop in stops(walk):
            found = re.match(r"\d+\. `([^`]+)`, `([^`]+)`: ", stop)
            if not found:
                wrong.append(f"line {line}: a stop begins with its file and its function: {stop[:60]}")
                continue
            path, name = ROOT / found[1], found[2]
            if not path.is_file():
                elsewhere = [p.relative_to(ROOT).as_posix() for p in ROOT.glob(f"**/{path.name}")][:4]
                wrong.append(
                    f"line {line}: there is no {found[1]} ({name} is in: {where_defined(name)}; "
                    f"files of that name: {elsewhere})"
                )
            elif not defines(path, name):
                wrong.append(
                    f"line {line}: {found[1]} does not define {name}; it is in: {where_defined(name)}"
                )
    assert not wrong, "\n".join(wrong)


def test_every_folder_with_a_heading_exists_and_says_what_it_is_for() -> None:
    described = folder_sections()
    assert len(described) > 15
    wrong = []
    for section, folder in described:
        if not folder.is_dir():
            wrong.append(f"line {section.line}: there is no folder {folder.relative_to(ROOT)}")
        text = " ".join(section.text.split())
        if "Useful for" not in text or "Not useful for" not in text:
            wrong.append(
                f"line {section.line}: {section.title} does not say what it is useful for, and what not"
            )
    assert not wrong, "\n".join(wrong)


def modules(folder: Path) -> list[str]:
    """The modules directly inside a folder: source files without their suffix, and folders with sources."""
    found = []
    for path in sorted(folder.iterdir()):
        if (
            path.name in CONVENTIONAL | NOT_LISTED
            or path.name.startswith(".")
            or path.suffix in BUILT_SUFFIXES
        ):
            continue
        if path.is_dir() and any(inner.suffix in SOURCE_SUFFIXES for inner in path.rglob("*")):
            found.append(path.name)
        elif path.suffix in SOURCE_SUFFIXES:
            found.append(path.stem)
    return found


@pytest.mark.parametrize("section", [pytest.param(s, id=s.title.split("`")[1]) for s, _ in folder_sections()])
def test_every_module_of_a_folder_is_listed(section: Section) -> None:
    folder = ROOT / section.title.split("`")[1]
    if not folder.is_dir():
        pytest.fail(f"there is no folder {folder.relative_to(ROOT)}")
    listed = {Path(code).name.partition(".")[0] for code in codes(section.text)}
    # A subfolder with a section of its own needs no mention here.
    own = {path.name for _, path in folder_sections() if path.parent == folder}
    missing = [name for name in modules(folder) if name not in listed | own]
    assert not missing, f"line {section.line}: {folder.relative_to(ROOT)} also has: {', '.join(missing)}"


def test_every_listed_module_exists() -> None:
    """In the tables of a folder's section, each name in the first column is a module of the folder."""
    wrong = []
    for section, folder in folder_sections():
        names = set(modules(folder)) if folder.is_dir() else set()
        for row in re.findall(r"^\| (`.+?) \|", section.text, re.MULTILINE):
            for name in codes(row):
                if name.rstrip("/") not in names and not (folder / name).exists():
                    wrong.append(f"line {section.line}: {folder.relative_to(ROOT)} has no {name}")
    assert not wrong, "\n".join(wrong)


def exists(name: str, folder: Path) -> bool:
    """Whether there is such a file or folder; modules may be named without their suffix."""
    bases = [folder, ROOT, ROOT / "crates/tamis-core/src", ROOT / "crates/tamis-python/src"]
    return any((base / f"{name}{suffix}").exists() for base in bases for suffix in ("", ".rs", ".py"))


def test_every_path_in_the_text_exists() -> None:
    """A name in backticks with a slash or a known ending is a path."""
    folders = {section.title: folder for section, folder in folder_sections()}
    wrong = []
    for section in sections():
        base = folders.get(section.title, ROOT)
        for code in codes(section.text):
            looks_like_path = re.fullmatch(r"[\w./*-]+", code) and (
                "/" in code or Path(code).suffix in {".rs", ".py", ".md", ".toml", ".json", ".sh", ".pyi"}
            )
            if looks_like_path and not exists(code, base):
                wrong.append(f"line {section.line} and below: there is no {code}")
    assert not wrong, "\n".join(wrong)
