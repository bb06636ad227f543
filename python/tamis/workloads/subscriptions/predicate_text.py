"""Writes predicates and values as text cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.workloads.sampling.counters import Numbers
from tamis.workloads.sampling.domain import Domain
from tamis.workloads.specs import LETTERS
from tamis.workloads.subscriptions.predicates import Kind, Predicates
from tamis.workloads.text_cells import Cells, cells, millionths, names, numbers, words

# Text before, between and after the values: by kind, first for numbers, then for words.
_OPENING = cells([" = ", " <= ", " >= ", " between ", " in (", "", " = '", "", "", "", " in ('", " like '"])
_MIDDLE = cells(["", "", "", " and ", "", "", "", "", "", "", "", ""])
_CLOSING = cells(["", "", "", "", ")", "", "'", "", "", "", "')", "%'"])
_COMMA = cells(["", ", ", "', '"])
_KINDS = len(Kind)


def predicate_cells(domain: Domain, predicates: Predicates) -> list[Cells]:
    """Return the cells of each predicate."""
    spec, kinds, attributes = domain.spec, predicates.kinds, predicates.attributes
    low, high, members = predicates.low, predicates.high, predicates.members
    text = domain.is_text(attributes)
    form = kinds + _KINDS * text
    first = np.where(kinds == Kind.AT_MOST, high, low)
    if members is not None:
        first = np.where(kinds == Kind.LISTED, members[:, 0], first)
    shown = None
    if spec.prefix:
        # A prefix of n letters spans the 26 ** (word_length - n) words that begin with it.
        spans = LETTERS ** np.arange(spec.word_length)
        shown = spec.word_length - np.searchsorted(spans, high - low + 1)
    pieces = [np.take(names(spec.dimensions, "", ""), attributes), np.take(_OPENING, form)]
    pieces += value_cells(domain, attributes, first, shown=shown)
    if spec.equality + spec.comparison + spec.membership < 1:
        pieces.append(np.take(_MIDDLE, form))
        pieces.append(numbers(high, spec.cardinality, kinds == Kind.BETWEEN))
    if members is not None:
        for place in range(1, members.shape[1]):
            there = (kinds == Kind.LISTED) & (members[:, place] >= 0)
            pieces.append(np.take(_COMMA, there * (1 + text)))
            pieces += value_cells(domain, attributes, members[:, place], present=there)
    if members is not None or domain.has_text:
        pieces.append(np.take(_CLOSING, form))
    if predicates.weights is not None:
        pieces.append(millionths(predicates.weights))
    return pieces


def value_cells(
    domain: Domain,
    attributes: Numbers,
    values: Numbers,
    *,
    present: NDArray[np.bool_] | None = None,
    shown: Numbers | None = None,
) -> list[Cells]:
    """Return the cells of values: numbers or words, by attribute.

    Args:
        domain: Attributes and values.
        attributes: The attributes of the values.
        values: The values.
        present: Which values to write, if not all; the cells of the others are empty.
        shown: The number of letters of a word to write, if not all.
    """
    spec = domain.spec
    if not domain.has_text:
        return [numbers(values, spec.cardinality, present)]
    text = domain.is_text(attributes)
    there = np.ones(len(values), np.bool_) if present is None else present
    letters = np.where(there & text, spec.word_length if shown is None else shown, 0)
    spelled = words(values, spec.word_length, letters)
    if spec.text_share == 1:
        return [spelled]
    return [numbers(np.where(text, 0, values), spec.cardinality, there & ~text), spelled]
