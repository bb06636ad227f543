"""Search logs become rules and documents events that match them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.spark.support.ingested import bad_rows, good_rows

import tamis
from tamis.spark import ingest
from tamis.spark.ingest.keywords import DocumentEvent, QueryRule, Tokens

QUERIES: list[tuple[int, str | None]] = [
    (1, "VLDB Hangzhou vldb"),
    (2, "boolean boomerang"),
    (3, "a it's in_not été \N{GRINNING FACE}"),
    (4, " ,.! "),
    (5, None),
]


def test_keywords_as_opindex_has_them(spark: SparkSession) -> None:
    logs = spark.createDataFrame(QUERIES, "n int, q string")
    found = ingest.keywords(logs, "q", "n")
    assert good_rows(found) == {
        1: "vldb = 1 AND hangzhou = 1",
        2: "boolean = 1 AND boomerang = 1",
        3: 'a = 1 AND it = 1 AND s = 1 AND "in" = 1 AND "not" = 1 AND été = 1',
    }
    assert bad_rows(found) == {
        "4": ("q", "the text contains no word: the rule would match every event"),
        "5": ("q", "the text is null"),
    }
    counts = ingest.keywords(logs, "q", "n", style=ingest.Frequency(2, 9, seed=5), words=["VLDB", "boolean"])
    texts = good_rows(counts)
    assert set(texts) == {1, 2}
    for text in texts.values():
        word, low, high = text.replace("BETWEEN ", "").replace("AND ", "").split()
        assert word in ("vldb", "boolean") and 2 <= int(low) <= int(high) <= 9


def test_keywords_as_ps_tree_and_be_star_tree_have_them() -> None:
    def rule(text: str, style: ingest.Split) -> str:
        return QueryRule("q", style, Tokens.of(r"[^\W_]+", None))(1, {"q": text})

    plain = ingest.Split(repeated="first")
    assert rule("boolean vldb", plain) == "boo = 'lea' AND vl = 'db'"
    assert (
        rule("x is sixsix sevens1 first", plain)
        == "x = '' AND i = 's' AND six = 'six' AND sev = 'ens' AND fi = 'rst'"
    )
    assert rule("boot boolean", plain) == "bo = 'ot' AND boo = 'lea'"
    assert rule("booster boolean", plain) == "boo = 'lea'"
    assert rule("booster boolean", ingest.Split()) == "any(boo) = 'ste' AND any(boo) = 'lea'"
    assert rule("relevance matters", ingest.Split(2, 3, "first")) == "re = 'lev' AND ma = 'tte'"


words = st.text(st.sampled_from("abñ1"), min_size=1, max_size=9)
styles = st.sampled_from([ingest.Presence(), ingest.Split(), ingest.Split(2, 3), ingest.Split(1, 1)])


@given(st.lists(words, min_size=1, max_size=4), st.lists(words, max_size=8), styles)
def test_a_query_finds_the_documents_that_have_its_words(
    query: list[str], document: list[str], style: ingest.KeywordStyle
) -> None:
    tokens = Tokens.of(r"[^\W_]+", None)
    rule = QueryRule("t", style, tokens)(1, {"t": " ".join(query)})
    event = json.loads(DocumentEvent("t", style, tokens)(1, {"t": " ".join(document)}))

    def pair(word: str) -> object:
        return style._pair(word) if isinstance(style, ingest.Split) else word

    expected = {pair(word) for word in query} <= {pair(word) for word in document}
    assert (tamis.parse(rule).evaluate(event) is True) == expected


def test_documents_are_events(spark: SparkSession) -> None:
    documents = spark.createDataFrame(
        [("d", "It's a DAY, a day"), ("e", ""), ("f", None)], "id string, t string"
    )
    found = ingest.keyword_events(documents, "t", "id", style=ingest.Frequency())
    assert {id: json.loads(event) for id, event in good_rows(found).items()} == {
        "d": {"it": 1, "s": 1, "a": 2, "day": 2},
        "e": {},
    }
    assert bad_rows(found) == {"f": ("t", "the text is null")}
    kept = ingest.keyword_events(documents.union(documents), "t", "id", words=["day"], duplicates="keep")
    assert sorted(map(tuple, kept.good.collect())) == [("d", '{"day": 1}')] * 2 + [("e", "{}")] * 2


def test_the_vocabulary_counts_queries(spark: SparkSession) -> None:
    logs = spark.createDataFrame([("b a b",), ("B c",), (None,)], "q string")
    assert [tuple(row) for row in ingest.vocabulary(logs, "q").collect()] == [("b", 2), ("a", 1), ("c", 1)]


def test_wrong_styles_and_patterns_are_refused(spark: SparkSession) -> None:
    logs = spark.createDataFrame([(1, "a")], "id int, q string")
    for arguments, message in (
        ({"pattern": "("}, "is not a regular expression"),
        ({"pattern": "(a)"}, "has groups"),
        ({"words": "abc"}, "accepted is a collection of words"),
    ):
        with pytest.raises(ValueError, match=message):
            ingest.keywords(logs, "q", "id", **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at_least"):
        ingest.Frequency(5, 2)
    with pytest.raises(ValueError, match="at least 1"):
        ingest.Split(0)
    with pytest.raises(ValueError, match="'any' or 'first'"):
        ingest.Split(repeated="last")  # type: ignore[arg-type]
