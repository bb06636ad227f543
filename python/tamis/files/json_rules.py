"""Rules as JSON lines: ``{"id": "ad-1", "expression": "age > 3"}``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tamis.files.errors import InputError
from tamis.files.rule import Report, Rule
from tamis.files.text_rules import numbered_lines


def read_jsonl(data: bytes, path: Path, report: Report) -> Iterator[Rule]:
    """Read one JSON object per line; other keys than ``id`` and ``expression`` are ignored.

    Either every object has an id or none has: then a rule's id is the number of its line. Which
    of the two holds is decided by the first rule.
    """
    with_ids: bool | None = None
    for number, line in numbered_lines(data, path, report):
        try:
            record = _parse(line)
            if with_ids is None:
                with_ids = "id" in record
            yield Rule(_id(record, with_ids, number), _expression(record), number)
        except ValueError as error:
            report(InputError(f"{path}:{number}", str(error)))


def _parse(line: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("not a rule: the JSON is nested too deeply") from error
    if not isinstance(record, dict):
        raise ValueError('expected an object like {"id": "a", "expression": "age > 3"}')
    return record


def _expression(record: dict[str, object]) -> str:
    if "expression" not in record:
        found = ", ".join(record) or "none"
        raise ValueError(f'expected the key "expression", found the keys: {found}')
    expression = record["expression"]
    if not isinstance(expression, str):
        raise ValueError(f'"expression" must be a string, found {json.dumps(expression)}')
    return expression


def _id(record: dict[str, object], with_ids: bool, number: int) -> str | int:
    if ("id" in record) != with_ids:
        raise ValueError("some rules have an id and some have none: give one to all or to none")
    if not with_ids:
        return number
    id = record["id"]
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise ValueError(f'"id" must be a string or an integer, found {json.dumps(id)}')
    return id
