"""Why an expression is TRUE, FALSE or UNKNOWN for an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

# Characters of a value that are printed.
_WIDTH = 120

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
        reason: Why a predicate is UNKNOWN although there is a value: the value's kind, and the kind wanted.
        summary: The text of a predicate with long lists and patterns abbreviated; None if it is short.

    >>> from tamis import parse
    >>> print(parse("age >= 18 and country = 'US'").explain({"age": 17}))
    FALSE    AND
    FALSE      age >= 18   (17)
    UNKNOWN    country = 'US'   (missing)
    >>> print(parse("age >= 18").explain({"age": "20"}))
    UNKNOWN  age >= 18   ('20' is text, a number is wanted)
    """

    text: str
    truth: Truth
    value: str | None = None
    weight: float | None = None
    children: tuple[Explanation, ...] = ()
    reason: str | None = None
    summary: str | None = None

    @classmethod
    def from_native(cls, node: Any) -> Explanation:
        """Build the tree from the nested tuples of the core."""
        # Expressions may nest deeper than Python calls may, so neither this nor the methods below recurse.
        built: list[Explanation] = []
        pending = [(node, False)]
        while pending:
            node, operands_built = pending.pop()
            text, summary, truth, value, weight, reason, operands = node
            if not operands_built:
                pending.append((node, True))
                pending.extend((operand, False) for operand in reversed(operands))
                continue
            first = len(built) - len(operands)
            children = tuple(built[first:])
            built[first:] = [cls(text, truth, value, weight, children, reason, summary)]
        return built[0]

    def __str__(self) -> str:
        """Print the tree, one node a line, the truth in front."""
        return "\n".join(f"{node.truth:<8} {'  ' * depth}{node._label()}" for node, depth in self._nodes())

    def _label(self) -> str:
        text = self.summary or self.text
        if self.value is None:
            return text
        value = self.value if len(self.value) <= _WIDTH else f"{self.value[:_WIDTH]}..."
        if self.reason is None:
            return f"{text}   ({value})"
        # The reason of a list is about one of its elements.
        shown = self.reason if self.reason.startswith(value) else f"{value}: {self.reason}"
        return f"{text}   ({shown})"

    def _nodes(self) -> Iterator[tuple[Explanation, int]]:
        """Go through all nodes with their depth, parents before children, from left to right."""
        pending = [(self, 0)]
        while pending:
            node, depth = pending.pop()
            yield node, depth
            pending.extend((child, depth + 1) for child in reversed(node.children))

    def predicates(self) -> Iterator[Explanation]:
        """Go through the leaves from left to right."""
        return (node for node, _ in self._nodes() if not node.children)

    def to_dict(self) -> dict[str, Any]:
        """Give the tree as plain dicts and lists, ready for JSON."""
        root: list[dict[str, Any]] = []
        # The list that the children of a depth go to: that of the node last seen one level up.
        places = {0: root}
        for node, depth in self._nodes():
            entry: dict[str, Any] = {"text": node.text, "truth": node.truth}
            if node.value is not None:
                entry["value"] = node.value
            if node.weight is not None:
                entry["weight"] = node.weight
            if node.reason is not None:
                entry["reason"] = node.reason
            if node.children:
                entry["children"] = places[depth + 1] = []
            places[depth].append(entry)
        return root[0]
