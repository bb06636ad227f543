"""What an index should hold and answer. Answers come from `Expression.evaluate`, which no engine uses."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import tamis

Missing: TypeAlias = Literal["unknown", "false"]
MISSING: tuple[Missing, Missing] = ("unknown", "false")


class WrongAnswer(Exception):
    """An index differs from its reference."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise WrongAnswer(message)


class Reference:
    def __init__(self, missing: Missing, rules: dict[int | str, tamis.Expression] | None = None) -> None:
        self.missing = missing
        # In the order of insertion, which is that of matches.
        self.rules: dict[int | str, tamis.Expression] = rules or {}
        # Pairs of a rule and an event that were compared.
        self.answers = 0

    def copy(self) -> Reference:
        return Reference(self.missing, dict(self.rules))

    def matches(self, event: dict[str, Any]) -> list[int | str]:
        self.answers += len(self.rules)
        return [id for id, rule in self.rules.items() if rule.evaluate(event, missing=self.missing) is True]

    def check_contents(self, index: tamis.Index) -> None:
        """Invariants, ids and rules."""
        index.validate()
        require(list(index) == list(self.rules), f"ids {list(index)} instead of {list(self.rules)}")
        for id, rule in self.rules.items():
            require(index[id] == rule, f"rule {id!r} is {index[id]} instead of {rule}")

    def check_event(self, index: tamis.Index, event: dict[str, Any]) -> None:
        found, expected = index.match(event), self.matches(event)
        require(found == expected, f"{event}: {found} instead of {expected}")
