"""What an expression is made of: its predicates, its depth, and how large it is as a disjunction."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from tamis.errors import InternalError, ParseError
from tamis.explanation import Explanation
from tamis.expression import Expression, attr, parse
from tamis.limits import DEFAULT, Limits

Quantifier: TypeAlias = Literal["any", "all"]

_COMPARISONS = frozenset(("=", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN"))
_PATTERNS = frozenset(("LIKE", "ILIKE", "RLIKE"))
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
    expression = parse(text, limits)
    names = expression.attributes()
    tree = expression.explain(dict.fromkeys(names, _PROBES["number"]))
    depth, conjunctions = _measure(tree)
    return Shape(tuple(_predicates(expression, names, tree)), depth, conjunctions)


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


def _predicates(expression: Expression, names: frozenset[str], tree: Explanation) -> Iterator[Predicate]:
    """Take the leaves apart; TRUE and FALSE, which have no weight, are no predicates."""
    operands = {operand: place for name in names for operand, place in _operands(name)}
    kinds = _Kinds(expression, names, tree)
    for number, leaf in enumerate(tree.predicates()):
        if leaf.weight is None:
            continue
        text = leaf.text if leaf.weight == 1.0 else _without_weight(leaf.text)
        operator, (name, quantifier) = _operator(text, operands)
        yield Predicate(text, name, operator, quantifier, kinds.of(number, operator, quantifier))


class _Kinds:
    """Finds the kind of each leaf by evaluating all leaves at once for a probe of each kind."""

    def __init__(self, expression: Expression, names: frozenset[str], numbers: Explanation) -> None:
        self._expression, self._names = expression, names
        self._answers: dict[tuple[str, bool], list[bool]] = {("number", False): _known(numbers)}

    def of(self, leaf: int, operator: str, quantifier: Quantifier | None) -> str:
        word = operator.removeprefix("NOT ")
        if word in _PATTERNS or word in _FUNCTIONS:
            return "text"
        if word in ("TRUE", "IS NULL", "IS NOT NULL"):
            return "bool" if word == "TRUE" else "presence"
        in_list = quantifier is not None
        return next((kind for kind in _PROBES if self._answer(kind, in_list)[leaf]), "mixed")

    def _answer(self, kind: str, in_list: bool) -> list[bool]:
        if (kind, in_list) not in self._answers:
            probe = [_PROBES[kind]] if in_list else _PROBES[kind]
            tree = self._expression.explain(dict.fromkeys(self._names, probe))
            self._answers[kind, in_list] = _known(tree)
        return self._answers[kind, in_list]


def _known(tree: Explanation) -> list[bool]:
    return [leaf.truth != "UNKNOWN" for leaf in tree.predicates()]


def _without_weight(text: str) -> str:
    return str(parse(text, Limits(max_length=2**62, max_regex_size=2**62)).weight(1.0))


@lru_cache(maxsize=65_536)
def _operands(name: str) -> tuple[tuple[str, tuple[str, Quantifier | None]], ...]:
    """Give the canonical texts that an attribute can have in a predicate."""
    plain = str(attr(name).is_true())
    return (plain, (name, None)), (f"any({plain})", (name, "any")), (f"all({plain})", (name, "all"))


def _operator(
    text: str, operands: Mapping[str, tuple[str, Quantifier | None]]
) -> tuple[str, tuple[str, Quantifier | None]]:
    """Find the attribute in canonical text, where its own text is known, and the operator beside it."""
    if text in operands:
        return "TRUE", operands[text]
    for function in _FUNCTIONS:
        if text.startswith(f"{function}("):
            for operand, _ in _cuts(text[len(function) + 1 :], ", "):
                if operand in operands:
                    return function, operands[operand]
    for operand, rest in _cuts(text, " "):
        if operand in operands:
            words = rest.split(" ", 3)
            if words[0] in _COMPARISONS or words[0] in _PATTERNS:
                return words[0], operands[operand]
            # NOT IN and its like; IS NULL, IS NOT NULL.
            return " ".join(words[: words.index("NULL") + 1 if words[0] == "IS" else 2]), operands[operand]
    raise InternalError(f"no operator known in the predicate {text}")


def _cuts(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """Cut a text at each of its separators; a quoted name may hold some."""
    at = text.find(separator)
    while at >= 0:
        yield text[:at], text[at + len(separator) :]
        at = text.find(separator, at + 1)
