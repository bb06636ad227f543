"""Specs of the three kinds of subscriptions: conjunctions, nested expressions, normal forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tamis.workloads.specs.spec import MAX_RANKS, Ends, Spec


@dataclass(frozen=True, kw_only=True)
class ConjunctionSpec(Spec):
    """Conjunctions of predicates on different attributes, as drawn by BE-Gen.

    Attributes:
        size: The number of predicates of a subscription.
        mean_size: The mean of the sizes, if small sizes are to be more frequent than large ones or the
            reverse; None makes all sizes equally likely.
    """

    size: Ends = (3, 7)
    mean_size: float | None = None

    @property
    def _preferred_core_size(self) -> int:
        return self.size[1]

    def _check(self) -> None:
        super()._check()
        self._ends("size", 1, self._drawable())
        if self.mean_size is not None and not self.size[0] <= self.mean_size <= self.size[1]:
            raise self._wrong(
                "mean_size", f"None or a number between the sizes {self.size[0]} and {self.size[1]}"
            )


@dataclass(frozen=True, kw_only=True)
class TreeSpec(Spec):
    """Nested expressions with shared subexpressions, as drawn by ABE-Gen.

    Attributes:
        depth: The levels of an expression; 1 is a single predicate.
        children: The number of operands of an AND or an OR. NOT has one, XOR and XNOR have two.
        and_share: The share of AND among the connectives.
        or_share: The share of OR.
        not_share: The share of NOT.
        xor_share: The share of XOR. The remaining connectives are XNOR.
        early: The share of operands that are predicates although the expression is deeper elsewhere.
        sharing: The skew of the popularity of predicates and subexpressions. 0 makes all of them different;
            above 0 they are drawn from two pools, rank r with weight 1 / r ** sharing.
        predicate_pool: The size of the pool of predicates.
        subexpression_pool: The size of the pool of subexpressions.
    """

    dimensions: int = 1_000
    event_size: Ends = (15, 25)
    equality: float = 0.4
    range_width: tuple[float, float] = (0.01, 0.3)
    depth: Ends = (3, 3)
    children: Ends = (2, 6)
    and_share: float = 0.4
    or_share: float = 0.4
    not_share: float = 0.1
    xor_share: float = 0.05
    early: float = 0.0
    sharing: float = 0.6
    predicate_pool: int = 740_000
    subexpression_pool: int = 890_000

    def _check(self) -> None:
        super()._check()
        self._ends("depth", 1, 12)
        self._ends("children", 1, 100)
        for name in ("and_share", "or_share", "not_share", "xor_share", "early"):
            self._share(name)
        self._sum("and_share", "or_share", "not_share", "xor_share")
        self._skew("sharing")
        self._whole("predicate_pool", 1, MAX_RANKS)
        self._whole("subexpression_pool", 1, MAX_RANKS)
        if self.match_probability is not None and self.cardinality < 2 and not self.text_share == 1:
            raise self._wrong("cardinality", "2 or more: with a match_probability some predicates must fail")


@dataclass(frozen=True, kw_only=True)
class NormalFormSpec(Spec):
    """Expressions in disjunctive or conjunctive normal form, as in the OpIndex paper.

    Attributes:
        form: "dnf" is an OR of ANDs, "cnf" an AND of ORs.
        clauses: The number of clauses of an expression.
        clause_size: The number of predicates of a clause.
    """

    form: Literal["dnf", "cnf"] = "dnf"
    clauses: Ends = (1, 5)
    clause_size: Ends = (1, 5)

    @property
    def _preferred_core_size(self) -> int:
        return self.clause_size[1]

    def _check(self) -> None:
        super()._check()
        self._ends("clauses", 1, 1_000)
        self._ends("clause_size", 1, 1_000)
        if self.form not in ("dnf", "cnf"):
            raise self._wrong("form", '"dnf" or "cnf"')
