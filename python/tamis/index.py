"""The index: expressions in, matching ids out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tamis import _native
from tamis.errors import InvalidId, NeverMatchesWarning
from tamis.explanation import Explanation
from tamis.expression import Expression, Missing
from tamis.limits import DEFAULT, Limits
from tamis.matches import Id, Matches
from tamis.near_miss import NearMiss
from tamis.plan import Plan
from tamis.ranked_matches import RankedMatches

if TYPE_CHECKING:
    import pyarrow

Weights: TypeAlias = Mapping[str, float]


class Index:
    """A collection of Boolean expressions that finds those an event satisfies.

    Safe to use from many threads, also while others add and remove.

    Args:
        engine: An engine's name (see `tamis.engines`), or ``"auto"``.
        missing: What a predicate on a missing attribute is: ``"unknown"`` as in SQL, or ``"false"``
            (closed world), which makes its negation true.
        options: The engine's options.
        limits: What expressions are accepted.

    >>> index = Index()
    >>> index.add("ad-17", "age between 18 and 35 and country in ('US', 'DE')")
    >>> index.match({"age": 24, "country": "US"})
    ['ad-17']
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        engine: str = "auto",
        missing: Missing = "unknown",
        options: Mapping[str, bool | int | float | str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Make an empty index."""
        limits = limits or DEFAULT
        self._native = _native.NativeIndex(engine, missing, dict(options or {}), limits.as_tuple())

    @classmethod
    def _wrap(cls, native: _native.NativeIndex) -> Index:
        index = cls.__new__(cls)
        index._native = native
        return index

    # --- subscriptions ------------------------------------------------------------------------------

    def add(self, id: Id, expression: str | Expression) -> None:
        """Add an expression under a new id.

        Raises:
            DuplicateId: The id is in use.
            ParseError: The text is no expression.
        """
        if not self._native.add(id, _source(expression)):
            _warn_never([repr(id)])

    def add_many(self, ids: Any, expressions: Iterable[str | Expression] | None = None) -> None:
        """Add many expressions, or none of them if one fails; the error names the row.

        Takes ids and expressions side by side, or one argument: a mapping, pairs, or Arrow data with the
        columns ``id`` and ``expression``.

        >>> index = Index()
        >>> index.add_many(["a", "b"], ["x > 1", "x > 2"])
        >>> index.add_many({"c": "x > 3"})
        >>> index.match({"x": 3})
        ['a', 'b']
        """
        if expressions is None and _is_arrow(ids):
            never = self._native.add_arrow(ids)
            if never:
                _warn_never([f"row {row}" for row in never])
            return
        id_list, expression_list = _side_by_side(ids, expressions)
        never = self._native.add_many(id_list, [_source(expression) for expression in expression_list])
        if never:
            _warn_never([repr(id_list[row]) for row in never])

    def replace(self, id: Id, expression: str | Expression) -> None:
        """Give an id another expression; it keeps its place in the order of insertion.

        Raises:
            UnknownId: The id is not in the index.
        """
        if not self._native.replace(id, _source(expression)):
            _warn_never([repr(id)])

    def remove(self, id: Id) -> None:
        """Remove an expression.

        Raises:
            UnknownId: The id is not in the index.
        """
        self._native.remove(id)

    def __len__(self) -> int:
        """Count the expressions."""
        return len(self._native)

    def __contains__(self, id: object) -> bool:
        """Tell whether an id is in the index."""
        try:
            return id in self._native
        except InvalidId:
            return False

    def __getitem__(self, id: Id) -> Expression:
        """Give the expression of an id."""
        return Expression(self._native.expression(id))

    def __iter__(self) -> Iterator[Id]:
        """Go through the ids in order of insertion, as of now."""
        return iter(self._native.all_ids())

    # --- matching -----------------------------------------------------------------------------------

    def match(self, event: Mapping[str, Any]) -> list[Id]:
        """Find the ids of all expressions the event satisfies, in order of insertion.

        Nested mappings reach dotted attributes.

        >>> index = Index()
        >>> index.add(1, "user.age >= 18")
        >>> index.match({"user": {"age": 20}})
        [1]
        """
        return self._native.match_one(event)

    def match_json(self, event: str | bytes) -> list[Id]:
        """As `match`, for one JSON object.

        >>> index = Index()
        >>> index.add(1, "a > 1")
        >>> index.match_json('{"a": 2}')
        [1]
        """
        return self._native.match_json(event)

    def match_many(
        self, events: Iterable[Mapping[str, Any]], threads: int | None = None, ordered: bool = False
    ) -> Matches:
        """Match many events at once.

        Args:
            events: Mappings, as `match` takes.
            threads: How many threads to use; by default one per core.
            ordered: Whether each event's ids come in order of insertion; sorting costs.
        """
        events = events if isinstance(events, list) else list(events)
        return Matches(self._native.match_many(events, _threads(threads), ordered))

    def match_json_many(
        self,
        events: str | bytes | Iterable[str | bytes],
        threads: int | None = None,
        ordered: bool = False,
    ) -> Matches:
        r"""As `match_many`, for JSON objects: one a line in a text, or one a text in an iterable.

        Blank lines are skipped.

        >>> index = Index()
        >>> index.add(1, "a > 1")
        >>> list(index.match_json_many('{"a": 1}\n{"a": 2}\n'))
        [[], [1]]
        """
        if not isinstance(events, str | bytes | list):
            events = list(events)
        return Matches(self._native.match_json_many(events, _threads(threads), ordered))

    def match_arrow(self, data: Any, threads: int | None = None, ordered: bool = False) -> pyarrow.Table:
        """Match the rows of any Arrow data: pyarrow, polars, DuckDB, pandas with pyarrow.

        Returns:
            A table with the columns ``event``, the row's number from 0, and ``id``.
        """
        return Matches(self._native.match_arrow(data, _threads(threads), ordered)).to_arrow()

    def top_k(
        self, event: Mapping[str, Any], k: int = 5, weights: Weights | None = None
    ) -> list[tuple[Id, float]]:
        """Find the k best matches by score, best first; ties in order of insertion.

        The score is the sum, over the satisfied predicates, of the predicate's weight times the
        attribute's weight in ``weights``; both are 1.0 by default.

        >>> index = Index()
        >>> index.add("plain", "age > 18 and city = 'Paris'")
        >>> index.add("keen", "age > 18 ^ 5 and city = 'Paris'")
        >>> index.top_k({"age": 30, "city": "Paris"}, k=2, weights={"age": 0.5})
        [('keen', 3.5), ('plain', 1.5)]
        """
        return self._native.top_k(event, _count(k), dict(weights or {}))

    def top_k_many(
        self,
        events: Iterable[Mapping[str, Any]],
        k: int = 5,
        weights: Weights | Iterable[Weights | None] | None = None,
        threads: int | None = None,
    ) -> RankedMatches:
        """Find the k best matches of many events at once; each event's are those that `top_k` finds.

        An expression is parsed once for all the events that it matches, so this takes far less time than
        `top_k` for one event after another.

        Args:
            events: Mappings, as `match` takes.
            k: How many matches an event gets at most.
            weights: What the attributes count, as in `top_k`: a mapping for all events, or as many mappings
                (or None) as there are events.
            threads: How many threads to use; by default one per core.

        Raises:
            EventError: An event or a weight has a value without meaning, or there are not as many weights as
                events.

        >>> index = Index()
        >>> index.add_many({"plain": "age > 18 and vip", "keen": "age > 18 ^ 5 or vip"})
        >>> events = [{"age": 30, "vip": True}, {"age": 40, "vip": True}]
        >>> list(index.top_k_many(events, k=1, weights=[{"age": 0.25}, None]))
        [[('keen', 2.25)], [('keen', 6.0)]]
        """
        events = events if isinstance(events, list) else list(events)
        return RankedMatches(self._native.top_k_many(events, _count(k), _weights(weights), _threads(threads)))

    def top_k_json_many(
        self,
        events: str | bytes | Iterable[str | bytes],
        k: int = 5,
        weights: Weights | Iterable[Weights | None] | None = None,
        threads: int | None = None,
    ) -> RankedMatches:
        r"""As `top_k_many`, for JSON objects: one a line in a text, or one a text in an iterable.

        Blank lines are skipped.

        >>> index = Index()
        >>> index.add_many({1: "a > 1", 2: "a > 1 ^ 2"})
        >>> list(index.top_k_json_many('{"a": 1}\n{"a": 2}\n', k=1))
        [[], [(2, 2.0)]]
        """
        if not isinstance(events, str | bytes | list):
            events = list(events)
        return RankedMatches(
            self._native.top_k_json_many(events, _count(k), _weights(weights), _threads(threads))
        )

    def top_k_arrow(
        self,
        data: Any,
        k: int = 5,
        weights: Weights | Iterable[Weights | None] | None = None,
        threads: int | None = None,
    ) -> pyarrow.Table:
        """As `top_k_many`, for the rows of any Arrow data: pyarrow, polars, DuckDB, pandas with pyarrow.

        Returns:
            A table with the columns ``event``, the row's number from 0, ``id`` and ``score``; each event's
            best match comes first.
        """
        native = self._native.top_k_arrow(data, _count(k), _weights(weights), _threads(threads))
        return RankedMatches(native).to_arrow()

    def near_misses(self, event: Mapping[str, Any], limit: int = 10) -> list[NearMiss]:
        """Find expressions that failed by one predicate, with that predicate.

        A near miss does not match, but would if one predicate of its normalized form were TRUE. In that form
        NOT is inside the predicates, and predicates on one attribute are merged where AND or OR joins them.
        All such predicates are named, at most 10 an expression. Expressions that no event can satisfy are
        left out.

        Every expression is looked at, on all cores, until ``limit`` are found: expect milliseconds for
        thousands, seconds for millions. Other threads match and update meanwhile.

        Args:
            event: A mapping, as `match` takes.
            limit: How many near misses to return, in order of insertion.

        >>> index = Index()
        >>> index.add("adults", "age >= 18 and country = 'US'")
        >>> index.add("anyone", "age >= 18 or vip")
        >>> for miss in index.near_misses({"age": 17, "country": "US"}):
        ...     print(miss.id, miss.predicates)
        adults ['age >= 18']
        anyone ['age >= 18', 'vip = TRUE']
        """
        if limit < 0:
            raise ValueError(f"limit is {limit}, must not be negative")
        return [NearMiss(id, predicates) for id, predicates in self._native.near_misses(event, limit)]

    def explain(self, id: Id, event: Mapping[str, Any]) -> Explanation:
        """Tell why an expression matches an event, or why not.

        >>> index = Index()
        >>> index.add("adults", "age >= 18 and not country = 'US'")
        >>> print(index.explain("adults", {"age": 20, "country": "US"}))
        FALSE    AND
        TRUE       age >= 18   (20)
        FALSE      NOT
        TRUE         country = 'US'   ('US')
        """
        return Explanation.from_native(self._native.explain(id, event))

    def explain_plan(self, what: Id | str | Expression) -> Plan:
        """Tell how a subscription is found: where it waits for events, what is tested, how likely that is.

        Args:
            what: An id; or an expression, as text or built, that need not be in the index. A string that is
                an id of the index is taken as that.

        Raises:
            UnknownId: An integer that is no id of the index.
            ParseError: A string that is neither an id nor an expression.
            OptionError: The engine lays out no plans; `compiled` does.

        >>> index = Index()
        >>> print(index.explain_plan("country = 'US' and age between 18 and 35"))
        not in the index; by itself it would be found so
          scan: compared with all that wait for the same attribute; about 50.00% of events
            met:  country = 'US'
            then: age BETWEEN 18 AND 35
        """
        if isinstance(what, Expression):
            return Plan.from_native(self._native.plan_for(what._native))
        if isinstance(what, int) or what in self:
            return Plan.from_native(self._native.plan_of(what))
        return Plan.from_native(self._native.plan_for(what))

    # --- learning -----------------------------------------------------------------------------------

    def observe(self, events: Any) -> None:
        """Count past events, so that the engine can choose by how seldom a predicate holds.

        No answer changes, only the time it takes. Attributes that no expression refers to are not counted,
        so observe after adding a first batch of expressions. An engine that has no use for it ignores it.

        Args:
            events: Mappings, as `match_many` takes, or Arrow data, as `match_arrow` does.

        Raises:
            EventError: An event has a value without meaning; then none of them is counted.

        >>> index = Index()
        >>> index.add(1, "country = 'US' and age > 99")
        >>> index.observe([{"country": "US", "age": 31}, {"country": "US", "age": 47}])
        >>> index.match({"country": "US", "age": 100})
        [1]
        """
        if _is_arrow(events):
            self._native.observe_arrow(events)
        else:
            self._native.observe(events if isinstance(events, list) else list(events))

    def compact(self) -> None:
        """Bring everything into the form that matches fastest, and wait for it.

        The engine ``compiled`` keeps expressions in several segments and merges them in the background. This
        makes one of them now, in the light of the events observed so far. Other threads match and update
        meanwhile. With other engines there is nothing to do.

        >>> index = Index(engine="compiled")
        >>> index.add_many({n: f"a = {n}" for n in range(1000)})
        >>> index.remove(7)
        >>> index.compact()
        >>> index.stats()["segments"], index.stats()["dead"]
        (1, 0)
        """
        self._native.compact()

    # --- files --------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file; a crash leaves the old file or the new one."""
        self._native.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Index:
        """Read an index from a file.

        The file of a ``compiled`` index is mapped, not read: it opens at once, and processes that open the
        same file share its memory. It may be replaced, by `save` too, but must not be written to in place.

        Raises:
            FileError: The file cannot be read, is damaged, or is no index.
        """
        return cls._wrap(_native.NativeIndex.load(os.fspath(path)))

    @classmethod
    def _from_bytes(cls, data: bytes) -> Index:
        return cls._wrap(_native.NativeIndex.from_bytes(data))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the bytes of a file."""
        return type(self)._from_bytes, (self._native.to_bytes(),)

    # --- figures ------------------------------------------------------------------------------------

    @property
    def engine(self) -> str:
        """The engine in use; never ``"auto"``."""
        return self._native.engine

    @property
    def missing(self) -> Missing:
        """What a predicate on a missing attribute is."""
        return cast(Missing, self._native.settings()[1])

    @property
    def options(self) -> dict[str, bool | int | float | str]:
        """The engine's options."""
        return self._native.settings()[2]

    @property
    def limits(self) -> Limits:
        """What expressions are accepted."""
        return Limits(*self._native.settings()[3])

    def attributes(self) -> frozenset[str]:
        """Name the attributes that expressions refer to; an event need hold no others.

        Those that only removed expressions referred to may still be among them.

        >>> index = Index()
        >>> index.add(1, "age >= 18 and user.country = 'US'")
        >>> sorted(index.attributes())
        ['age', 'user.country']
        """
        return frozenset(self._native.attributes())

    def stats(self) -> dict[str, Any]:
        """Give figures for people: the engine, how much there is, the sizes of the engine's parts."""
        return {
            "engine": self.engine,
            "missing": self.missing,
            "subscriptions": len(self),
            "attributes": len(self.attributes()),
            **dict(self._native.engine_stats()),
        }

    def memory_usage(self) -> dict[str, int]:
        """Give the bytes in use by part, and their total; near enough, not exact."""
        parts = dict(zip(("ids", "texts", "attributes", "engine"), self._native.memory(), strict=True))
        return {**parts, "total": sum(parts.values())}

    def to_dot(self) -> str:
        """Give the engine's structure as a graph in DOT, the language of Graphviz.

        Predicates are boxes at the bottom, AND and OR are ellipses above them; what several expressions
        share is there once. Arrows lead the way of matching, those that are not followed are dashed. A node
        that is the whole of an expression has a thick border and its id. Long texts are cut.

        Raises:
            OptionError: The engine has no such structure; ``a_tree`` has.

        >>> index = Index(engine="a_tree")
        >>> index.add("adults", "age >= 18 and country = 'US'")
        >>> "age >= 18" in index.to_dot()
        True
        """
        return self._native.dot()

    def validate(self) -> None:
        """Check every invariant of the index and its engine; for tests.

        Raises:
            InternalError: One is broken; the message names it.
        """
        self._native.validate()

    def __repr__(self) -> str:
        """Say how much there is."""
        return f"Index({len(self)} expressions, engine={self.engine!r})"


def _source(expression: str | Expression) -> Any:
    """What the core takes: text, its own expressions; anything else it refuses by name."""
    return expression._native if isinstance(expression, Expression) else expression


def _is_arrow(data: object) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}, must be at least 1")
    return threads


def _count(k: int) -> int:
    if k < 0:
        raise ValueError(f"k is {k}, must not be negative")
    return k


def _weights(
    weights: Weights | Iterable[Weights | None] | None,
) -> dict[str, float] | list[dict[str, float]]:
    """What the core takes: a dict for all events, or a list with one for each."""
    if weights is None or isinstance(weights, Mapping):
        return dict(weights or {})
    each = []
    for row, given in enumerate(weights):
        if not (given is None or isinstance(given, Mapping)):
            raise TypeError(f"row {row}: weights are a mapping or None, not {given!r}")
        each.append(dict(given or {}))
    return each


def _side_by_side(
    ids: Any, expressions: Iterable[str | Expression] | None
) -> tuple[Sequence[Id], Sequence[str | Expression]]:
    if expressions is None:
        pairs = list(ids.items() if isinstance(ids, Mapping) else ids)
        for row, pair in enumerate(pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(f"row {row}: add_many takes pairs of id and expression, not {pair!r}")
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if isinstance(expressions, str):
        raise TypeError("expressions is one str, not many; use add() for a single expression")
    id_list, expression_list = list(ids), list(expressions)
    if len(id_list) != len(expression_list):
        raise ValueError(f"{len(id_list)} ids, but {len(expression_list)} expressions")
    return id_list, expression_list


def _warn_never(names: list[str]) -> None:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    warnings.warn(f"no event can satisfy the expression of {shown}", NeverMatchesWarning, stacklevel=3)
