"""What `explain_plan` tells of subscriptions and expressions."""

from __future__ import annotations

import pytest

import tamis
from tamis import attr


def many() -> tamis.Index:
    index = tamis.Index()
    texts = [f"user = {n} and amount > {n % 7}" for n in range(2_000)]
    texts[5] = "country = 'US' or (user = 5 and amount between 1 and 3)"
    texts[6] = "amount is null"
    index.add_many(range(2_000), texts)
    return index


def test_an_equality_of_many_leads_to_its_subscription() -> None:
    plan = many().explain_plan(17)
    assert plan.standing == "compiled" and plan.members == 2_000
    (one,) = plan.alternatives
    assert one.place == "node" and one.met == ("user = 17",) and one.tests == ("amount > 3",)
    assert 0 < one.share < 0.01
    assert "user = 17" in str(plan) and "amount > 3" in str(plan)


def test_a_disjunction_has_an_alternative_for_each_side() -> None:
    plan = many().explain_plan(5)
    told = {one.met: one.tests for one in plan.alternatives}
    assert told == {("country = 'US'",): (), ("user = 5",): ("amount BETWEEN 1 AND 3",)}


def test_what_needs_no_value_is_asked_everywhere() -> None:
    (one,) = many().explain_plan(6).alternatives
    assert one.place == "everywhere" and one.met == () and one.tests == ("amount IS NULL",)


def test_expressions_need_not_be_in_the_index() -> None:
    index = many()
    for expression in ("a = 1 and b like '%x%'", (attr("a") == 1) & attr("b").like("%x%")):
        plan = index.explain_plan(expression)
        assert plan.standing == "alone" and plan.members is None
        (one,) = plan.alternatives
        assert sorted(one.met + one.tests) == ["a = 1", "b LIKE '%x%'"]
    assert len(index) == 2_000


def test_constants_and_recent_ones() -> None:
    index = tamis.Index()
    index.add("recent", "a > 1")
    index.add("always", "a > 1 or not a > 1 or a is null")
    with pytest.warns(tamis.NeverMatchesWarning):
        index.add("never", "a > 1 and a < 0")
    index.add("lists", "any(tags) in ('x', 'y') and all(sizes) < 3")
    assert index.explain_plan("recent").standing == "recent"
    assert index.explain_plan("always").standing in ("always", "recent")
    assert index.explain_plan("never").standing == "never"
    index.compact()
    assert index.explain_plan("recent").standing == "compiled"
    assert index.explain_plan("never").alternatives == ()
    (one,) = {alternative.tests for alternative in index.explain_plan("lists").alternatives}
    assert one == ("all(sizes) < 3",) or one == ("any(tags) IN ('x', 'y')",)


def test_what_cannot_be_explained() -> None:
    index = many()
    with pytest.raises(tamis.UnknownId):
        index.explain_plan(4_000)
    with pytest.raises(tamis.ParseError):
        index.explain_plan("nobody knows (")
    with pytest.raises(tamis.OptionError, match="no plan to explain"):
        tamis.Index(engine="scan").explain_plan("a = 1")
