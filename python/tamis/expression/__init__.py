"""Expressions: parsed from text or built in Python, with the predicates they consist of."""

from tamis.expression.dissection import Dissection, dissect
from tamis.expression.expression import (
    Attribute,
    Expression,
    Missing,
    all_of,
    any_of,
    attr,
    parse,
)
from tamis.expression.limits import DEFAULT, Limits
from tamis.expression.literals import Value
from tamis.expression.predicate import Predicate

__all__ = [
    "DEFAULT",
    "Attribute",
    "Dissection",
    "Expression",
    "Limits",
    "Missing",
    "Predicate",
    "Value",
    "all_of",
    "any_of",
    "attr",
    "dissect",
    "parse",
]
