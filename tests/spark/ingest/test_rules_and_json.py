"""Rules tables and JSON logs: good rows stay unchanged, bad rows get a reason, no row is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.spark.support.ingested import bad_rows, good_rows

import tamis
from tamis.spark import ingest

RULES: list[tuple[str | None, str | None]] = [
    ("fine", "age > 30 and country in ('US', 'DE')"),
    ("quoted", "\"odd \"\"name\" = 'it''s' or `été` = '\N{GRINNING FACE}'"),
    ("broken", "age > 30 and contry in ('US', NULL)"),
    ("null", None),
    ("empty", ""),
    ("blank", " \n"),
    (None, "age > 1"),
    (None, "age >"),
    ("twice", "age > 1"),
    ("twice", "age > 2"),
    ("twice and broken", "age > 1"),
    ("twice and broken", "age >"),
]


def test_a_rules_table_is_checked(spark: SparkSession) -> None:
    found = ingest.subscriptions(spark.createDataFrame(RULES, "id string, expression string"))
    assert found.good.schema.simpleString() == "struct<id:string,expression:string>"
    assert good_rows(found) == {id: text for id, text in RULES if id in ("fine", "quoted")}
    assert found.bad.schema.simpleString() == "struct<id:string,column:string,reason:string,row:string>"
    bad = found.bad.collect()
    assert len(bad) + 2 == len(RULES)
    reasons = sorted((row["id"] or "", row["column"], row["reason"]) for row in bad)
    parse_error = "line 1, column 6: found the end of the text, expected a literal\n  age >\n       ^"
    caret = (
        "line 1, column 31: found NULL, expected a literal; NULL is no value, write IS NULL or IS NOT NULL"
    )
    assert reasons[0] == ("", "expression", reasons[0][2]) and reasons[0][2].startswith("line 1, column 6")
    assert reasons[1] == ("", "id", "the id is null")
    by_id = {id: reason for id, _, reason in reasons}
    assert by_id["broken"].startswith(caret) and by_id["broken"].endswith("^")
    assert by_id["null"] == "the expression is null"
    assert by_id["empty"] == by_id["blank"] == "the expression is empty"
    assert by_id["twice"] == "2 rows have this id; ids must be unique"
    twice = [(column, reason) for id, column, reason in reasons if id == "twice and broken"]
    assert [column for column, _ in twice] == ["expression", "id"] and twice[0][1] == parse_error
    shown = {row["id"]: json.loads(row["row"]) for row in bad}
    assert shown["broken"] == {"expression": "age > 30 and contry in ('US', NULL)"}
    assert shown["null"] == {"expression": None}


def test_integers_of_any_width_are_ids(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "a > 1"), (2, "a >"), (None, "a")], "rule short, text string")
    found = ingest.subscriptions(rows, "rule", "text")
    assert found.good.schema.simpleString() == "struct<id:bigint,expression:string>"
    assert good_rows(found) == {1: "a > 1"}
    assert {id: column for id, (column, _) in bad_rows(found).items()} == {"2": "text", None: "rule"}


def test_limits_are_the_index_s(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a", "((((x))))"), ("b", "x")], "id string, expression string")
    found = ingest.subscriptions(rows, limits=tamis.Limits(max_depth=3))
    assert list(good_rows(found)) == ["b"]
    assert "at most 3 levels of nesting (max_depth)" in bad_rows(found)["a"][1]


def test_wrong_columns_are_named(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1.5, "a")], "id double, expression string")
    with pytest.raises(TypeError, match="column 'id' is double; ids are strings or integers"):
        ingest.subscriptions(rows)
    with pytest.raises(ValueError, match="there is no column 'rule'; there are id, expression"):
        ingest.subscriptions(rows, "rule")
    with pytest.raises(ValueError, match="there is no column 'text'"):
        ingest.subscriptions(rows.withColumn("id", F.lit(1)), expr_col="text")


def test_nothing_in_nothing_out(spark: SparkSession) -> None:
    found = ingest.subscriptions(spark.createDataFrame([], "id string, expression string"))
    assert found.good.collect() == found.bad.collect() == []


def test_expressions_that_are_no_text_are_bad(spark: SparkSession) -> None:
    found = ingest.subscriptions(spark.createDataFrame([(1, 5)], "id int, expression int"))
    assert bad_rows(found) == {"1": ("expression", "an expression is text, not int")}


def test_bytes_that_are_no_text_are_bad(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(b"a", b"x = 1"), (b"b", b"x = '\xff'"), (b"c\xfe", b"x = 2")], "id binary, expression binary"
    )
    found = ingest.subscriptions(rows.select(*(F.col(name).cast("string") for name in rows.columns)))
    assert good_rows(found) == {"a": "x = 1"}
    reason = "the text is not valid UTF-8"
    assert bad_rows(found) == {"b": ("expression", reason), "c\N{REPLACEMENT CHARACTER}": ("id", reason)}


def test_columns_may_have_odd_names(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "a"), (2, "a >")], "`the.id` int, `a``b.c` string")
    found = ingest.subscriptions(rows, "the.id", "a`b.c")
    assert good_rows(found) == {1: "a"}
    assert bad_rows(found)["2"][0] == "a`b.c"


def test_saving_reads_once_and_loses_nothing(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = ingest.subscriptions(spark.createDataFrame(RULES, "id string, expression string"))
    found.save(str(tmp_path / "good"), str(tmp_path / "bad"))
    good, bad = (spark.read.parquet(str(tmp_path / name)) for name in ("good", "bad"))
    assert (good.count(), bad.count()) == (2, len(RULES) - 2)
    assert not found.checked.is_cached
    with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
        found.save(str(tmp_path / "good"), str(tmp_path / "bad"))
    found.checked.persist()
    found.bad.explain()
    assert "InMemoryTableScan" in capsys.readouterr().out
    found.checked.unpersist()


def test_good_rows_fill_an_index(spark: SparkSession) -> None:
    found = ingest.subscriptions(spark.createDataFrame(RULES, "id string, expression string"))
    index = tamis.Index()
    index.add_many(found.good.toArrow())
    assert index.match({"age": 40, "country": "US", 'odd "name': "it's"}) == ["fine", "quoted"]


EVENTS = [
    '{"id": "a", "user": {"age": 20}, "tags": ["x"]}',
    '{"id": "b", "n": 123456789012345678901234567890}',
    '{"id": "c", "n":',
    '["id", "d"]',
    "",
    '{"id": "e"} trailing',
    '{"id": null}',
    '{"id": "f"}',
    '{"id": "f"}',
    '{"id": "été \\" \N{GRINNING FACE}"}',
]


@pytest.fixture
def log(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(line,) for line in EVENTS], "value string")


def test_json_lines_are_events(spark: SparkSession, log: DataFrame) -> None:
    found = ingest.json(log.union(spark.createDataFrame([(None,)], "value string")), id_path="$.id")
    assert found.good.schema.simpleString() == "struct<event_id:string,event:string>"
    assert set(good_rows(found)) == {"a", "b", 'été " \N{GRINNING FACE}'}
    assert good_rows(found)["a"] == EVENTS[0]
    bad = found.bad.collect()
    assert len(bad) == len(EVENTS) + 1 - 3
    reasons = sorted(row["reason"] for row in bad)
    assert [reason.split(":")[0] for reason in reasons] == [
        "2 rows have this id; ids must be unique",
        "2 rows have this id; ids must be unique",
        *["not a JSON event"] * 4,
        "the event is null",
        "the id is null",
    ]
    assert all(" at line 1 column " in reason for reason in reasons if "JSON" in reason)


def test_attributes_that_rules_ask_about_must_have_a_meaning(log: DataFrame) -> None:
    found = ingest.json(log, id_path="$.id", attributes=["n", "user.age"])
    column, reason = bad_rows(found)["b"]
    assert column == "value" and reason.startswith('attribute "n": the integer 1234') and "64 bits" in reason
    assert "a" in good_rows(found)


def test_json_from_files_and_with_ids_beside_it(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"id": 1, "a": 2}\n{"id": 2\n')
    (tmp_path / "two.jsonl").write_text('{"id": 3}\n')
    found = ingest.json([str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl")], id_path="$.id")
    assert good_rows(found) == {"1": '{"id": 1, "a": 2}', "3": '{"id": 3}'}
    assert found.bad.count() == 1
    rows = spark.createDataFrame([(7, '{"a": 1}'), (7, "{}"), (8, "{")], "n long, log string")
    kept = ingest.json(rows, json_col="log", id_col="n", duplicates="keep")
    assert kept.good.schema.simpleString() == "struct<event_id:bigint,event:string>"
    assert sorted(map(tuple, kept.good.collect())) == [(7, '{"a": 1}'), (7, "{}")]
    assert list(bad_rows(kept)) == ["8"]


def test_a_stream_of_json_is_ingested(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.jsonl").write_text('{"id": 1}\n{"id": 1}\n{"id":\n')
    lines = spark.readStream.text(str(tmp_path / "in"))
    found = ingest.json(lines, id_path="$.id", duplicates="keep")
    counts = {}
    for name, rows in (("good", found.good), ("bad", found.bad)):
        sink = rows.writeStream.option("checkpointLocation", str(tmp_path / f"checkpoint {name}"))
        sink.trigger(availableNow=True).format("parquet").start(str(tmp_path / name)).awaitTermination()
        counts[name] = spark.read.parquet(str(tmp_path / name)).count()
    assert counts == {"good": 2, "bad": 1}


def test_json_wants_one_place_for_ids(log: DataFrame) -> None:
    with pytest.raises(ValueError, match="give either id_col"):
        ingest.json(log)
    with pytest.raises(ValueError, match="give either id_col"):
        ingest.json(log, id_col="value", id_path="$.id")
    with pytest.raises(ValueError, match="duplicates is 'maybe'; accepted is 'bad' or 'keep'"):
        ingest.json(log, id_path="$.id", duplicates="maybe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="attributes is the string 'abc'"):
        ingest.json(log, id_path="$.id", attributes="abc")


texts = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["a > 1", "a >", "a in ('x', 'y''z')", "(a", "a and", "not not a", "'x' = a"]),
)


@settings(max_examples=6)
@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), texts), max_size=40))
def test_whatever_comes_good_and_bad_are_the_input(
    spark: SparkSession, rows: list[tuple[int | None, str | None]]
) -> None:
    found = ingest.subscriptions(spark.createDataFrame(rows, "id int, expression string"))
    ids = [id for id, _ in rows]

    def is_good(id: int | None, text: str | None) -> bool:
        try:
            tamis.parse(text or "")
        except tamis.ParseError:
            return False
        return id is not None and ids.count(id) == 1

    expected = [row for row in rows if is_good(*row)]
    assert sorted(map(tuple, found.good.collect())) == sorted(expected, key=str)
    shown = [(row["id"], json.loads(row["row"])["expression"]) for row in found.bad.collect()]
    others = [(None if id is None else str(id), text) for id, text in rows if not is_good(id, text)]
    assert sorted(shown, key=str) == sorted(others, key=str)
