"""File formats, and the file endings that stand for them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class RulesFormat(StrEnum):
    """How a rules file is laid out."""

    TEXT = "text"
    TSV = "tsv"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


class EventsFormat(StrEnum):
    """How an events file is laid out."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


_RULES_ENDINGS = {
    ".txt": RulesFormat.TEXT,
    ".tsv": RulesFormat.TSV,
    ".jsonl": RulesFormat.JSONL,
    ".ndjson": RulesFormat.JSONL,
    ".json": RulesFormat.JSONL,
    ".csv": RulesFormat.CSV,
    ".parquet": RulesFormat.PARQUET,
}

_EVENTS_ENDINGS = {
    ".jsonl": EventsFormat.JSONL,
    ".ndjson": EventsFormat.JSONL,
    ".json": EventsFormat.JSONL,
    ".csv": EventsFormat.CSV,
    ".parquet": EventsFormat.PARQUET,
}


def rules_format(path: Path) -> RulesFormat:
    """Tell the format of a rules file from its ending; an unknown ending means text.

    >>> rules_format(Path("ads.CSV")).value
    'csv'
    >>> rules_format(Path("ads.rules")).value
    'text'
    """
    return _RULES_ENDINGS.get(path.suffix.lower(), RulesFormat.TEXT)


def events_format(path: Path) -> EventsFormat:
    """Tell the format of an events file from its ending; an unknown ending means JSON lines.

    >>> events_format(Path("clicks.parquet")).value
    'parquet'
    >>> events_format(Path("/dev/fd/63")).value
    'jsonl'
    """
    return _EVENTS_ENDINGS.get(path.suffix.lower(), EventsFormat.JSONL)
