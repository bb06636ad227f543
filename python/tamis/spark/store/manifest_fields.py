"""Fields of a manifest, checked one by one as they are read.

A manifest comes from storage that others may write to. Its names become paths and its checksums become names
of local files, so a value that is not exactly of its form is an error, and so is a field that is not known.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from tamis.spark.store.file_cache import SHA256, SUFFIXES

_Choice = TypeVar("_Choice", bound=str)

# The header of a saved index holds the checksums of all its sections, so it identifies the file.
HEADER_BYTES = 64
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HEX = re.compile(r"(?:[0-9a-f]{2})*")


def is_version_name(name: str) -> bool:
    """Return whether a text may be the name of a version, which is the name of a folder as well."""
    return name != "current" and NAME.fullmatch(name) is not None


class Fields:
    """An object of JSON. Each method takes a field out, and raises ValueError if it is not of its form."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} is {_short(value)}, must be an object")
        self._left = dict(value)
        self._where = where

    @classmethod
    def parse(cls, data: bytes, where: str) -> Fields:
        """Parse an object."""
        try:
            return cls(json.loads(data), where)
        except RecursionError:
            raise ValueError(f"{where} is nested too deeply") from None

    def end(self) -> None:
        """Require that all fields were taken."""
        if self._left:
            raise ValueError(f"{self._where} has the unknown field {_short(min(self._left))}")

    def take(self, name: str) -> Any:
        """Take a field of any form."""
        if name not in self._left:
            raise ValueError(f"{self._where} has no field {name!r}")
        return self._left.pop(name)

    def text(self, name: str) -> str:
        """Take a text."""
        value: str = self._require(name, lambda value: isinstance(value, str), "a text")
        return value

    def choice(self, name: str, accepted: Sequence[_Choice]) -> _Choice:
        """Take one of several texts."""
        value: _Choice = self._require(name, lambda one: one in accepted, f"one of {', '.join(accepted)}")
        return value

    def count(self, name: str) -> int:
        """Take a whole number of at least 0."""
        value: int = self._require(
            name, lambda value: type(value) is int and value >= 0, "a whole number of at least 0"
        )
        return value

    def seconds(self, name: str) -> float:
        """Take a time in seconds since the epoch."""

        def is_time(value: Any) -> bool:
            return type(value) in (int, float) and math.isfinite(value) and value >= 0

        value: float = self._require(name, is_time, "a time in seconds")
        return value

    def version(self, name: str) -> str:
        """Take the name of a version."""
        value: str = self._require(
            name, lambda value: isinstance(value, str) and is_version_name(value), "the name of a version"
        )
        return value

    def sha256(self, name: str) -> str:
        """Take a checksum."""
        value: str = self._require(
            name,
            lambda value: isinstance(value, str) and SHA256.fullmatch(value) is not None,
            "a checksum of 64 hexadecimal digits",
        )
        return value

    def header(self, name: str, size: int) -> str:
        """Take the first bytes of a file of a size, in hex."""
        digits = 2 * min(size, HEADER_BYTES)
        value: str = self._require(
            name,
            lambda value: (
                isinstance(value, str) and len(value) == digits and _HEX.fullmatch(value) is not None
            ),
            f"{digits} hexadecimal digits",
        )
        return value

    def path(self, name: str, versions: Collection[str]) -> str:
        """Take the path of a file directly inside the folder of one of some versions."""

        def is_inside(value: Any) -> bool:
            parts = value.split("/") if isinstance(value, str) else []
            return (
                len(parts) == 3
                and parts[0] == "versions"
                and parts[1] in versions
                and NAME.fullmatch(parts[2]) is not None
                and parts[2].endswith(SUFFIXES)
            )

        folders = " or ".join(f"versions/{version}" for version in sorted(versions)[:3])
        value: str = self._require(
            name, is_inside, f"a file of {folders} that ends in {' or '.join(SUFFIXES)}"
        )
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Take a list of texts."""
        return tuple(
            self._require(
                name,
                lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
                "a list of texts",
            )
        )

    def options(self, name: str) -> dict[str, bool | int | float | str]:
        """Take the options of an engine."""
        value: dict[str, bool | int | float | str] = self._require(
            name,
            lambda value: (
                isinstance(value, dict)
                and all(isinstance(one, bool | int | float | str) for one in value.values())
            ),
            "an object of plain values",
        )
        return value

    def objects(self, name: str) -> list[Fields]:
        """Take a list of objects."""
        listed = self._require(name, lambda value: isinstance(value, list), "a list")
        return [Fields(value, f"{name}[{at}] of {self._where}") for at, value in enumerate(listed)]

    def object_or_none(self, name: str) -> Fields | None:
        """Take an object, or null."""
        value = self.take(name)
        return None if value is None else Fields(value, f"{name} of {self._where}")

    def _require(self, name: str, is_right: Any, accepted: str) -> Any:
        value = self.take(name)
        if not is_right(value):
            raise ValueError(f"{name!r} of {self._where} is {_short(value)}, must be {accepted}")
        return value


def _short(value: object) -> str:
    """Show the beginning of a value: it may be long, and is not to be trusted."""
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
