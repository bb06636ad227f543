"""The shape of an expression: its predicates, its depth and the size of its disjunctive normal form."""

from __future__ import annotations

from dataclasses import dataclass

from tamis import Limits, Predicate, parse

_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an expression.

    Attributes:
        predicates: Its predicates from left to right.
        depth: Its levels; a single predicate has one.
        conjunctions: The maximum number of conjunctions it expands to; infinity past the range of a float.
    """

    predicates: tuple[Predicate, ...]
    depth: int
    conjunctions: float


def shape_of(text: str, limits: Limits = _DEFAULT_LIMITS) -> Shape:
    """Parse an expression and return its shape; `tamis.dissect` does this for many expressions.

    Raises:
        ParseError: The text is not an expression.

    >>> shape = shape_of("age > 30 and not (country = 'US' and vip)")
    >>> [predicate.operator for predicate in shape.predicates], shape.depth, shape.conjunctions
    (['>', '=', 'TRUE'], 4, 2.0)
    """
    expression = parse(text, limits)
    return Shape(tuple(expression.predicates()), expression.depth(), expression.conjunctions())
