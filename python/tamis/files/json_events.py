"""Events as JSON lines, from a file or a pipe.

A chunk is whole lines as they stand in the file: the index parses them itself. Blank lines are no
events, but they count: the number of an event is the number of its line.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from tamis.files.errors import InputError
from tamis.files.paths import value_at

if TYPE_CHECKING:
    from tamis.index import Index

# Large enough that a call's fixed cost vanishes, small enough that results flow.
_BLOCK_BYTES = 4 * 1024 * 1024
_BLANK_LINE = re.compile(rb"^[ \t\r]*$", re.MULTILINE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ReadsWhatIsThere(Protocol):
    """A binary stream with ``read1``: it waits for some bytes, not for all it was asked for."""

    def read1(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; no bytes at all mean the end."""


class JsonEvents:
    """Some lines of JSON, none of them blank."""

    def __init__(self, data: bytes, numbers: Sequence[int], size: int, name: str) -> None:
        self._data = data
        self._name = name
        self.numbers = numbers
        self.size = size

    @classmethod
    def of_block(cls, block: bytes, first: int, name: str) -> JsonEvents:
        """Make the chunk of a block of lines, the first of which has the number ``first``."""
        count = block.count(b"\n") + 1
        size = len(block) + 1
        if not _BLANK_LINE.search(block):
            return cls(block, range(first, first + count), size, name)
        lines = [
            (number, line) for number, line in enumerate(block.split(b"\n"), start=first) if line.strip()
        ]
        data = b"\n".join(line for _, line in lines)
        return cls(data, [number for number, _ in lines], size, name)

    def __len__(self) -> int:
        """Count the events."""
        return len(self.numbers)

    def part(self, start: int, stop: int) -> JsonEvents:
        """Give the events from ``start`` up to ``stop``, counted from 0."""
        if (start, stop) == (0, len(self)):
            return self
        data = b"\n".join(self._lines[start:stop])
        return JsonEvents(data, self.numbers[start:stop], len(data), self._name)

    def match(self, index: Index, threads: int | None) -> Sequence[Sequence[str | int]]:
        """Match the lines: one list of ids per line, in insertion order."""
        return index.match_json_many(self._data, threads=threads, ordered=True)

    def mappings(self) -> list[Mapping[str, object]]:
        """Parse the lines; a bad one raises ``InputError`` with its row."""
        return [self._mapping(row, line) for row, line in enumerate(self._lines)]

    def values(self, path: str) -> list[object]:
        """Give each event's value at a dotted path, None where it has none."""
        return [value_at(event, path) for event in self.mappings()]

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._data.split(b"\n") if self.numbers else []

    def _mapping(self, row: int, line: bytes) -> Mapping[str, object]:
        place = f"{self._name}:{self.numbers[row]}"
        try:
            event = json.loads(line)
        except json.JSONDecodeError as error:
            message = f"not JSON: {error.msg} at column {error.colno}"
            raise InputError(place, message, row) from error
        except UnicodeDecodeError as error:
            raise InputError(place, "the line is not valid UTF-8", row) from error
        except RecursionError as error:
            raise InputError(place, "the JSON is nested too deeply", row) from error
        if not isinstance(event, dict):
            raise InputError(place, "an event must be a JSON object", row)
        return event


class JsonSource:
    """Lines of JSON from a stream, which may be a pipe that never ends."""

    def __init__(
        self,
        open_stream: Callable[[], AbstractContextManager[ReadsWhatIsThere]],
        name: str,
        total: int | None,
    ) -> None:
        self._open_stream = open_stream
        self._name = name
        self.total = total

    @classmethod
    def file(cls, path: Path) -> JsonSource:
        """Read a file."""
        size = path.stat().st_size
        # A pipe with a path, such as a shell's process substitution, has size 0.
        return cls(lambda: path.open("rb"), str(path), size or None)

    @classmethod
    def standard_input(cls) -> JsonSource:
        """Read standard input.

        Raises:
            InputError: It is closed.
        """
        if sys.stdin is None:
            raise InputError("standard input", "it is closed; name a file of events, or connect a pipe")
        # Typed as a stream that may lack read1; in fact it is buffered.
        stream = cast("ReadsWhatIsThere", sys.stdin.buffer)
        return cls(lambda: nullcontext(stream), "standard input", None)

    def chunks(self) -> Iterator[JsonEvents]:
        """Read the lines, as many at a time as are there."""
        with self._open_stream() as stream:
            number = 1
            for block in _whole_lines(stream):
                if number == 1:
                    block = block.removeprefix(_BYTE_ORDER_MARK)
                    self._refuse_array(block)
                chunk = JsonEvents.of_block(block, number, self._name)
                number += block.count(b"\n") + 1
                if len(chunk):
                    yield chunk

    def place(self, number: int) -> str:
        """Name the place of an event: ``file:line``."""
        return f"{self._name}:{number}"

    def _refuse_array(self, block: bytes) -> None:
        """Say it clearly when all events stand in one array, a common other layout."""
        if re.match(rb"\s*\[\s*(\{|$)", block):
            message = "found a JSON array, expected one object per line (`jq -c '.[]'` makes them)"
            raise InputError(f"{self._name}:1", message)


def _whole_lines(stream: ReadsWhatIsThere) -> Iterator[bytes]:
    """Cut a stream into blocks of whole lines, each without its last line break.

    What is read after the last line break waits for the rest of its line; a last line without a
    break counts too.
    """
    begun: list[bytes] = []
    while data := stream.read1(_BLOCK_BYTES):
        head, line_break, tail = data.rpartition(b"\n")
        if line_break:
            yield b"".join([*begun, head])
            begun = [tail] if tail else []
        else:
            begun.append(data)
    if begun:
        yield b"".join(begun)
