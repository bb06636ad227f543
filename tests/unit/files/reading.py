"""Writing files for tests and reading them back."""

from __future__ import annotations

from pathlib import Path

from tamis.files import RulesFormat, open_events, read_rules


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pairs(path: Path, format: RulesFormat | None = None) -> list[tuple[str | int, str]]:
    return [(rule.id, rule.text) for rule in read_rules(path, format).rules]


def events(path: Path) -> list[tuple[int, object]]:
    return [
        (number, dict(event))
        for chunk in open_events(path).chunks()
        for number, event in zip(chunk.numbers, chunk.mappings(), strict=True)
    ]
