"""Explanations name the kinds that do not compare, and stay short; errors say when to quote a name."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

import tamis
from tamis import parse

REASONS: list[tuple[str, Any, str | None]] = [
    ("x = 5", "5", "'5' is text, a number is wanted"),
    ("x = '5'", 5, "5 is a number, text is wanted"),
    ("x > 5", True, "TRUE is a boolean, a number is wanted"),
    ("x", "yes", "'yes' is text, a boolean is wanted"),
    ("x between 1 and 2", datetime.date(2026, 11, 15), "a time, a number is wanted"),
    ("x in (1, 'a')", True, "TRUE is a boolean, a number or text is wanted"),
    ("x like 'a%'", 5, "5 is a number, text is wanted"),
    ("x > date '2026-11-15'", "2026-11-16", "'2026-11-16' is text, a time is wanted"),
    ("in_cidr(x, '10.0.0.0/8')", "localhost", "'localhost' is no IP address"),
    ("in_cidr(x, '10.0.0.0/8')", 5, "5 is a number, the text of an IP address is wanted"),
    ("x = 5", [5], "a list is compared by its elements: write any(x) or all(x)"),
    ("any(x) = 5", 5, "5 is a number, a list is wanted"),
    ("any(x) = 5", ["5"], "'5' is text, a number is wanted"),
    ("any(x) = 5", [4, None], "an element is missing"),
    ("x = 5", {"y": 1}, "a nested value is an object"),
    ("x = 5", 4, None),
    ("x = 5", None, None),
    ("any(x) = 5", [4], None),
]


@pytest.mark.parametrize(("rule", "value", "reason"), REASONS)
def test_the_reason_names_both_kinds(rule: str, value: Any, reason: str | None) -> None:
    explanation = parse(rule).explain({"x": value})
    if reason is None:
        assert explanation.reason is None and "reason" not in explanation.to_dict()
    else:
        assert explanation.truth == "UNKNOWN"
        assert reason in str(explanation.reason) and reason in str(explanation)
        assert reason in explanation.to_dict()["reason"]


def test_long_lists_and_patterns_are_abbreviated() -> None:
    rule = parse(f"x in ({', '.join(map(str, range(500)))}) ^ 2")
    explanation = rule.explain({"x": 1})
    assert str(explanation) == "TRUE     x IN (0, 1, 2, 3, 4, 5, 6, 7, ... 492 more) ^ 2.0   (1)"
    assert explanation.text == str(rule)
    words = "|".join(f"word{n}" for n in range(500))
    shown = str(parse(f"x rlike '{words}'").explain({"x": "word1" * 100}))
    assert len(shown) < 300 and shown.count("...") >= 1
    assert parse("x in (1, 2)").explain({"x": 1}).summary is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("user-id = 1", "user-id"),
        ("a = 1 and user-id = 1", "user-id"),
        ("user-1 = 5", "user-1"),
        ("x.user-1 = 5", "x.user-1"),
        ("user:id = 1", "user:id"),
        ("@timestamp > 1", "@timestamp"),
        ("event/type = 'x'", "event/type"),
        ("price$ > 1", "price$"),
    ],
)
def test_a_name_with_other_characters_is_to_be_quoted(text: str, name: str) -> None:
    with pytest.raises(tamis.ParseError, match="quote the name") as caught:
        parse(text)
    assert f'quote the name: "{name}"' in str(caught.value)
    assert parse(text.replace(name, f'"{name}"')).attributes() >= {name}


@pytest.mark.parametrize("text", ["a = 1 -", "a - = 1", "- a", "a = 1 2", "a ? 1", "a = #"])
def test_other_errors_do_not_mention_quotes(text: str) -> None:
    with pytest.raises(tamis.ParseError) as caught:
        parse(text)
    assert "quote the name" not in str(caught.value)
