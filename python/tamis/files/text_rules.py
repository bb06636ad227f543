"""Rules as lines of text: ``expression``, or ``id<TAB>expression``.

Blank lines and lines that start with ``#`` or ``--`` are comments in both. Lines end with LF or
CRLF only: the other characters that Unicode calls line breaks may stand inside a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tamis.files.errors import InputError
from tamis.files.rule import Report, Rule, ids_from_text

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ID_AND_TAB = re.compile(rb"(?!not\t)[\w.:/@#\x80-\xff-]+\t", re.IGNORECASE)
_TSV_HEADER = "id\texpression"


def numbered_lines(data: bytes, path: Path, report: Report) -> Iterator[tuple[int, str]]:
    """Give the lines of a UTF-8 file that are not blank, with their numbers from 1."""
    for number, raw in enumerate(data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            line = raw.removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            report(InputError(f"{path}:{number}:{error.start + 1}", "the line is not valid UTF-8"))
            continue
        yield number, line


def looks_like_tsv(data: bytes) -> bool:
    r"""Tell whether the first rule starts with an id and a tab.

    >>> looks_like_tsv(b"# ads\nad-1\tage > 3\n")
    True
    >>> looks_like_tsv(b"not\ttv")
    False
    """
    for raw in data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"):
        line = raw.lstrip()
        if line and not line.startswith((b"#", b"--")):
            return _ID_AND_TAB.match(raw) is not None
    return False


def read_text(data: bytes, path: Path, report: Report) -> Iterator[Rule]:
    """Read one expression per line; a rule's id is the number of its line."""
    for number, line in _rule_lines(data, path, report):
        text = line.lstrip()
        yield Rule(number, text.rstrip(), number, column=len(line) - len(text) + 1)


def read_tsv(data: bytes, path: Path, report: Report) -> Iterator[Rule]:
    """Read ``id<TAB>expression`` per line, and skip the header ``id<TAB>expression`` if present.

    Nothing is quoted or escaped: the expression is what follows the first tab.
    """
    ids: list[str] = []
    places: list[tuple[str, int, int]] = []
    for number, line in _rule_lines(data, path, report):
        if not places and line.strip().lower() == _TSV_HEADER:
            continue
        id_text, tab, rest = line.partition("\t")
        if not tab:
            message = "expected id<TAB>expression, found a line without a tab"
            report(InputError(f"{path}:{number}", message))
            continue
        if not id_text.strip():
            report(InputError(f"{path}:{number}", "expected an id before the tab, found nothing"))
            continue
        text = rest.lstrip()
        ids.append(id_text.strip())
        places.append((text.rstrip(), number, len(line) - len(text) + 1))
    for id, (text, number, column) in zip(ids_from_text(ids), places, strict=True):
        yield Rule(id, text, number, column)


def _rule_lines(data: bytes, path: Path, report: Report) -> Iterator[tuple[int, str]]:
    for number, line in numbered_lines(data, path, report):
        if not line.lstrip().startswith(("#", "--")):
            yield number, line
