"""Styles: how keywords become predicates, and documents events.

Three papers derive workloads from text. OpIndex (PVLDB 2014, section 7) makes each keyword an attribute, with
a predicate that it is present, or that its number of occurrences is in an interval. PS-Tree (PVLDB 2018,
section 7.1) splits each keyword into an attribute and a value of three characters each. BE*-Tree (ICDE 2012,
Table III) has 677 attributes and 26^3 values, which is a split after two letters.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

from tamis import Expression, attr


class KeywordStyle(Protocol):
    """Converts keywords to predicates and to events; words are in order, with repetitions."""

    def predicates(self, words: Sequence[str], id: Any) -> list[Expression]:
        """Return the predicates of a query."""

    def event(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the attributes and values of a document."""


@dataclass(frozen=True)
class Presence:
    """Each keyword is an attribute that is 1: ``vldb = 1 AND hangzhou = 1``."""

    def predicates(self, words: Sequence[str], id: Any) -> list[Expression]:
        """Test each distinct word."""
        return [_equal(word, 1) for word in dict.fromkeys(words)]

    def event(self, words: Sequence[str]) -> dict[str, Any]:
        """Set each word to 1."""
        return dict.fromkeys(words, 1)


@dataclass(frozen=True)
class Frequency:
    """Each keyword is an attribute, its number of occurrences the value: ``vldb BETWEEN 5 AND 20``.

    The paper does not define its intervals. Here both ends are drawn between ``at_least`` and ``at_most``;
    they depend on the seed, the id and the word alone.
    """

    at_least: int = 1
    at_most: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the bounds."""
        if not 1 <= self.at_least <= self.at_most:
            found = f"{self.at_least} to {self.at_most}"
            raise ValueError(f"occurrences from {found}; accepted is 1 <= at_least <= at_most")

    def predicates(self, words: Sequence[str], id: Any) -> list[Expression]:
        """Test each distinct word with its own interval."""
        return [attr(word).between(*self._interval(word, id)) for word in dict.fromkeys(words)]

    def event(self, words: Sequence[str]) -> dict[str, Any]:
        """Count each word."""
        return dict(Counter(words))

    def _interval(self, word: str, id: Any) -> tuple[int, int]:
        choices = self.at_most - self.at_least + 1
        drawn = int(draw(self.seed, id, word) * choices * choices)
        low, high = sorted(divmod(drawn, choices))
        return self.at_least + low, self.at_least + high


@dataclass(frozen=True)
class Split:
    """The first characters of a keyword are the attribute, the next the value: "boolean" is ``boo = 'lea'``.

    A word of at most ``attribute`` + ``value`` characters is split in half instead, the shorter half first:
    "vldb" is ``vl = 'db'``. A single character is an attribute with an empty value.

    Attributes:
        attribute: Characters of the attribute: 3 as in the PS-Tree paper, 2 as in the BE*-Tree paper.
        value: Characters of the value.
        repeated: How words with the same attribute are handled, such as "boolean" and "boot". ``"any"``: the
            attribute is a list, and predicates test whether the value is in it, so a query finds the
            documents that have all its words. ``"first"``: plain equality, as in the papers; the word that is
            first in alphabetical order counts.
    """

    attribute: int = 3
    value: int = 3
    repeated: Literal["any", "first"] = "any"

    def __post_init__(self) -> None:
        """Check the lengths and `repeated`."""
        if self.attribute < 1 or self.value < 1:
            raise ValueError(f"a split of {self.attribute} and {self.value} characters; both are at least 1")
        if self.repeated not in ("any", "first"):
            raise ValueError(f"repeated is {self.repeated!r}; accepted is 'any' or 'first'")

    def predicates(self, words: Sequence[str], id: Any) -> list[Expression]:
        """Test each distinct pair."""
        if self.repeated == "any":
            return [_some_equal(*pair) for pair in dict.fromkeys(map(self._pair, words))]
        return [_equal(name, value) for name, value in self._firsts(words).items()]

    def event(self, words: Sequence[str]) -> dict[str, Any]:
        """Collect the values of each attribute."""
        if self.repeated == "first":
            return self._firsts(words)
        values: dict[str, list[str]] = {}
        for name, value in dict.fromkeys(map(self._pair, words)):
            values.setdefault(name, []).append(value)
        return values

    def _firsts(self, words: Sequence[str]) -> dict[str, Any]:
        values: dict[str, str] = {}
        for name, value in map(self._pair, words):
            values[name] = min(value, values.get(name, value))
        return values

    def _pair(self, word: str) -> tuple[str, str]:
        if len(word) > self.attribute + self.value:
            cut, end = self.attribute, self.attribute + self.value
        else:
            cut, end = max(len(word) // 2, 1), len(word)
        return word[:cut], word[cut:end]


def draw(*parts: Any) -> float:
    """Draw a number in [0, 1) that depends on the parts alone, on every machine."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) / 2**53


# Words of a log repeat, so most calls hit the cache.
@lru_cache(maxsize=65_536)
def _equal(name: str, value: str | int) -> Expression:
    return attr(name) == value


@lru_cache(maxsize=65_536)
def _some_equal(name: str, value: str) -> Expression:
    return attr(name).any() == value
