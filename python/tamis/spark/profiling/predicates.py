"""What an expression is made of: its predicates, its depth, and how large it is as a disjunction."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from tamis.errors import InternalError, ParseError
from tamis.explanation import Explanation
from tamis.expression import attr, parse
from tamis.limits import DEFAULT, Limits

Quantifier: TypeAlias = Literal["any", "all"]

# What stands behind an attribute in canonical text; "TRUE" is for a boolean attribute by itself.
_AFTER = (
    *("=", "!=", "<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN", "IS NULL", "IS NOT NULL"),
    *("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "RLIKE", "NOT RLIKE"),
)
_FUNCTIONS = ("startswith", "endswith", "contains", "in_cidr")

# A predicate on a value of another kind is UNKNOWN, so asking tells the kind. The values are odd, lest they
# stand in a list of several kinds, which is UNKNOWN unless it holds the very value.
_PROBES: dict[str, Any] = {
    "number": -1.234567890123e-77,
    "text": "203.0.113.77",
    "bool": True,
    "time": datetime.datetime(1703, 4, 5, 6, 7, 8, 9),
}


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate as it is written, its weight aside.

    Attributes:
        text: Its canonical text.
        attribute: What it asks about.
        operator: ``"="``, ``"NOT IN"``, ``"startswith"`` and so on; ``"TRUE"`` for an attribute by itself.
        quantifier: ``"any"`` or ``"all"`` if it asks about elements of a list.
        kind: The kind of values it can hold for: ``"number"``, ``"text"``, ``"bool"`` or ``"time"``;
            ``"mixed"`` for a list of several kinds, ``"presence"`` for IS NULL and IS NOT NULL.
    """

    text: str
    attribute: str
    operator: str
    quantifier: Quantifier | None
    kind: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What an expression is made of.

    Attributes:
        predicates: Its predicates from left to right.
        depth: Its levels; a predicate alone is one level.
        conjunctions: To how many conjunctions it expands at most. Infinity if there are too many for a float.
    """

    predicates: tuple[Predicate, ...]
    depth: int
    conjunctions: float


def shape_of(text: str, limits: Limits = DEFAULT) -> Shape:
    """Take an expression apart.

    Raises:
        ParseError: The text is no expression.

    >>> shape = shape_of("age > 30 and not (country = 'US' and vip)")
    >>> [predicate.operator for predicate in shape.predicates], shape.depth, shape.conjunctions
    (['>', '=', 'TRUE'], 4, 2.0)
    """
    tree = parse(text, limits).explain({})
    leaves = (node.text for node in tree.predicates())
    found = tuple(predicate for leaf in leaves if (predicate := _predicate(leaf)) is not None)
    depth, conjunctions = _measure(tree)
    return Shape(found, depth, conjunctions)


def shape_or_none(text: bytes | None, limits: Limits) -> Shape | None:
    """Take an expression apart, or give None for what is none: null, not UTF-8, or not an expression."""
    try:
        return None if text is None else shape_of(str(text, "utf-8"), limits)
    except (UnicodeDecodeError, ParseError):
        return None


def _measure(tree: Explanation) -> tuple[int, float]:
    """Give the depth, and the size of the disjunctive form.

    Operands first and without recursion, since expressions nest deeper than calls may. Of each part two sizes
    are known, that of itself and that of its negation; NOT exchanges them.
    """
    done: list[tuple[int, float, float]] = []
    for node in _operands_first(tree):
        count = len(node.children)
        parts = done[len(done) - count :] if count else []
        del done[len(done) - count :]
        depth = 1 + max((part[0] for part in parts), default=0)
        done.append((depth, *_sizes(node.text, [part[1:] for part in parts])))
    depth, size, _ = done[0]
    return depth, size


def _sizes(connective: str, parts: list[tuple[float, float]]) -> tuple[float, float]:
    if not parts:
        return 1.0, 1.0
    size, negated = parts[0]
    if connective == "NOT":
        return negated, size
    for other, other_negated in parts[1:]:
        if connective == "AND":
            size, negated = size * other, negated + other_negated
        elif connective == "OR":
            size, negated = size + other, negated * other_negated
        else:
            different = size * other_negated + negated * other
            alike = size * other + negated * other_negated
            size, negated = (different, alike) if connective == "XOR" else (alike, different)
    return size, negated


def _operands_first(tree: Explanation) -> Iterator[Explanation]:
    order, pending = [], [tree]
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(node.children)
    return reversed(order)


# Predicates repeat: in the workload of the A-Tree paper one is shared 69 times on average.
@lru_cache(maxsize=100_000)
def _predicate(leaf: str) -> Predicate | None:
    """Take a predicate apart; None for TRUE and FALSE."""
    if leaf in ("TRUE", "FALSE"):
        return None
    predicate = parse(leaf, Limits(max_length=2**62, max_regex_size=2**62)).weight(1.0)
    (name,) = predicate.attributes()
    text = str(predicate)
    operator, quantifier = _operator(text, name)
    if operator in ("IS NULL", "IS NOT NULL"):
        return Predicate(text, name, operator, quantifier, "presence")
    kinds = [
        kind
        for kind, value in _PROBES.items()
        if predicate.evaluate({name: [value] if quantifier else value}) is not None
    ]
    return Predicate(text, name, operator, quantifier, kinds[0] if len(kinds) == 1 else "mixed")


def _operator(text: str, name: str) -> tuple[str, Quantifier | None]:
    """Find the operator beside the attribute, whose own text is known."""
    plain = str(attr(name).is_true())
    operands: dict[str, Quantifier | None] = {plain: None, f"any({plain})": "any", f"all({plain})": "all"}
    for operand, quantifier in operands.items():
        if text == operand:
            return "TRUE", quantifier
        for word in _AFTER:
            if text == f"{operand} {word}" or text.startswith(f"{operand} {word} "):
                return word, quantifier
        for function in _FUNCTIONS:
            if text.startswith(f"{function}({operand}, "):
                return function, quantifier
    raise InternalError(f"no operator known in the predicate {text}")
