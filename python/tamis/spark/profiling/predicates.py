"""What an expression is made of: its predicates, its depth, and how large it is as a disjunction."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.expression import DEFAULT, Limits, Predicate, parse


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
    """Take an expression apart; `tamis.dissect` does it for many.

    Raises:
        ParseError: The text is no expression.

    >>> shape = shape_of("age > 30 and not (country = 'US' and vip)")
    >>> [predicate.operator for predicate in shape.predicates], shape.depth, shape.conjunctions
    (['>', '=', 'TRUE'], 4, 2.0)
    """
    expression = parse(text, limits)
    return Shape(tuple(expression.predicates()), expression.depth(), expression.conjunctions())
