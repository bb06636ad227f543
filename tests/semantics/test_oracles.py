"""Random expressions over random rows have the truth values that SQLite and DuckDB compute.

Only what docs/semantics.md lists is left out: the generator never makes it.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import Phase, given, seed, settings
from tests.semantics import generator
from tests.semantics.dialects import DuckdbTable, SqliteTable
from tests.semantics.generator import Row
from tests.semantics.tree import Tree, predicates_of, to_text

import tamis

ENGINES = [engine.name for engine in tamis.engines() if engine.takes == "all"]
ORACLES: dict[str, tuple[type[SqliteTable] | type[DuckdbTable], generator.Numbers]] = {
    "sqlite": (SqliteTable, generator.EXACT),
    "duckdb": (DuckdbTable, generator.SAME_TYPE),
}
MISSING: list[Literal["unknown", "false"]] = ["unknown", "false"]

# Minimum distinct pairs of an expression and a row per oracle.
PROMISED = 20_000
TREES, ROWS = 4, 40
# Hypothesis goes on from its earlier examples once it has ten, so short runs bring the most that is new.
EXAMPLES = 10


def to_event(row: Row) -> dict[str, Any]:
    """A mapping with nested mappings for dotted names; half of the missing values are given as None."""
    event: dict[str, Any] = {}
    for place, (name, value) in enumerate(row.items()):
        if value is None and place % 2:
            continue
        *parents, key = name.split(".")
        target = event
        for parent in parents:
            target = target.setdefault(parent, {})
        target[key] = value
    return event


def matched_rows(
    engine: str,
    missing: Literal["unknown", "false"],
    texts: Sequence[str],
    events: Sequence[Mapping[str, Any]],
) -> list[list[int]]:
    """For each expression the rows that match it, all in one index."""
    index = tamis.Index(engine=engine, missing=missing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
        index.add_many(list(range(len(texts))), list(texts))
    rows: list[list[int]] = [[] for _ in texts]
    for row, ids in enumerate(index.match_many(events)):
        for id in ids:
            rows[int(id)].append(row)
    return rows


class Disagreement(AssertionError):
    """The results of tamis and of an oracle for one expression and one row."""


@dataclass
class Coverage:
    """Counts of the cases drawn: many cases prove little if they are all alike."""

    pairs: set[tuple[str, str]] = field(default_factory=set)
    outcomes: Counter[tuple[str, bool | None]] = field(default_factory=Counter)
    predicates: Counter[str] = field(default_factory=Counter)
    trees: int = 0

    def add(self, trees: Sequence[Tree], texts: Sequence[str], rows: Sequence[Row]) -> None:
        self.pairs.update((text, repr(row)) for text in texts for row in rows)
        self.predicates.update(type(leaf).__name__ for tree in trees for leaf in predicates_of(tree))
        self.trees += len(trees)

    def check(self) -> None:
        assert len(self.pairs) >= PROMISED
        assert sum(self.predicates.values()) > 4 * self.trees, self.predicates
        assert {outcome for _, outcome in self.outcomes} == {True, False, None}
        assert min(self.outcomes.values()) > sum(self.outcomes.values()) / 40, self.outcomes
        assert min(self.predicates.values()) > sum(self.predicates.values()) / 40, self.predicates


@pytest.mark.parametrize("oracle", ORACLES)
def test_agrees_with(oracle: str, random_seed: int, summary: list[str]) -> None:
    table_of, numbers = ORACLES[oracle]
    coverage = Coverage()
    tree = generator.trees(generator.predicates(numbers))

    # Not explained: what varies without effect is plain from the disagreement, and finding it takes minutes.
    @settings(max_examples=EXAMPLES, phases=[Phase.generate, Phase.shrink])
    @given(trees=generator.most_of(tree, TREES), rows=generator.tables(ROWS))
    def agree(trees: list[Tree], rows: list[Row]) -> None:
        table = table_of(rows)
        try:
            compare(oracle, table, trees, rows, coverage)
        finally:
            table.close()

    runs = 0
    while len(coverage.pairs) < PROMISED and runs < PROMISED // (TREES * ROWS):
        # Not a sum: neighbouring seeds would repeat each other's runs.
        seed(f"{random_seed}, run {runs}")(agree)()
        runs += 1
    summary.append(
        f"semantics against {oracle}: {len(coverage.pairs):,} distinct pairs of expression and row agree"
        f" ({coverage.trees:,} expressions, {coverage.predicates.total():,} predicates)"
    )
    coverage.check()


def compare(
    oracle: str, table: SqliteTable | DuckdbTable, trees: list[Tree], rows: list[Row], coverage: Coverage
) -> None:
    """Raise the first disagreement: on a truth value, then on what a whole index matches."""
    texts = [to_text(tree) for tree in trees]
    expressions = [tamis.parse(text) for text in texts]
    events = [to_event(row) for row in rows]
    for missing in MISSING:
        closed_world = missing == "false"
        for tree, expression in zip(trees, expressions, strict=True):
            for event, truth in zip(events, table.truths(tree, closed_world), strict=True):
                found = expression.evaluate(event, missing=missing)
                if found is not truth:
                    text = to_text(tree)
                    raise Disagreement(f"{text} is {found} ({oracle}: {truth}), {missing=}, {event=}")
                coverage.outcomes[missing, truth] += 1
        expected_rows = [table.matches(tree, closed_world) for tree in trees]
        for engine in ENGINES:
            found_rows = matched_rows(engine, missing, texts, events)
            for text, found_here, expected_here in zip(texts, found_rows, expected_rows, strict=True):
                for row in set(found_here) ^ set(expected_here):
                    verdict = "matches" if row in found_here else "does not match"
                    event = events[row]
                    raise Disagreement(f"{text} {verdict}, {oracle} differs, {engine=}, {missing=}, {event=}")
    coverage.add(trees, texts, rows)
