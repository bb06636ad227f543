"""What a workload is made of: the parameters of the papers' generators, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Ends = tuple[int, int]
"""The least and the most, both included; all between are equally likely."""

LETTERS = 26
# Tables of cumulated weights are kept in memory.
_MOST_RANKS = 10_000_000
_MOST_DIMENSIONS = 10_000_000
_MOST_CARDINALITY = 10**15


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What all workloads have in common: attributes, their values, events, and predicates.

    Attributes are called `a0`, `a1` and so on, the most popular first. The values of an attribute are the
    integers from 0 to below its cardinality. The last `text_dimensions` attributes hold words instead:
    numbers spelled with the letters a to z.

    Attributes:
        dimensions: Number of attributes.
        cardinality: Number of values of an attribute of numbers.
        event_size: Pairs of an event.
        alpha: Skew of attributes, in subscriptions and events: rank r has weight 1 / r ** alpha. 0 is
            uniform.
        value_alpha: Skew of values, likewise.
        equality: Share of `=` among predicates on numbers. GEM-Tree calls it the single value rate.
        comparison: Share of `<=` and `>=`, half each.
        membership: Share of IN lists, on numbers and on words. What the three leave are ranges with BETWEEN.
        listed: Values of an IN list.
        range_width: Least and greatest share of the domain that a range covers, 0 to 1.
        widest: The most values a range covers, whatever its share; None is no bound.
        clusters: Points in the domain of each attribute around which values lie; 0 spreads them over the
            domain.
        cluster_size: How far from its point a value lies at most, in values.
        text_dimensions: How many of the attributes hold words.
        text_share: Share of predicates and pairs that are about words.
        word_length: Letters of a word: there are 26 ** word_length words.
        prefix: Share of prefix patterns among predicates on words; the others are `=` and IN.
        prefix_length: Letters of a prefix.
        weights: "none", or "inverse-frequency": each predicate has a weight, the greater the rarer its
            attribute.
        match_probability: Share of the subscriptions that an event matches. None draws subscriptions and
            events independently and leaves it to chance.
    """

    dimensions: int = 100
    cardinality: int = 100
    event_size: Ends = (24, 36)
    alpha: float = 0.0
    value_alpha: float = 0.0
    equality: float = 0.2
    comparison: float = 0.0
    membership: float = 0.0
    listed: Ends = (2, 5)
    range_width: tuple[float, float] = (0.01, 0.5)
    widest: int | None = None
    clusters: int = 0
    cluster_size: int = 100
    text_dimensions: int = 0
    text_share: float = 0.0
    word_length: int = 4
    prefix: float = 0.0
    prefix_length: Ends = (1, 3)
    weights: Literal["none", "inverse-frequency"] = "none"
    match_probability: float | None = None

    def __post_init__(self) -> None:
        self._check()

    @property
    def words(self) -> int:
        """How many words there are."""
        return int(LETTERS**self.word_length)

    @property
    def core_size(self) -> int:
        """How many pairs the events of a topic share; subscriptions drawn around it choose from these."""
        half = (self.event_size[1] + 1) // 2
        return min(self.event_size[0], max(half, self._wanted_core))

    @property
    def _wanted_core(self) -> int:
        return 1

    def _check(self) -> None:
        self._whole("dimensions", 1, _MOST_DIMENSIONS)
        self._whole("cardinality", 1, _MOST_CARDINALITY)
        self._whole("text_dimensions", 0, self.dimensions)
        for name in ("equality", "comparison", "membership", "text_share", "prefix"):
            self._share(name)
        for name in ("alpha", "value_alpha"):
            self._skew(name)
        self._sum("equality", "comparison", "membership")
        self._sum("membership", "prefix")
        self._ends("listed", 1, 1_000)
        self._ends("event_size", 1, self._drawable())
        self._whole("clusters", 0, 1_000_000)
        self._whole("cluster_size", 0, _MOST_CARDINALITY)
        self._whole("word_length", 1, 8)
        self._ends("prefix_length", 1, self.word_length if self.prefix else 8)
        if self.widest is not None:
            self._whole("widest", 1, _MOST_CARDINALITY)
        if not _is_pair(self.range_width, int | float) or not (
            0 <= self.range_width[0] <= self.range_width[1] <= 1
        ):
            raise self._wrong("range_width", "two shares of the domain from 0 to 1, the lesser first")
        if self.weights not in ("none", "inverse-frequency"):
            raise self._wrong("weights", '"none" or "inverse-frequency"')
        if self.match_probability is not None and not 0 < self.match_probability <= 1:
            raise self._wrong("match_probability", "None or a share above 0 and up to 1")
        if self.value_alpha and self.clusters:
            raise ValueError("value_alpha and clusters exclude each other: values have one distribution")
        if (
            self.value_alpha
            and max(self.cardinality, self.words if self.text_dimensions else 0) > _MOST_RANKS
        ):
            raise ValueError(f"value_alpha above 0 takes at most {_MOST_RANKS:,} values, there are more")

    def _drawable(self) -> int:
        """Attributes that can be drawn at all; checks that those with a share exist."""
        numbers = self.dimensions - self.text_dimensions
        if self.text_share > 0 and not self.text_dimensions:
            raise self._wrong("text_share", "0 where text_dimensions is 0")
        if self.text_share < 1 and not numbers:
            raise self._wrong("text_share", "1 where all dimensions hold words")
        return (numbers if self.text_share < 1 else 0) + (self.text_dimensions if self.text_share > 0 else 0)

    def _wrong(self, name: str, accepted: str) -> ValueError:
        return ValueError(f"{name} is {getattr(self, name)!r}; accepted is {accepted}")

    def _whole(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self._wrong(name, f"a whole number from {least:,} to {most:,}")

    def _ends(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if not _is_pair(value, int) or not least <= value[0] <= value[1] <= most:
            raise self._wrong(name, f"two whole numbers from {least:,} to {most:,}, the lesser first")

    def _share(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self._wrong(name, "a share from 0 to 1")

    def _skew(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, int | float) or not 0 <= value <= 20:
            raise self._wrong(name, "a number from 0 (uniform) to 20")

    def _sum(self, *names: str) -> None:
        if sum(getattr(self, name) for name in names) > 1 + 1e-9:
            said = ", ".join(f"{name} {getattr(self, name)}" for name in names)
            raise ValueError(f"{said} add up to more than 1")


def _is_pair(value: Any, kind: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(isinstance(end, kind) and not isinstance(end, bool) for end in value)
    )


@dataclass(frozen=True, kw_only=True)
class ConjunctionSpec(Spec):
    """Conjunctions of predicates on different attributes, as BE-Gen makes them.

    Attributes:
        size: Predicates of a subscription.
        mean_size: Their average, if small sizes shall be more frequent than large ones or the reverse; None
            makes all sizes equally likely.
    """

    size: Ends = (3, 7)
    mean_size: float | None = None

    @property
    def _wanted_core(self) -> int:
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
    """Nested expressions that share their parts, as ABE-Gen makes them.

    Attributes:
        depth: Levels of an expression; 1 is a predicate alone.
        children: Operands of an AND or an OR. NOT has one, XOR and XNOR have two.
        and_share: Share of AND among the connectives.
        or_share: Share of OR.
        not_share: Share of NOT.
        xor_share: Share of XOR. What the four leave is XNOR.
        early: Share of operands that are predicates although the expression goes deeper elsewhere.
        sharing: Skew of the popularity of predicates and subexpressions. 0 makes all of them different;
            above, they are drawn again and again from two pools, rank r with weight 1 / r ** sharing.
        predicate_pool: Predicates there are.
        subexpression_pool: Subexpressions there are.
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
        self._whole("predicate_pool", 1, _MOST_RANKS)
        self._whole("subexpression_pool", 1, _MOST_RANKS)
        if self.match_probability is not None and self.cardinality < 2 and not self.text_share == 1:
            raise self._wrong("cardinality", "2 or more: with a match_probability some predicates must fail")


@dataclass(frozen=True, kw_only=True)
class NormalFormSpec(Spec):
    """Expressions in disjunctive or conjunctive normal form, as OpIndex takes them.

    Attributes:
        form: "dnf" is an OR of ANDs, "cnf" an AND of ORs.
        clauses: Clauses of an expression.
        clause_size: Predicates of a clause.
    """

    form: Literal["dnf", "cnf"] = "dnf"
    clauses: Ends = (1, 5)
    clause_size: Ends = (1, 5)

    @property
    def _wanted_core(self) -> int:
        return self.clause_size[1]

    def _check(self) -> None:
        super()._check()
        self._ends("clauses", 1, 1_000)
        self._ends("clause_size", 1, 1_000)
        if self.form not in ("dnf", "cnf"):
            raise self._wrong("form", '"dnf" or "cnf"')
