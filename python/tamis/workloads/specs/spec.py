"""The parameters that all workloads share, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Ends = tuple[int, int]
"""The least and the greatest value, both included; all between are equally likely."""

LETTERS = 26
# Tables of cumulated weights are held in memory.
MAX_RANKS = 10_000_000
_MAX_DIMENSIONS = 10_000_000
_MAX_CARDINALITY = 10**15


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The parameters of attributes, values, events and predicates.

    Attributes are named `a0`, `a1` and so on, the most popular first. The values of an attribute are the
    integers from 0 to below its cardinality. The last `text_dimensions` attributes have words as values
    instead: numbers spelled with the letters a to z.

    Attributes:
        dimensions: The number of attributes.
        cardinality: The number of values of a numeric attribute.
        event_size: The number of pairs of an event.
        alpha: The skew of attributes, in subscriptions and events: rank r has weight 1 / r ** alpha. 0 is
            uniform.
        value_alpha: The skew of values, likewise.
        equality: The share of `=` among predicates on numbers. GEM-Tree calls it the single value rate.
        comparison: The share of `<=` and `>=`, half each.
        membership: The share of IN lists, on numbers and on words. The remaining predicates are BETWEEN
            ranges.
        listed: The number of values of an IN list.
        range_width: The least and greatest share of the domain that a range covers, 0 to 1.
        widest: The maximum number of values that a range covers; None is no bound.
        clusters: The number of cluster centers per attribute that values lie around; 0 spreads values over
            the domain.
        cluster_size: The maximum distance of a value from its cluster center, in values.
        text_dimensions: The number of attributes that have words as values.
        text_share: The share of predicates and pairs on such attributes.
        word_length: The letters of a word; there are 26 ** word_length words.
        prefix: The share of prefix patterns among predicates on words; the others are `=` and IN.
        prefix_length: The letters of a prefix.
        weights: "none", or "inverse-frequency": predicates have weights, greater for rarer attributes.
        match_probability: The share of the subscriptions that an event matches. None draws subscriptions and
            events independently, and leaves it to chance.
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
        """The number of words."""
        return int(LETTERS**self.word_length)

    @property
    def core_size(self) -> int:
        """The number of pairs that the events of a topic share and its subscriptions test."""
        half = (self.event_size[1] + 1) // 2
        return min(self.event_size[0], max(half, self._preferred_core_size))

    @property
    def _preferred_core_size(self) -> int:
        return 1

    def _check(self) -> None:
        self._whole("dimensions", 1, _MAX_DIMENSIONS)
        self._whole("cardinality", 1, _MAX_CARDINALITY)
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
        self._whole("cluster_size", 0, _MAX_CARDINALITY)
        self._whole("word_length", 1, 8)
        self._ends("prefix_length", 1, self.word_length if self.prefix else 8)
        if self.widest is not None:
            self._whole("widest", 1, _MAX_CARDINALITY)
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
        if self.value_alpha and max(self.cardinality, self.words if self.text_dimensions else 0) > MAX_RANKS:
            raise ValueError(f"value_alpha above 0 takes at most {MAX_RANKS:,} values, there are more")

    def _drawable(self) -> int:
        """Return the number of attributes with a positive weight, after a check of `text_share`."""
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
