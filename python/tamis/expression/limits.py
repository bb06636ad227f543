"""Bounds that keep hostile expressions cheap to refuse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What an index accepts.

    Attributes:
        max_length: Bytes of expression text.
        max_depth: Levels of nesting; at most 1000.
        max_regex_size: Bytes a compiled regular expression may take. All of one rule together may take 16
            times as many.
        max_dnf: Conjunctions an expression may expand to, for engines that take only conjunctions.

    >>> import tamis
    >>> tamis.parse("((((a = 1))))", limits=tamis.Limits(max_depth=3))  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    ...
    tamis.errors.ParseError: line 1, column 3: found a deeper level, expected at most 3 levels of nesting
    (max_depth)
      ((((a = 1))))
        ^
    """

    max_length: int = 500_000
    max_depth: int = 200
    max_regex_size: int = 1_048_576
    max_dnf: int = 1_000

    def __post_init__(self) -> None:
        """Refuse limits that are no positive numbers."""
        for name in ("max_length", "max_depth", "max_regex_size", "max_dnf"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**63:
                from tamis.errors import OptionError

                raise OptionError(f"{name} is {value!r}; it takes a positive int")

    def as_tuple(self) -> tuple[int, int, int, int]:
        """Give the limits in the order the core takes them."""
        return self.max_length, self.max_depth, self.max_regex_size, self.max_dnf


DEFAULT = Limits()
