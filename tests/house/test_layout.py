"""Rules for folders, files and words that hold in the whole repository."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
from tests.house.tree import ROOT, SOURCE_SUFFIXES, folders, name_of, sources

import tamis

MAX_ENTRIES = 12
MAX_LINES = 400
# Files that every folder of their kind has.
NOT_COUNTED = {"mod.rs", "lib.rs", "main.rs", "__init__.py"}

# Folders of the Python package that wrap the native module. All others use these.
NATIVE_WRAPPERS = ("python/tamis/expression/", "python/tamis/index/", "python/tamis/results/")

# Words that stand for something else than they say, and what to write. Patterns match whole words.
METAPHORS = {
    r"compan(y|ies)": "probe, batch of events",
    r"(go|goes|going) round": "arithmetic modulo 256, or: are repeated",
    r"so many": "a number with its unit",
    r"(expressions?|subscriptions?|conjunctions?|alternatives?|rows?) waits?": "is stored, is listed",
    r"lanes?": "SIMD; the word is fine in simd.rs",
    r"comes? by": "the event that is matched",
    r"gets? in and out": "insert and remove",
    r"walk(s|ed)? together": "batch traversal",
    r"is anybody's guess": "what is not known, and why it does not matter",
    r"sift(s|ed|ing)?": "filter, test",
    # Names of types that say what happened to a thing, not what it is.
    r"(class|struct|enum|type|trait) Kept": "Backing, Storage",
    r"(class|struct|enum|type|trait) Standing": "Placement",
    r"(class|struct|enum|type|trait) Wanted": "Projection",
    r"(class|struct|enum|type|trait) (Written|Worded|Listed)": "the name of the thing itself",
    r"(class|struct|enum|type|trait) ByEvent": "MatchesByEvent",
    r"(class|struct|enum|type|trait) (Company|Lanes?|Shorts|Paths|Dead|Ascending)": "the field's name",
}
# Where one of these is the word of the field: file name, then what is allowed there.
ALLOWED = {
    "simd.rs": {r"lanes?"},
    "test_layout.py": set(METAPHORS),
}

MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/")
# Here paths are data: of the workload, and of this test.
MAY_NAME_PATHS = {"crates/tamis-bench/src/generate/detection.rs", "tests/house/test_layout.py"}


def test_no_folder_has_too_many_entries() -> None:
    crowded = []
    for folder, inner, files in folders():
        if folder == ROOT or not any(Path(name).suffix in SOURCE_SUFFIXES for name in files):
            continue
        entries = [name for name in [*inner, *files] if name not in NOT_COUNTED]
        if len(entries) > MAX_ENTRIES:
            crowded.append(f"{name_of(folder)}: {len(entries)} entries, {MAX_ENTRIES} are allowed")
    assert not crowded, "\n".join(["group by concept:", *crowded])


def test_no_source_file_is_too_long() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    long = [f"{name}: {lines} lines" for name, lines in sorted(lengths.items()) if lines > MAX_LINES]
    assert not long, "\n".join([f"split by concept (at most {MAX_LINES} lines):", *long])


def imports_native(source: str) -> bool:
    """Whether a module imports the native one, outside `if TYPE_CHECKING`."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if (node.module or "").endswith("_native") or any(name.name == "_native" for name in node.names):
                return True
        elif isinstance(node, ast.Import) and any(name.name.endswith("._native") for name in node.names):
            return True
    return False


def test_only_wrappers_import_the_native_module() -> None:
    found = {
        name_of(path)
        for path in sources(".py")
        if path.is_relative_to(ROOT / "python") and imports_native(path.read_text(encoding="utf-8"))
    }
    assert found, "the wrappers import it"
    outside = sorted(name for name in found if not name.startswith(NATIVE_WRAPPERS))
    assert not outside, f"use the wrappers in python/tamis instead of tamis._native: {outside}"


def test_words_mean_what_they_say() -> None:
    found = []
    for path in sources(".rs", ".py"):
        allowed = ALLOWED.get(path.name, set())
        patterns = [pattern for pattern in METAPHORS if pattern not in allowed]
        if not patterns:
            continue
        any_of = re.compile("|".join(rf"(?<![A-Za-z]){pattern}(?![A-Za-z])" for pattern in patterns))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if hit := any_of.search(line):
                advice = next(METAPHORS[p] for p in patterns if re.fullmatch(p, hit[0]))
                found.append(f"{name_of(path)}:{number}: {hit[0]!r}; say: {advice}")
    assert not found, "\n".join([f"{len(found)} metaphors:", *found])


def test_no_path_of_a_machine() -> None:
    suffixes = {*SOURCE_SUFFIXES, ".md", ".toml", ".yml", ".json"}
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:80]}"
        for path in sources(*suffixes)
        if name_of(path) not in MAY_NAME_PATHS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE_PATHS.search(line)
    ]
    assert not found, "\n".join(found)


def test_every_engine_has_a_page() -> None:
    # A page has the engine's name, or is a group's page with a section of that name.
    pages = list((ROOT / "docs" / "engines").rglob("*.md"))
    sections = {
        line.removeprefix("## ")
        for path in pages
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    }
    missing = sorted({engine.name for engine in tamis.engines()} - {path.stem for path in pages} - sections)
    assert not missing, f"docs/engines has no page of: {missing}"


def test_pytest_looks_into_every_folder_of_tests(request: pytest.FixtureRequest) -> None:
    ignored = request.config.getini("norecursedirs")
    holders = {folder for path in (ROOT / "tests").rglob("test_*.py") for folder in path.parents}
    inside = [folder for folder in holders if folder.is_relative_to(ROOT / "tests")]
    assert inside
    hidden = [name_of(folder) for folder in inside if any(fnmatch(folder.name, entry) for entry in ignored)]
    assert not hidden, f"pytest collects nothing from {hidden}"
