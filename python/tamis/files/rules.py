"""Rules files: expressions with their ids, each knowing its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tamis.files.errors import InputError
from tamis.files.formats import RulesFormat, rules_format
from tamis.files.json_rules import read_jsonl
from tamis.files.rule import Report, Rule, stop_at_first
from tamis.files.table_rules import read_csv, read_parquet
from tamis.files.text_rules import looks_like_tsv, read_text, read_tsv

__all__ = ["Rule", "RulesFile", "read_rules"]

_READERS: dict[RulesFormat, Callable[[bytes, Path, Report], Iterator[Rule]]] = {
    RulesFormat.TEXT: read_text,
    RulesFormat.TSV: read_tsv,
    RulesFormat.JSONL: read_jsonl,
    RulesFormat.CSV: read_csv,
    RulesFormat.PARQUET: read_parquet,
}


@dataclass(frozen=True, slots=True)
class RulesFile:
    """The rules of one file, in the file's order."""

    path: Path
    format: RulesFormat
    rules: list[Rule]

    def place(self, rule: Rule, column: int | None = None) -> str:
        """Name a rule's place in the file, down to a column of its expression where possible.

        >>> rule = Rule(id="a", text="age >> 3", line=7, column=3)
        >>> RulesFile(Path("r.tsv"), RulesFormat.TSV, [rule]).place(rule, column=6)
        'r.tsv:7:8'
        """
        if self.format is RulesFormat.PARQUET:
            place = f"{self.path}: row {rule.line}"
        else:
            place = f"{self.path}:{rule.line}"
        if column is None:
            return place
        if rule.column is None:
            return f"{place}: column {column} of the expression"
        return f"{place}:{rule.column + column - 1}"


def read_rules(
    path: Path | str, format: RulesFormat | None = None, report: Report = stop_at_first
) -> RulesFile:
    """Read a rules file; its format follows from its ending unless given.

    A text file whose first rule reads ``word<TAB>rest`` is taken as tsv. Nothing is ambiguous
    about that: a word, a tab and a whole expression are never an expression together, but for
    the word ``NOT``, which is not taken as an id. Giving ``format`` switches this look off.

    Bad records (a line that is not UTF-8 or not JSON, a row without an expression) go to
    ``report``. Expressions are not parsed here. A file that cannot be read at all raises
    ``InputError``.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from error
    chosen = rules_format(path) if format is None else format
    if format is None and chosen is RulesFormat.TEXT and looks_like_tsv(data):
        chosen = RulesFormat.TSV
    return RulesFile(path, chosen, list(_READERS[chosen](data, path, report)))
