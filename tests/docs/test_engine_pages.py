"""The pages of engines say what the registry says: every engine is listed, and so is every option."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tamis

PAGES = Path(__file__).resolve().parents[2] / "docs" / "engines"


def rows(text: str, header: str) -> list[list[str]]:
    """The cells of the first table with this header, without backticks."""
    _, _, rest = text.partition(f"{header}\n")
    lines = rest.splitlines()[1:]
    end = next((at for at, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip() for cell in line.replace("`", "").strip("|").split("|")] for line in lines[:end]]


def page_of(name: str) -> str:
    """An engine's page, or its section of a page that several engines share."""
    page = PAGES / f"{name}.md"
    if page.exists():
        return page.read_text(encoding="utf-8")
    pages = [path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))]
    sections = [section for text in pages for section in re.split(r"^## ", text, flags=re.MULTILINE)]
    [found] = [section for section in sections if section.startswith(f"{name}\n")]
    return found


@pytest.mark.parametrize("engine", tamis.engines(), ids=lambda engine: engine.name)
def test_the_page_of_an_engine_has_its_options(engine: tamis.EngineInfo) -> None:
    page = page_of(engine.name)
    expected = [
        [option.name, json.dumps(option.default), option.accepts, option.description.replace("`", "")]
        for option in engine.option_infos
    ]
    assert rows(page, "| name | default | accepts | meaning |") == expected


def test_every_engine_is_listed_with_family_and_expressions() -> None:
    page = (PAGES / "README.md").read_text(encoding="utf-8")
    listed = rows(page, "| name | family | idea | takes |")
    found = [(re.sub(r"\[(\w+)\]\(.*", r"\1", name), family, takes) for name, family, _, takes in listed]
    assert found == [(engine.name, engine.family, engine.takes) for engine in tamis.engines()]
