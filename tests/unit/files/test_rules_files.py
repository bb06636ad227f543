"""Files of rules: text, TSV, JSON, and tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.files.reading import pairs, write

from tamis.files import InputError, Rule, RulesFormat, read_rules


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
