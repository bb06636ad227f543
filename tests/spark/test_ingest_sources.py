"""Search logs, catalogs and targeting columns: rules and events that fit together."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import tamis
from tamis.spark import ingest
from tamis.spark.ingest.keywords import DocumentEvent, QueryRule, Tokens


def good(found: ingest.Ingested) -> dict[Any, Any]:
    return {row[0]: row[1] for row in found.good.collect()}


def bad(found: ingest.Ingested) -> dict[str | None, tuple[str, str]]:
    return {row["id"]: (row["column"], row["reason"]) for row in found.bad.collect()}


# --- keywords -----------------------------------------------------------------------------------------------

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
    assert good(found) == {
        1: "vldb = 1 AND hangzhou = 1",
        2: "boolean = 1 AND boomerang = 1",
        3: 'a = 1 AND it = 1 AND s = 1 AND "in" = 1 AND "not" = 1 AND été = 1',
    }
    assert bad(found) == {
        "4": ("q", "no word is left of the text: the rule would match every event"),
        "5": ("q", "the text is null"),
    }
    counts = ingest.keywords(logs, "q", "n", style=ingest.Frequency(2, 9, seed=5), words=["VLDB", "boolean"])
    texts = good(counts)
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
    assert {id: json.loads(event) for id, event in good(found).items()} == {
        "d": {"it": 1, "s": 1, "a": 2, "day": 2},
        "e": {},
    }
    assert bad(found) == {"f": ("t", "the text is null")}
    kept = ingest.keyword_events(documents.union(documents), "t", "id", words=["day"], duplicates="keep")
    assert sorted(map(tuple, kept.good.collect())) == [("d", '{"day": 1}')] * 2 + [("e", "{}")] * 2


def test_the_vocabulary_counts_queries(spark: SparkSession) -> None:
    logs = spark.createDataFrame([("b a b",), ("B c",), (None,)], "q string")
    assert [tuple(row) for row in ingest.vocabulary(logs, "q").collect()] == [("b", 2), ("a", 1), ("c", 1)]


def test_wrong_styles_and_patterns_are_refused(spark: SparkSession) -> None:
    logs = spark.createDataFrame([(1, "a")], "id int, q string")
    for arguments, message in (
        ({"pattern": "("}, "is no regular expression"),
        ({"pattern": "(a)"}, "has groups"),
        ({"words": "abc"}, "takes a collection of words"),
    ):
        with pytest.raises(ValueError, match=message):
            ingest.keywords(logs, "q", "id", **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at_least"):
        ingest.Frequency(5, 2)
    with pytest.raises(ValueError, match="at least 1"):
        ingest.Split(0)
    with pytest.raises(ValueError, match="'any' or 'first'"):
        ingest.Split(repeated="last")  # type: ignore[arg-type]


# --- catalogs -----------------------------------------------------------------------------------------------

PRODUCTS = (
    "sku string, brand string, price double, cost decimal(10,2), big decimal(38,0), stock long, day date, "
    'seen timestamp, used boolean, tags array<string>, `odd "name` string, '
    "specs struct<ram: int, cpu: struct<ghz: double>>, more map<string,string>, raw binary"
)
DAY, SEEN = datetime.date(2026, 11, 15), datetime.datetime(2026, 11, 15, 10, 30, 0, 5)
ROWS: list[tuple[Any, ...]] = [
    ("a", "It's", 580.0, Decimal("19.99"), None, 2**63 - 1, DAY, SEEN, True,
     ["x", "x'y"], "q\"", (8, (2.5,)), {"hdd size": "1"}, None),
    ("b", None, float("nan"), Decimal("5.00"), Decimal(10**30), None, None, None, False,
     [], None, (None, None), {}, None),
    ("none", *[None] * 13),
    ("bytes", *[None] * 12, b"x"),
    ("inf", None, float("inf"), *[None] * 11),
]  # fmt: skip


def test_rows_are_wishes(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS)
    found = ingest.table(rows, "sku")
    assert good(found) == {
        "a": "brand = 'It''s' AND price = 580 AND cost = 19.99 AND stock = 9223372036854775807 AND "
        "day = DATE '2026-11-15' AND seen = TIMESTAMP '2026-11-15 10:30:00.000005' AND used = TRUE AND "
        "any(tags) = 'x' AND any(tags) = 'x''y' AND \"odd \"\"name\" = 'q\"' AND specs.ram = 8 AND "
        "specs.cpu.ghz = 2.5 AND \"more.hdd size\" = '1'",
        "b": "cost = 5 AND big = 1e30 AND used = FALSE",
    }
    reasons = bad(found)
    assert reasons["none"] == ("", "all columns are null: the rule would match every event")
    assert reasons["bytes"][0] == "raw" and "not bytes" in reasons["bytes"][1]
    assert reasons["inf"][0] == "price" and "infinity has no text" in reasons["inf"][1]


def test_wishes_have_tolerance(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS[:1], PRODUCTS)
    tolerance: dict[str, ingest.catalog.Tolerance] = {
        "price": ingest.Relative(0.1),
        "cost": 1,
        "day": datetime.timedelta(days=2),
    }
    found = ingest.table(rows, "sku", columns=["price", "cost", "day"], tolerance=tolerance)
    days = "day BETWEEN DATE '2026-11-13' AND DATE '2026-11-17'"
    assert good(found) == {"a": f"price BETWEEN 522 AND 638 AND cost BETWEEN 18.99 AND 20.99 AND {days}"}
    wrong = ingest.table(rows, "sku", columns=["brand", "stock"], tolerance={"brand": 1, "stock": 1})
    assert bad(wrong)["a"] == ("brand", "the tolerance 1 does not fit a value of type str")
    over = bad(ingest.table(rows, "sku", columns=["stock"], tolerance={"stock": 1}))["a"]
    assert over[0] == "stock" and "64 bits" in over[1]


def test_common_attributes_stay_more_often(spark: SparkSession) -> None:
    rows = spark.range(300).select(
        F.col("id").cast("string").alias("id"),
        F.lit(1).alias("common"),
        F.when(F.col("id") % 100 == 0, F.lit(2)).alias("rare"),
    )
    texts = good(ingest.table(rows, "id", at_most=1, seed=3))
    both = [text for id, text in texts.items() if int(id) % 100 == 0]
    assert len(texts) == 300 and len(both) == 3 and set(both) <= {"common = 1", "rare = 2"}
    assert good(ingest.table(rows.repartition(5), "id", at_most=1, seed=3)) == texts
    with pytest.raises(ValueError, match="at_most is 0"):
        ingest.table(rows, "id", at_most=0)


def test_the_draw_follows_the_weights() -> None:
    rule = ingest.catalog.RowRule(("a", "b"), {}, 1, 0, {"a": 3.0, "b": 1.0})
    drawn = [rule(id, {"a": 1, "b": 1}) for id in range(4_000)]
    # 3 of 4, give or take six standard deviations; the draw is the same in every run.
    assert abs(drawn.count("a = 1") / 4_000 - 0.75) < 6 * math.sqrt(0.75 * 0.25 / 4_000)


def test_rows_are_events(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS).drop("raw", "more")
    found = ingest.table_events(rows, "sku")
    types = dict(found.good.dtypes)
    assert (types["event_id"], types["cost"], types["big"], types["day"]) == (
        "string",
        "double",
        "double",
        "date",
    )
    assert found.good.count() == len(ROWS) and found.bad.count() == 0
    # A product answers the wish that was made of it.
    wishes = ingest.table(rows, "sku").good
    index = tamis.Index()
    index.add_many(wishes.select("id", "expression").toArrow())
    events = found.good.orderBy("event_id").toArrow()
    matched = index.match_arrow(events, ordered=True).to_pylist()
    names = events["event_id"].to_pylist()
    assert [(names[row["event"]], row["id"]) for row in matched] == [("a", "a"), ("b", "b")]


def test_rows_are_json_events(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS).drop("raw", "day", "seen")
    found = ingest.table_events(rows.union(rows.where("sku = 'b'")), "sku", layout="json")
    events = {id: json.loads(event) for id, event in good(found).items()}
    assert set(events) == {"a", "none", "bytes"} and events["none"] == {}
    assert events["a"]["cost"] == 19.99 and events["a"]["stock"] == 2**63 - 1
    assert events["a"]["more"] == {"hdd size": "1"} and events["a"]["specs"] == {
        "ram": 8,
        "cpu": {"ghz": 2.5},
    }
    reasons = bad(found)
    assert reasons["b"] == ("sku", "2 rows have this id; an id may be there once")
    assert reasons["inf"][0] == "price" and "infinite" in reasons["inf"][1]
    assert found.bad.count() == 3
    kept = good(ingest.table_events(rows.union(rows), "sku", layout="json", duplicates="keep"))
    assert json.loads(kept["b"]) == {
        "cost": 5.0,
        "big": 1e30,
        "used": False,
        "tags": [],
        "specs": {},
        "more": {},
    }


def test_faults_deep_inside_are_found(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT 1 AS id, array(named_struct('t', CAST(x'FF' AS string), 'd', 1D)) AS a, map('k', 1D) AS m "
        "UNION ALL SELECT 2, array(named_struct('t', 'x', 'd', double('inf'))), map('k', 1D) "
        "UNION ALL SELECT 3, array(null), map('k', double('-inf')) "
        "UNION ALL SELECT 4, array(null, named_struct('t', null, 'd', double('nan'))), null "
        "UNION ALL SELECT null, null, null"
    )
    found = ingest.table_events(rows, "id", layout="json")
    assert {id: json.loads(event) for id, event in good(found).items()} == {4: {"a": [None, {}]}}
    reasons = bad(found)
    assert reasons["1"] == ("a", "the text is not valid UTF-8")
    assert reasons["2"][0] == "a" and reasons["3"][0] == "m" and "infinite" in reasons["3"][1]
    assert reasons[None] == ("id", "the id is null")


def test_types_without_a_place_are_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS)
    with pytest.raises(ValueError, match="column 'raw' is binary; attributes are"):
        ingest.table_events(rows.drop("more"), "sku")
    with pytest.raises(ValueError, match=r"column 'more' is map<string,string>; .* layout='json'"):
        ingest.table_events(rows, "sku")
    with pytest.raises(ValueError, match="column 'day' is date; JSON has no times"):
        ingest.table_events(rows, "sku", layout="json")
    with pytest.raises(ValueError, match="layout is 'map'"):
        ingest.table_events(rows, "sku", layout="map")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a column is named 'event_id'"):
        ingest.table_events(rows.select("sku", F.lit(1).alias("event_id")), "sku")
    with pytest.raises(ValueError, match="columns is the text 'brand'"):
        ingest.table(rows, "sku", columns="brand")
    with pytest.raises(ValueError, match="there is no column 'colour'"):
        ingest.table(rows, "sku", columns=["colour"])


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.dates(),
    st.datetimes(),
)


@given(st.dictionaries(names, st.one_of(scalars, st.lists(scalars, min_size=1, max_size=3)), min_size=1))
def test_every_row_answers_its_own_wish(row: dict[str, Any]) -> None:
    # Where one name is the beginning of another, "a" and "a.b", an event holds both; so does the rule.
    rule = ingest.catalog.RowRule(tuple(row), {}, None, 0, {})(1, row)
    assert tamis.parse(rule).evaluate(row) is True


# --- weights ------------------------------------------------------------------------------------------------


def test_rare_attributes_weigh_more(spark: SparkSession) -> None:
    rules = spark.createDataFrame(
        [
            (1, "a = 1 and not (b = 2 or a > 3)"),
            (2, "a = 1 ^ 9 xor c in (1, 'x')"),
            (3, "a = 1 xnor TRUE"),
            (4, "a = 1 and a < 5"),
            (5, "a ="),
        ],
        "id int, expression string",
    )
    found = ingest.weighted(rules, seed=1)
    texts = good(found)
    assert set(texts) == {1, 2, 3, 4} and list(bad(found)) == ["5"]
    given = {row["id"]: row["expression"] for row in rules.collect()}
    for id, text in texts.items():
        for event in ({"a": 1}, {"a": 4, "b": 2, "c": "x"}, {"a": 0, "c": 1}, {}):
            assert tamis.parse(text).evaluate(event) == tamis.parse(given[id]).evaluate(event)
        for leaf in tamis.parse(text).explain({}).predicates():
            inverse = 0.25 if leaf.text.startswith("a") else 1.0
            assert leaf.weight is None or inverse <= leaf.weight < 1.3 * inverse
    assert good(ingest.weighted(rules.repartition(3), seed=1)) == texts


# --- targeting ----------------------------------------------------------------------------------------------

ADS = (
    "ad long, channels array<string>, blocked array<string>, min_age int, max_age int, budget decimal(6,2), "
    "hobbies array<string>, starts timestamp, extra string, "
    "places array<struct<region: string, positions: array<int>>>"
)
EMPTY: tuple[Any, ...] = (*[None] * 9,)
TARGETING: list[ingest.Condition] = [
    ingest.Allowed("channels", "channel"),
    ingest.Excluded("blocked", "region"),
    ingest.Range("min_age", "max_age", "age"),
    ingest.AnyOf(ingest.Range("budget", None, "spend"), ingest.Allowed("hobbies", "interests", each="list")),
    ingest.Range("starts", None, "at"),
    ingest.Written("extra"),
    ingest.Alternatives("places", (ingest.Allowed("region"), ingest.Allowed("positions", "position"))),
]


def test_targeting_columns_are_expressions(spark: SparkSession) -> None:
    rows: list[tuple[Any, ...]] = [
        (1, ["pc", "it's"], ["CA"], 18, 35, Decimal("9.50"), ["cars"], SEEN, "vip or a = 1",
         [("DE", [1, 2]), (None, [3])]),
        (2, *EMPTY),
        (3, [], [], None, 65, None, [], None, None, []),
        (4, None, None, 40, 18, None, None, None, None, None),
        (5, ["pc", None], *EMPTY[1:]),
        (6, *EMPTY[:7], "vip or", None),
        (7, *EMPTY[:8], [None]),
        (8, None, None, 21, None, None, ["x"], None, None, None),
    ]  # fmt: skip
    found = ingest.profiles(spark.createDataFrame(rows, ADS), "ad", TARGETING)
    assert good(found) == {
        1: "channel IN ('pc', 'it''s') AND region NOT IN ('CA') AND age BETWEEN 18 AND 35 AND "
        "(spend >= 9.5 OR any(interests) IN ('cars')) AND at >= TIMESTAMP '2026-11-15 10:30:00.000005' AND "
        "(vip OR a = 1) AND (region IN ('DE') AND position IN (1, 2) OR position IN (3))",
        2: "TRUE",
        3: "age <= 65",
        8: "age >= 21 AND any(interests) IN ('x')",
    }
    reasons = bad(found)
    assert reasons["4"] == ("min_age", "the range from 40 to 18 holds nothing")
    assert reasons["5"][0] == "channels" and "None is no literal" in reasons["5"][1]
    assert reasons["6"][0] == "extra" and reasons["6"][1].startswith("line 1, column 7")
    assert reasons["7"] == ("places", "an alternative is a struct, not None")


def test_excluded_from_lists() -> None:
    condition = ingest.Excluded("blocked", "tags", each="list")
    expression = condition.expression({"blocked": ["x"]})
    assert expression is not None
    assert expression.evaluate({"tags": ["a", "x"]}) is False and expression.evaluate({"tags": ["a"]}) is True


def test_wrong_targeting_is_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(2, *EMPTY)], ADS)
    with pytest.raises(ValueError, match="there is no column 'colour'"):
        ingest.profiles(rows, "ad", [ingest.Allowed("colour")])
    with pytest.raises(ValueError, match="no conditions"):
        ingest.profiles(rows, "ad", [])
    with pytest.raises(ValueError, match="has no column"):
        ingest.Range(None, None, "age")
    with pytest.raises(ValueError, match="at least one"):
        ingest.AnyOf()
    missing = ingest.Alternatives("places", (ingest.Allowed("country"),))
    found = ingest.profiles(spark.createDataFrame([(1, *EMPTY[:8], [("DE", None)])], ADS), "ad", [missing])
    assert bad(found)["1"] == ("places", "there is no field 'country'; there are 'region', 'positions'")
