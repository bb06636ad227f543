"""What `programs/full_pipeline.py` must find, by plain tamis."""

from __future__ import annotations

from typing import Any

from tests.spark.support.workload import attributes_of, events, plain_index, plain_matches, subscriptions


def check_results(results: dict[str, Any]) -> None:
    """Compare the results of every step with plain tamis."""
    rules: dict[Any, str] = dict(subscriptions(150))
    drawn = events(80)
    expected = _lists(plain_matches(rules, drawn))
    assert len(expected) > 100
    for way in ("columns", "json", "temporary index", "arrays", "files"):
        assert results[way] == expected, way
    ages: list[dict[str, Any]] = [{name: e[name] for name in ("event_id", "age") if name in e} for e in drawn]
    for kind in ("int", "double"):
        assert results[f"maps of {kind}"] == _lists(plain_matches(rules, ages)), kind
    plain = plain_index(rules)
    best = {(e["event_id"], *pair) for e in drawn for pair in plain.top_k(attributes_of(e), 2)}
    assert results["top-k"] == _lists(best)
    assert (results["array rows"], results["truths"]) == (len(drawn), ["TRUE"] * 3)
    assert results["bad rule"].startswith("rule 999: ") and "^" in results["bad rule"]
    assert (results["quarantine"], results["removed"]) == (["999"], [])
    assert "has no version 'nope'" in results["missing version"]

    del rules[5]
    rules[1000] = "true"
    changed = _lists(plain_matches(rules, drawn))
    for way in ("delta", "compacted", "stream"):
        assert results[way] == changed, way


def _lists(rows: set[Any]) -> list[list[Any]]:
    """Sorted rows as JSON has them."""
    return [list(row) for row in sorted(rows)]
