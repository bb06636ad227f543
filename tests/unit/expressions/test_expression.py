"""Expressions: the builder writes what the parser reads, and they behave as values."""

from __future__ import annotations

import copy
import datetime
import enum
import json
import operator
import pickle
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import tamis
from tamis import Attribute, Expression, Limits, all_of, any_of, attr, parse


class Level(enum.IntEnum):
    HIGH = 7


class Word(enum.StrEnum):
    YES = "yes"


class Nowhere(datetime.tzinfo):
    """A zone that gives no offset."""

    def utcoffset(self, when: datetime.datetime | None) -> None:
        return None

    def dst(self, when: datetime.datetime | None) -> None:
        return None

    def tzname(self, when: datetime.datetime | None) -> None:
        return None


a = attr("a")
UTC = datetime.UTC

# Every operator of the builder, and the text it stands for.
BUILT: list[tuple[Expression, str]] = [
    (a == 1, "a = 1"),
    (a != 1, "a != 1"),
    (a < 1, "a < 1"),
    (a <= 1, "a <= 1"),
    (a > 1, "a > 1"),
    (a >= 1, "a >= 1"),
    (1 < a, "1 < a"),  # noqa: SIM300
    (a.between(1, 2.5), "a between 1 and 2.5"),
    (a.is_in([1, "x", True]), "a in (1, 'x', true)"),
    (a.is_in(range(3)), "a in (0, 1, 2)"),
    (a.not_in(("x",)), "a not in ('x')"),
    (a.is_null(), "a is null"),
    (a.is_not_null(), "a is not null"),
    (a.like(r"%a\_'b_"), r"a like '%a\_''b_'"),
    (a.ilike("X%"), "a ilike 'X%'"),
    (a.rlike(r"^\d+$"), r"a rlike '^\d+$'"),
    (a.startswith("x"), "startswith(a, 'x')"),
    (a.endswith(""), "endswith(a, '')"),
    (a.contains("{}"), "contains(a, '{}')"),
    (a.in_cidr("10.0.0.0/8", "::1"), "in_cidr(a, '10.0.0.0/8', '::1')"),
    (a.is_true(), "a"),
    (a.any() == "x", "any(a) = 'x'"),
    (a.all().like("x%"), "all(a) like 'x%'"),
    (a.any().is_true(), "any(a)"),
    (a.any().in_cidr("::/0"), "in_cidr(any(a), '::/0')"),
    (a & attr("b"), "a and b"),
    (a | attr("b"), "a or b"),
    (a ^ attr("b"), "a xor b"),
    (a.xnor(attr("b")), "a xnor b"),
    (~a, "not a"),
    (~(a > 1), "not a > 1"),
    (~~a, "not not a"),
    ((a > 1) & a | ~a, "a > 1 and a or not a"),
    ((a > 1) & (a | ~a), "a > 1 and (a or not a)"),
    ((a > 1) ^ a, "a > 1 xor a"),
    ((a > 1).xnor(a == 2), "a > 1 xnor a = 2"),
    ((a & a) & a, "a and a and a"),
    ((a ^ a).xnor(a), "(a xor a) xnor a"),
    (all_of(a, a > 1, a < 2), "a and a > 1 and a < 2"),
    (any_of(a, a > 1), "a or a > 1"),
    (all_of(a == 1), "a = 1"),
    (all_of(), "true"),
    (any_of(), "false"),
    ((a > 1).weight(0.5), "a > 1 ^ 0.5"),
    ((a > 1).weight(2), "a > 1 ^ 2"),
    ((a > 1).weight(7).weight(1), "a > 1"),
    ((a > 1).weight(-0.0), "a > 1 ^ 0"),
    (attr("user.age") > 1, "user.age > 1"),
    (attr("odd \"name'") > 1, '"odd ""name\'" > 1'),
    (attr("and") > 1, "`and` > 1"),
    (attr("{}") > 1, '"{}" > 1'),
    (attr("été") == "été", "été = 'été'"),
]
LITERALS: list[tuple[Any, str]] = [
    (True, "true"),
    (-(2**63), "-9223372036854775808"),
    (2**63 - 1, "9223372036854775807"),
    (-0.0, "0"),
    (1.0, "1"),
    (0.1, "0.1"),
    (1e300, "1e300"),
    (5e-324, "5e-324"),
    (float(2**63), "9223372036854775808.0"),
    ("", "''"),
    ("it's\n\\", "'it''s\n\\'"),
    ("\0\U0001f600", "'\0\U0001f600'"),
    (datetime.date(2026, 11, 15), "DATE '2026-11-15'"),
    (datetime.date(1, 1, 1), "DATE '0001-01-01'"),
    (datetime.datetime(2026, 11, 15, 10), "TIMESTAMP '2026-11-15 10:00:00'"),
    (datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), "TIMESTAMP '9999-12-31 23:59:59.999999'"),
    (datetime.datetime(2026, 11, 15, 10, tzinfo=UTC), "TIMESTAMP '2026-11-15 10:00:00'"),
    (datetime.datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Paris")), "TIMESTAMP '2026-06-30 22:00:00'"),
    (np.int8(-3), "-3"),
    (np.uint64(3), "3"),
    (np.float32(0.5), "0.5"),
    (np.float64(0.1), "0.1"),
    (np.True_, "true"),
    (np.str_("x"), "'x'"),
    (np.array(3), "3"),
    (Level.HIGH, "7"),
    (Word.YES, "'yes'"),
]


@pytest.mark.parametrize(("built", "text"), BUILT, ids=[text for _, text in BUILT])
def test_the_builder_writes_what_the_parser_reads(built: Expression, text: str) -> None:
    parsed = parse(text)
    assert built == parsed
    assert hash(built) == hash(parsed)
    assert str(built) == str(parsed)
    assert parse(str(built)) == built
    assert pickle.loads(pickle.dumps(built)) == built
    assert copy.deepcopy(built) == built


@pytest.mark.parametrize(("value", "text"), LITERALS, ids=[repr(value) for value, _ in LITERALS])
def test_literals(value: Any, text: str) -> None:
    built = a == value
    assert built == parse(f"a = {text}")
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    assert built.evaluate({"a": plain}) is True


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        float("inf"),
        2**63,
        -(2**63) - 1,
        10**5000,
        b"x",
        [1],
        {},
        1j,
        np.datetime64("2026-11-15T00:00:00", "ns"),
        np.datetime64("NaT"),
        np.array([1]),
        np.complex128(1),
        datetime.time(1),
        datetime.timedelta(1),
        "\ud800",
    ],
    ids=lambda value: "a very long int" if isinstance(value, int) and value > 2**99 else repr(value),
)
def test_what_is_no_literal(value: Any) -> None:
    with pytest.raises(tamis.ParseError):
        operator.eq(a, value)
    with pytest.raises(tamis.ParseError):
        a.is_in([1, value])


def test_a_zone_without_an_offset_leaves_a_time_naive() -> None:
    time = datetime.datetime(2026, 11, 15, 10, tzinfo=Nowhere())
    built = a == time
    assert built == parse("a = timestamp '2026-11-15 10:00:00'")
    assert built.evaluate({"a": time}) is True


def test_lists_of_values() -> None:
    for empty in (a.is_in, a.not_in):
        with pytest.raises(tamis.ParseError, match="must not be empty"):
            empty([])
    with pytest.raises(tamis.ParseError, match=r"write \['US'\]"):
        a.is_in("US")
    with pytest.raises(tamis.ParseError, match="must not be empty"):
        a.in_cidr()
    with pytest.raises(tamis.ParseError, match=r"without host bits: '10.0.0.0/8'"):
        a.in_cidr("10.0.0.1/8")


def test_a_long_list_is_built_whatever_the_default_limit() -> None:
    values = list(range(200_000))
    long = a.is_in(values)
    assert long.evaluate({"a": 199_999}) is True
    with pytest.raises(tamis.ParseError, match="max_length"):
        tamis.Index().add(1, long)
    index = tamis.Index(limits=Limits(max_length=10**7))
    index.add(1, long)
    assert index.match({"a": 7}) == [1]


@pytest.mark.parametrize("thing", [a, a > 1, a.any()], ids=repr)
def test_no_truth_value(thing: Attribute | Expression) -> None:
    for use in (lambda: bool(thing), lambda: not thing, lambda: thing and a, lambda: 1 < a < 2):
        with pytest.raises(TypeError, match="has no truth value: use &"):
            use()


@pytest.mark.parametrize("other", ["a > 1", 1, None, True])
def test_connectives_join_only_expressions(other: Any) -> None:
    for use in (
        lambda: (a > 1) & other,
        lambda: a | other,
        lambda: (a > 1) ^ other,
        lambda: a.xnor(other),
        lambda: all_of(a, other),
    ):
        with pytest.raises(TypeError, match="joins expressions, not"):
            use()


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf")])
def test_bad_weights(weight: float) -> None:
    with pytest.raises(tamis.ParseError, match="not finite and >= 0"):
        (a > 1).weight(weight)


@pytest.mark.parametrize("expression", [~a, a & a, all_of()], ids=str)
def test_weights_belong_to_single_predicates(expression: Expression) -> None:
    with pytest.raises(tamis.ParseError, match="single predicate"):
        expression.weight(2)


@pytest.mark.parametrize("name", ["", None, 5, b"a"])
def test_bad_names(name: Any) -> None:
    with pytest.raises(tamis.ParseError, match="name of an attribute"):
        attr(name)


def test_expressions_are_values() -> None:
    first, second = parse("a>1 && b"), parse("a > 1 AND b")
    assert first == second
    assert len({first, second, parse("b AND a > 1")}) == 2
    assert first != "a > 1 AND b"
    assert (first == 3) is False
    with pytest.raises(AttributeError):
        first.other = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        hash(a)


def test_reprs_read_back() -> None:
    for expression in [a > 1, a == 'say "hi"', a.like("\\%"), attr("odd name").is_true()]:
        assert eval(repr(expression), {"Expression": parse}) == expression
    assert (repr(a), repr(attr("b.c").any())) == ("attr('a')", "attr('b.c').any()")


def test_attributes() -> None:
    assert parse("a = 1 or any(b.c) = 2 and not a > 3").attributes() == {"a", "b.c"}
    assert parse("true").attributes() == frozenset()


def test_evaluate_has_three_answers_and_two_worlds() -> None:
    expression = parse("not (a > 1)")
    assert [expression.evaluate(event) for event in ({"a": 0}, {"a": 2}, {})] == [True, False, None]
    assert expression.evaluate({}, missing="false") is True
    with pytest.raises(tamis.OptionError):
        expression.evaluate({}, missing="maybe")  # type: ignore[arg-type]


def test_explain() -> None:
    explanation = parse("(a > 1 ^ 2 or b.c = 'x') and not any(d) = 1 xor true").explain(
        {"a": 5, "d": [2, "y"]}
    )
    assert str(explanation).splitlines() == [
        "UNKNOWN  XOR",
        "UNKNOWN    AND",
        "TRUE         OR",
        "TRUE           a > 1 ^ 2.0   (5)",
        "UNKNOWN        b.c = 'x'   (missing)",
        "UNKNOWN      NOT",
        "UNKNOWN        any(d) = 1   ([2, 'y']: 'y' is text, a number is wanted)",
        "TRUE       TRUE",
    ]
    assert [node.weight for node in explanation.predicates()] == [2.0, 1.0, 1.0, None]
    assert explanation.children[0].children[0].text == "OR"
    as_dict = json.loads(json.dumps(explanation.to_dict()))
    assert as_dict["children"][0]["children"][1] == {
        "text": "NOT",
        "truth": "UNKNOWN",
        "children": [
            {
                "text": "any(d) = 1",
                "truth": "UNKNOWN",
                "value": "[2, 'y']",
                "weight": 1.0,
                "reason": "'y' is text, a number is wanted",
            }
        ],
    }
    assert as_dict["children"][1] == {"text": "TRUE", "truth": "TRUE"}
    assert pickle.loads(pickle.dumps(explanation)) == explanation


def test_the_deepest_expression_is_usable() -> None:
    deepest = a.is_true()
    for level in range(999):
        deepest = ~deepest if level % 2 else deepest & attr("b") if level % 4 == 0 else deepest | attr("c")
    with pytest.raises(tamis.ParseError, match="deeper than 1000 levels"):
        operator.invert(deepest)
    assert pickle.loads(pickle.dumps(deepest)) == deepest
    event = {"a": True, "b": True, "c": False}
    explanation = deepest.explain(event)
    assert explanation.truth == {True: "TRUE", False: "FALSE"}[bool(deepest.evaluate(event))]
    assert str(explanation).count("\n") + 1 == len(list(explanation._nodes()))
    assert explanation.to_dict()["truth"] == explanation.truth
    index = tamis.Index(limits=Limits(max_depth=1000))
    index.add(1, deepest)
    assert index.match(event) == ([1] if deepest.evaluate(event) else [])
    with pytest.raises(tamis.ParseError, match="max_depth = 200"):
        tamis.Index().add(1, deepest)
