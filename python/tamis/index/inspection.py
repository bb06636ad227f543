"""Settings, statistics and checks of an index."""

from __future__ import annotations

from typing import Any, cast

from tamis.expression import Limits, Missing
from tamis.index.rules import Rules


class Inspection(Rules):
    """Tells what an index is made with and what it consists of."""

    __slots__ = ()

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
        """Name the attributes that rules refer to; events need no others.

        Attributes that only removed rules referred to may be included. `Index.compact` drops them.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add(1, "age >= 18 and user.country = 'US'")
        >>> sorted(index.attributes())
        ['age', 'user.country']
        """
        return frozenset(self._native.attributes())

    def stats(self) -> dict[str, Any]:
        """Give statistics: the engine, the number of rules and attributes, and figures of the engine."""
        return {
            "engine": self.engine,
            "missing": self.missing,
            "subscriptions": len(self),
            "attributes": len(self.attributes()),
            **dict(self._native.engine_stats()),
        }

    def memory_usage(self) -> dict[str, int]:
        """Give the estimated bytes in use by part, and their total.

        This is within 10% of what is allocated, compiled regular expressions included. The buffers of
        matching threads are not part of it.
        """
        parts = dict(zip(("ids", "texts", "attributes", "engine"), self._native.memory(), strict=True))
        return {**parts, "total": sum(parts.values())}

    def to_dot(self) -> str:
        """Give the engine's structure as a graph in DOT, the language of Graphviz.

        Predicates are boxes at the bottom, AND and OR are ellipses above them; what several rules share is
        drawn once. Arrows lead in the direction of matching; dashed ones are not followed. A node that is the
        whole expression of a rule has a thick border and the rule's id. Of ``gem_tree``, ``be_star_tree`` and
        ``be_tree``, attributes are triangles; cells or buckets are boxes with the ids of the rules stored
        there. Long texts are cut.

        Raises:
            OptionError: The engine has no such structure; the message names those that have one.

        >>> from tamis import Index
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
