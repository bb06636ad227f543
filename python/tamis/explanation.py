"""Why an expression is TRUE, FALSE or UNKNOWN for an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Truth: TypeAlias = Literal["TRUE", "FALSE", "UNKNOWN"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A node of an expression with what it evaluates to, and its operands below it.

    Attributes:
        text: The connective, or the predicate's canonical text.
        truth: ``"TRUE"``, ``"FALSE"`` or ``"UNKNOWN"``.
        value: The event's value as text, for a predicate; None for a connective.
        weight: The predicate's weight; None for a connective.
        children: The operands.

    >>> from tamis import parse
    >>> print(parse("age >= 18 and country = 'US'").explain({"age": 17}))
    FALSE    AND
    FALSE      age >= 18   (17)
    UNKNOWN    country = 'US'   (missing)
    """

    text: str
    truth: Truth
    value: str | None = None
    weight: float | None = None
    children: tuple[Explanation, ...] = ()

    @classmethod
    def from_native(cls, node: Any) -> Explanation:
        """Build the tree from the nested tuples of the core."""
        text, truth, value, weight, children = node
        return cls(text, truth, value, weight, tuple(cls.from_native(child) for child in children))

    def __str__(self) -> str:
        """Print the tree, one node a line, the truth in front."""
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> Iterator[str]:
        value = "" if self.value is None else f"   ({self.value})"
        yield f"{self.truth:<8} {'  ' * depth}{self.text}{value}"
        for child in self.children:
            yield from child._lines(depth + 1)

    def predicates(self) -> Iterator[Explanation]:
        """Go through the leaves from left to right."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.predicates()

    def to_dict(self) -> dict[str, Any]:
        """Give the tree as plain dicts and lists, ready for JSON."""
        node: dict[str, Any] = {"text": self.text, "truth": self.truth}
        if self.value is not None:
            node["value"] = self.value
        if self.weight is not None:
            node["weight"] = self.weight
        if self.children:
            node["children"] = [child.to_dict() for child in self.children]
        return node
