"""Why rules match or fail, and how the index finds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tamis.expression import Expression
from tamis.index.rules import Rules
from tamis.results import Explanation, Id, NearMiss, Plan


class Explaining(Rules):
    """Explains matches, near misses and plans."""

    __slots__ = ()

    def near_misses(self, event: Mapping[str, Any], limit: int = 10) -> list[NearMiss]:
        """Find rules that fail by one predicate, with that predicate.

        A near miss does not match, but would if one predicate of its normalized form were TRUE. In that form
        NOT is part of the predicates, and predicates on one attribute that AND or OR joins are merged. All
        such predicates are listed, at most 10 per rule. Rules that no event can satisfy are left out.

        Every rule is evaluated, on all cores, until ``limit`` are found: expect milliseconds for thousands,
        seconds for millions. Other threads can match and update meanwhile.

        Args:
            event: A mapping, as `match` takes.
            limit: Maximum number of near misses, in insertion order.

        >>> from tamis import Index
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
        """Explain why a rule matches an event, or why not.

        >>> from tamis import Index
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
        """Explain how a rule is found: through which predicates, what is tested then, for how many events.

        Args:
            what: An id; or an expression, as text or built, that need not be in the index. A string that is
                an id of the index means that rule.

        Raises:
            UnknownId: An integer that is no id of the index.
            ParseError: A string that is neither an id nor an expression.
            OptionError: The engine has no plans; `compiled` has.

        >>> from tamis import Index
        >>> index = Index()
        >>> print(index.explain_plan("country = 'US' and age between 18 and 35"))
        not in the index; the plan is that of a segment of its own
          scan: in a list for one attribute, compared with every event that has it; about 50.00% of events
            met:  country = 'US'
            then: age BETWEEN 18 AND 35
        """
        if isinstance(what, Expression):
            return Plan.from_native(self._native.plan_for(what._native))
        if isinstance(what, int) or what in self:
            return Plan.from_native(self._native.plan_of(what))
        return Plan.from_native(self._native.plan_for(what))
