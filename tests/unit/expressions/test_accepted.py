"""What was accepted can be printed, parsed back, pickled, saved and loaded, at the limits of the language."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path

import pytest

import tamis

_ZONE = datetime.timezone(datetime.timedelta(hours=5))
_RULES = [
    "t < TIMESTAMP '9999-12-31 23:59:59.999999'",
    "t < TIMESTAMP '9999-12-31 18:59:59-05:00'",
    "t > TIMESTAMP '-009999-01-01 00:00:00'",
    "t in (DATE '0000-01-01', DATE '9999-12-31')",
    "n = -9223372036854775808 or n = 1.7976931348623157e308 ^ 5e-324",
    's = \'it\'\'s \\ \n \t \x00 \u2028 \U0010ffff\' and "a ""b""..c" is null',
    "s like 'a\\%b\\_c%' and s not rlike '[''\"]{3}'",
    "not " * 199 + "a",
]


@pytest.mark.parametrize("rule", _RULES)
def test_an_accepted_expression_prints_and_pickles(rule: str) -> None:
    """Printing, parsing and pickling give an equal expression with the same text."""
    expression = tamis.parse(rule)
    again = tamis.parse(str(expression))
    pickled = pickle.loads(pickle.dumps(expression))
    assert again == expression == pickled
    assert str(again) == str(expression) == str(pickled)


def test_an_expression_whose_canonical_text_exceeds_the_limit_pickles() -> None:
    """Limits apply to the text of the user; what the library has written is read without them."""
    rule = "a=1or b=2or c=3"
    expression = tamis.parse(rule, limits=tamis.Limits(max_length=len(rule)))
    assert len(str(expression)) > len(rule)
    assert pickle.loads(pickle.dumps(expression)) == expression


@pytest.mark.parametrize("engine", ["compiled", "a_tree"])
def test_an_index_of_accepted_rules_is_compacted_saved_and_pickled(engine: str, tmp_path: Path) -> None:
    """Every rule survives compaction, a file and a pickle."""
    tight = "a=1or b=2or c=3" + "or d=4" * 400
    index = tamis.Index(engine=engine, limits=tamis.Limits(max_length=len(tight)))
    rules = [*_RULES, tight]
    for number, rule in enumerate(rules):
        index.add(number, rule)
    index.compact()
    index.save(tmp_path / "rules.tamis")
    for copy in (tamis.Index.load(tmp_path / "rules.tamis"), pickle.loads(pickle.dumps(index))):
        copy.compact()
        assert [copy[number] for number in range(len(rules))] == [tamis.parse(rule) for rule in rules]


def test_an_instant_past_the_calendar_is_refused() -> None:
    """The text that stands for the instant in UTC would need a fifth digit of the year."""
    with pytest.raises(tamis.ParseError, match="from year -9999 to year 9999 in UTC") as raised:
        tamis.parse("a = 1 and t < TIMESTAMP '9999-12-31 23:59:59-05:00'")
    assert (raised.value.line, raised.value.column) == (1, 25)
    latest = datetime.datetime.max.replace(tzinfo=_ZONE)
    assert pickle.loads(pickle.dumps(tamis.attr("t") < latest)) == (tamis.attr("t") < latest)


def test_an_expression_too_long_for_an_index_is_refused_when_it_is_added() -> None:
    """The error names the limit and says what to do."""
    expression = tamis.parse("a=1or b=2or c=3")
    index = tamis.Index(limits=tamis.Limits(max_length=15))
    with pytest.raises(tamis.ParseError, match=r"canonical text of .* at most 15 bytes"):
        index.add(1, expression)
