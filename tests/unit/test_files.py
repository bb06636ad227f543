"""Readers of rules files and events files: formats, places, and what counts as bad."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.files import EventsFormat, InputError, Rule, RulesFormat, open_events, read_rules
from tamis.files.formats import events_format, rules_format
from tamis.files.json_events import JsonSource
from tamis.files.paths import value_at


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pairs(path: Path, format: RulesFormat | None = None) -> list[tuple[str | int, str]]:
    return [(rule.id, rule.text) for rule in read_rules(path, format).rules]


def events(path: Path) -> list[tuple[int, object]]:
    return [
        (number, dict(event))
        for chunk in open_events(path).chunks()
        for number, event in zip(chunk.numbers, chunk.mappings(), strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("r.txt", RulesFormat.TEXT),
        ("r", RulesFormat.TEXT),
        ("r.sql", RulesFormat.TEXT),
        ("r.TSV", RulesFormat.TSV),
        ("r.jsonl", RulesFormat.JSONL),
        ("r.ndjson", RulesFormat.JSONL),
        ("r.json", RulesFormat.JSONL),
        ("r.csv", RulesFormat.CSV),
        ("r.parquet", RulesFormat.PARQUET),
    ],
)
def test_the_ending_tells_the_rules_format(name: str, expected: RulesFormat) -> None:
    assert rules_format(Path(name)) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("e.jsonl", EventsFormat.JSONL),
        ("e.NDJSON", EventsFormat.JSONL),
        ("e.json", EventsFormat.JSONL),
        ("e.log", EventsFormat.JSONL),
        ("e.csv", EventsFormat.CSV),
        ("e.parquet", EventsFormat.PARQUET),
    ],
)
def test_the_ending_tells_the_events_format(name: str, expected: EventsFormat) -> None:
    assert events_format(Path(name)) is expected


class TestTextRules:
    def test_the_line_number_is_the_id(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.txt", "# ads\na = 1\n\n  -- old\n  b = 2  \r\nc = 3")
        assert read_rules(path).rules == [
            Rule(2, "a = 1", line=2, column=1),
            Rule(5, "b = 2", line=5, column=3),
            Rule(6, "c = 3", line=6, column=1),
        ]

    def test_only_line_feeds_end_lines(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.txt", "a = 'x\u2028y\x0bz'\nb = 2")
        assert pairs(path) == [(1, "a = 'x\u2028y\x0bz'"), (2, "b = 2")]

    def test_a_byte_order_mark_is_no_part_of_the_first_rule(self, tmp_path: Path) -> None:
        assert pairs(write(tmp_path / "r.txt", b"\xef\xbb\xbfa = 1")) == [(1, "a = 1")]

    def test_an_id_and_a_tab_on_the_first_rule_make_it_tsv(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.txt", "# ids\nad-1\ta = 1\nö:2\tb = 2")
        assert read_rules(path).format is RulesFormat.TSV
        assert pairs(path) == [("ad-1", "a = 1"), ("ö:2", "b = 2")]

    @pytest.mark.parametrize("text", ["not\ta = 1", "NOT\ta = 1", "a = 1\tand b = 2", "(\ta = 1)", "!\ta"])
    def test_a_tab_inside_an_expression_does_not(self, tmp_path: Path, text: str) -> None:
        assert pairs(write(tmp_path / "r.txt", text)) == [(1, text)]

    def test_a_format_given_by_hand_is_not_doubted(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.txt", "ad-1\ta = 1")
        assert pairs(path, RulesFormat.TEXT) == [(1, "ad-1\ta = 1")]

    def test_bytes_that_are_no_text_are_named_by_place(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.txt", b"a = 1\nb = '\xff'\nc = 3")
        with pytest.raises(InputError, match="not valid UTF-8") as caught:
            read_rules(path)
        assert caught.value.place == f"{path}:2:6"

    def test_bad_records_can_be_left_out(self, tmp_path: Path) -> None:
        found: list[InputError] = []
        path = write(tmp_path / "r.txt", b"a = 1\n\xff\nc = 3")
        assert [rule.id for rule in read_rules(path, report=found.append).rules] == [1, 3]
        assert [error.place for error in found] == [f"{path}:2:1"]


class TestTsvRules:
    def test_ids_are_strings_unless_all_are_integers(self, tmp_path: Path) -> None:
        assert pairs(write(tmp_path / "a.tsv", "7\ta = 1\n-8\tb = 2")) == [(7, "a = 1"), (-8, "b = 2")]
        assert pairs(write(tmp_path / "b.tsv", "7\ta = 1\n08\tb = 2")) == [("7", "a = 1"), ("08", "b = 2")]

    @pytest.mark.parametrize(
        "id", ["007", "-0", "+1", "1.0", "9223372036854775808", "-9223372036854775809", "१"]
    )
    def test_what_is_no_64_bit_integer_stays_text(self, tmp_path: Path, id: str) -> None:
        assert pairs(write(tmp_path / "r.tsv", f"{id}\ta = 1")) == [(id, "a = 1")]

    def test_the_largest_integers_are_integers(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.tsv", f"{2**63 - 1}\ta = 1\n{-(2**63)}\ta = 1")
        assert [id for id, _ in pairs(path)] == [2**63 - 1, -(2**63)]

    def test_a_header_is_skipped(self, tmp_path: Path) -> None:
        assert pairs(write(tmp_path / "r.tsv", "id\texpression\nx\ta = 1")) == [("x", "a = 1")]

    def test_the_column_counts_from_the_start_of_the_line(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.tsv", "# ids\nab\t a = 1")
        file = read_rules(path)
        assert file.rules == [Rule("ab", "a = 1", line=2, column=5)]
        assert file.place(file.rules[0], column=3) == f"{path}:2:7"

    @pytest.mark.parametrize(("line", "fault"), [("a = 1", "without a tab"), ("\ta = 1", "expected an id")])
    def test_a_line_without_an_id_is_bad(self, tmp_path: Path, line: str, fault: str) -> None:
        path = write(tmp_path / "r.tsv", f"x\ta = 1\n{line}")
        with pytest.raises(InputError, match=fault) as caught:
            read_rules(path)
        assert caught.value.place == f"{path}:2"


class TestJsonRules:
    def test_ids_keep_their_type(self, tmp_path: Path) -> None:
        lines = ['{"id": "7", "expression": "a = 1", "owner": "me"}', "", '{"expression": "b = 2", "id": 7}']
        assert pairs(write(tmp_path / "r.jsonl", "\n".join(lines))) == [("7", "a = 1"), (7, "b = 2")]

    def test_without_ids_the_line_number_is_the_id(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.jsonl", '{"expression": "a = 1"}\n\n{"expression": "b = 2"}')
        assert pairs(path) == [(1, "a = 1"), (3, "b = 2")]

    @pytest.mark.parametrize(
        ("record", "fault"),
        [
            ("{", "not JSON"),
            ("[" * 100_000, "nested too deeply"),
            ("[1]", "expected an object"),
            ('{"id": 1}', "found the keys: id"),
            ('{"id": 1, "expression": 5}', '"expression" must be a string, found 5'),
            ('{"id": 1.5, "expression": "a"}', '"id" must be a string or an integer, found 1.5'),
            ('{"id": true, "expression": "a"}', "found true"),
            ('{"id": null, "expression": "a"}', "found null"),
            ('{"expression": "a"}', "give one to all or to none"),
        ],
    )
    def test_bad_records(self, tmp_path: Path, record: str, fault: str) -> None:
        good = '{"id": 0, "expression": "a = 1"}'
        found: list[InputError] = []
        path = write(tmp_path / "r.jsonl", f"{good}\n{record}\n")
        file = read_rules(path, report=found.append)
        assert [rule.id for rule in file.rules] == [0]
        assert [error.place for error in found] == [f"{path}:2"]
        assert fault in found[0].message


class TestTableRules:
    def test_csv_knows_the_line_of_each_row(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.csv", 'name,expression,id\nx,"a = 1\nor b = 2",p\n\ny,"c = ""d""",q\n')
        file = read_rules(path)
        assert file.rules == [Rule("p", "a = 1\nor b = 2", line=2), Rule("q", 'c = "d"', line=5)]
        assert file.place(file.rules[1], column=5) == f"{path}:5: column 5 of the expression"

    def test_csv_without_ids_numbers_the_rows(self, tmp_path: Path) -> None:
        path = write(tmp_path / "r.csv", "expression\na = 1\nb = 2\n")
        assert pairs(path) == [(1, "a = 1"), (2, "b = 2")]

    def test_csv_ids_are_typed_as_a_whole(self, tmp_path: Path) -> None:
        assert pairs(write(tmp_path / "r.csv", "id,expression\n10,a = 1\n")) == [(10, "a = 1")]
        assert pairs(write(tmp_path / "s.csv", "id,expression\n010,a = 1\n")) == [("010", "a = 1")]

    def test_csv_takes_long_expressions(self, tmp_path: Path) -> None:
        text = " or ".join(f"a = {n}" for n in range(30_000))
        assert pairs(write(tmp_path / "r.csv", f"expression\n{text}\n")) == [(1, text)]

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", "found the columns: none"),
            (b"id,rule\n1,a", "found the columns: id, rule"),
            (b"id,expression\n1,\xff", "not valid UTF-8"),
            (b'id,expression\n1,"a', "not CSV"),
            (b"id,expression\n1,a,b", "expected 2 cells, found 3"),
            (b"id,expression\n,a", "the id is missing"),
        ],
    )
    def test_bad_csv(self, tmp_path: Path, content: bytes, fault: str) -> None:
        with pytest.raises(InputError, match=fault):
            read_rules(write(tmp_path / "r.csv", content))

    @pytest.mark.parametrize("ids", [["p", "q"], [5, 6], None])
    def test_parquet(self, tmp_path: Path, ids: list[str] | list[int] | None) -> None:
        columns: dict[str, object] = {"expression": ["a = 1", "b = 2"]}
        if ids is not None:
            columns["id"] = ids
        path = tmp_path / "r.parquet"
        pq.write_table(pa.table(columns), path)
        file = read_rules(path)
        assert [rule.id for rule in file.rules] == (ids or [1, 2])
        assert file.place(file.rules[1]) == f"{path}: row 2"

    @pytest.mark.parametrize(
        ("columns", "fault"),
        [
            ({"rule": ["a"]}, "found the columns: rule"),
            ({"id": [None, "p"], "expression": ["a", "b"]}, "row 1: the id must be .* found nothing"),
            ({"id": [1.5], "expression": ["a"]}, "found 1.5"),
            ({"expression": ["a", None]}, "row 2: the expression must be a string, found nothing"),
            ({"expression": [3]}, "row 1: the expression must be a string, found 3"),
        ],
    )
    def test_bad_parquet(self, tmp_path: Path, columns: dict[str, object], fault: str) -> None:
        path = tmp_path / "r.parquet"
        pq.write_table(pa.table(columns), path)
        with pytest.raises(InputError, match=fault):
            read_rules(path)

    def test_a_file_that_is_not_parquet(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not Parquet"):
            read_rules(write(tmp_path / "r.parquet", "id,expression"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("gone.txt", "gone.csv", "gone.jsonl", "gone.parquet"):
        with pytest.raises(InputError, match=f"{name}: No such file"):
            read_rules(tmp_path / name)
        with pytest.raises(InputError, match=f"{name}: No such file"):
            open_events(tmp_path / name)


class Drip(io.BytesIO):
    """A stream that hands out a few bytes at a time, as a pipe may."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(7)


class TestJsonEvents:
    def test_the_line_number_is_the_event_number(self, tmp_path: Path) -> None:
        path = write(tmp_path / "e.jsonl", b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"a": 2}\n{"a": 3}')
        assert events(path) == [(1, {"a": 1}), (4, {"a": 2}), (5, {"a": 3})]
        assert open_events(path).place(4) == f"{path}:4"

    def test_lines_survive_being_cut_by_the_pipe(self) -> None:
        data = b"".join(b'{"number": %d}\n\n' % n for n in range(50))
        chunks = list(JsonSource(lambda: Drip(data), "pipe", None).chunks())
        assert len(chunks) > 10
        assert [number for chunk in chunks for number in chunk.numbers] == list(range(1, 100, 2))
        assert [event["number"] for chunk in chunks for event in chunk.mappings()] == list(range(50))

    def test_sizes_add_up_to_the_total(self, tmp_path: Path) -> None:
        source = open_events(write(tmp_path / "e.jsonl", '{"a": 1}\n\n{"a": 2}\n'))
        assert source.total == sum(chunk.size for chunk in source.chunks()) == 19

    def test_a_part_keeps_its_numbers(self, tmp_path: Path) -> None:
        path = write(tmp_path / "e.jsonl", '{"a": 1}\n\n{"a": 2}\n{"a": 3}\n')
        (chunk,) = open_events(path).chunks()
        part = chunk.part(1, 3)
        assert (len(part), list(part.numbers), part.values("a")) == (2, [3, 4], [2, 3])
        assert len(part.part(1, 1)) == 0 and part.part(1, 1).mappings() == []

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            (b"{", "not JSON"),
            (b"3", "must be a JSON object"),
            (b'{"a": "\xff"}', "not valid UTF-8"),
            (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        ],
    )
    def test_a_bad_line_is_named_by_row_and_place(self, tmp_path: Path, line: bytes, fault: str) -> None:
        path = write(tmp_path / "e.jsonl", b'{"a": 1}\n' + line + b"\n")
        (chunk,) = open_events(path).chunks()
        with pytest.raises(InputError, match=fault) as caught:
            chunk.mappings()
        assert (caught.value.row, caught.value.place) == (1, f"{path}:2")

    @pytest.mark.parametrize("content", ['[{"a": 1},\n{"a": 2}]', '[\n  {"a": 1}\n]', " [ { } ]"])
    def test_an_array_of_events_is_refused_with_advice(self, tmp_path: Path, content: str) -> None:
        with pytest.raises(InputError, match="expected one object per line"):
            list(open_events(write(tmp_path / "e.json", content)).chunks())

    def test_an_empty_file_has_no_events(self, tmp_path: Path) -> None:
        assert events(write(tmp_path / "e.jsonl", "")) == []
        assert events(write(tmp_path / "f.jsonl", "\n\n")) == []

    def test_standard_input_is_json_only(self) -> None:
        with pytest.raises(InputError, match="only JSON lines"):
            open_events("-", EventsFormat.CSV)


class TestCsvEvents:
    def test_types_are_inferred_and_empty_cells_are_missing(self, tmp_path: Path) -> None:
        header = "n,f,b,s,d,t,z,clock"
        rows = [
            "1,1.5,true,NA,2026-11-15,2026-11-15 10:00:00.5,2026-11-15T10:00:00+02:00,9:05",
            ",,,,,,,",
            '3,2,false,"",2026-11-16,2026-11-15 10:00:01,2026-11-15T10:00:00Z,10:15',
        ]
        path = write(tmp_path / "e.csv", "\n".join([header, *rows]))
        first, empty, last = (event for _, event in events(path))
        utc = datetime.UTC
        assert first == {
            "n": 1,
            "f": 1.5,
            "b": True,
            "s": "NA",
            "d": datetime.date(2026, 11, 15),
            "t": datetime.datetime(2026, 11, 15, 10, 0, 0, 500_000),
            "z": datetime.datetime(2026, 11, 15, 8, tzinfo=utc),
            "clock": "9:05",
        }
        assert isinstance(empty, dict) and set(empty.values()) == {None}
        assert isinstance(last, dict) and last["s"] is None and last["clock"] == "10:15"

    def test_a_type_holds_for_the_whole_file(self, tmp_path: Path) -> None:
        rows = "".join(f"{n}\n" for n in range(300_000))
        path = write(tmp_path / "e.csv", f"code\n{rows}x1\n")
        values = [value for chunk in open_events(path).chunks() for value in chunk.values("code")]
        assert values[0] == "0" and values[-1] == "x1" and len(values) == 300_001

    def test_cells_may_hold_line_breaks(self, tmp_path: Path) -> None:
        path = write(tmp_path / "e.csv", 'a,b\n"x\ny",1\n')
        assert events(path) == [(1, {"a": "x\ny", "b": 1})]

    def test_a_row_with_a_wrong_number_of_cells_is_bad(self, tmp_path: Path) -> None:
        path = write(tmp_path / "e.csv", "a,b\n1,2\n3\n4,5\n6,7,8\n9,10\n")
        with pytest.raises(InputError, match="expected 2 cells, found 1") as caught:
            open_events(path)
        assert caught.value.place == f"{path}: row 2"
        found: list[InputError] = []
        source = open_events(path, report=found.append)
        assert [error.place for error in found] == [f"{path}: row 2", f"{path}: row 4"]
        assert [number for chunk in source.chunks() for number in chunk.numbers] == [1, 3, 5]

    def test_an_empty_file_is_no_csv(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not CSV"):
            open_events(write(tmp_path / "e.csv", ""))


class TestParquetEvents:
    def test_rows_are_read_in_batches(self, tmp_path: Path) -> None:
        path = tmp_path / "e.parquet"
        pq.write_table(pa.table({"a": range(40_000)}), path)
        source = open_events(path)
        chunks = list(source.chunks())
        assert len(chunks) > 1
        assert source.total == sum(chunk.size for chunk in chunks) == 40_000
        assert [number for chunk in chunks for number in chunk.numbers] == list(range(1, 40_001))
        assert [value for chunk in chunks for value in chunk.values("a")] == list(range(40_000))
        assert source.place(17) == f"{path}: row 17"

    def test_nanoseconds_become_microseconds(self, tmp_path: Path) -> None:
        path = tmp_path / "e.parquet"
        column = pa.array([-1, 1_500, None], pa.timestamp("ns"))
        pq.write_table(pa.table({"t": column}), path)
        (chunk,) = open_events(path).chunks()
        epoch = datetime.datetime(1970, 1, 1)
        microsecond = datetime.timedelta(microseconds=1)
        assert chunk.values("t") == [epoch - microsecond, epoch + microsecond, None]

    def test_values_reach_into_structs(self, tmp_path: Path) -> None:
        path = tmp_path / "e.parquet"
        pq.write_table(pa.table({"user": [{"id": 5}, None], "other": [1, 2]}), path)
        (chunk,) = open_events(path).chunks()
        assert chunk.values("user.id") == [5, None]
        assert chunk.values("nothing") == [None, None]

    def test_a_file_that_is_not_parquet(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not Parquet"):
            open_events(write(tmp_path / "e.parquet", json.dumps({"a": 1})))


@pytest.mark.parametrize(
    ("event", "path", "expected"),
    [
        ({"a": 1}, "a", 1),
        ({"a": {"b": {"c": 2}}}, "a.b.c", 2),
        ({"a.b": {"c": 3}}, "a.b.c", 3),
        ({"a": {"b.c": 4}}, "a.b.c", 4),
        ({"a.b.c": 5}, "a.b.c", 5),
        ({"a": 1}, "a.b", None),
        ({}, "a", None),
    ],
)
def test_value_at(event: dict[str, object], path: str, expected: object) -> None:
    assert value_at(event, path) == expected
