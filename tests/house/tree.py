"""The repository's folders and files, without what is built or cached."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Made by tools, kept out of version control.
BUILT_FOLDERS = {"target", "dist", "node_modules", "spark-warehouse", "__pycache__"}
BUILT_SUFFIXES = {".so", ".pyd", ".pyc"}

SOURCE_SUFFIXES = {".rs", ".py", ".sh"}


def folders(root: Path = ROOT) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Each folder with the names of its folders and files. Hidden folders are left out."""
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(name for name in inner if name not in BUILT_FOLDERS and not name.startswith("."))
        kept = sorted(name for name in files if Path(name).suffix not in BUILT_SUFFIXES)
        yield Path(folder), list(inner), kept


def sources(*suffixes: str) -> Iterator[Path]:
    """Every source file with one of these suffixes, or every one if none is given."""
    accepted = set(suffixes) or SOURCE_SUFFIXES
    for folder, _, files in folders():
        for name in files:
            if Path(name).suffix in accepted:
                yield folder / name


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
