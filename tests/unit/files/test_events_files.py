"""Files of events: JSON, CSV and Parquet."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.files.reading import events, write

from tamis.files import EventsFormat, InputError, open_events
from tamis.files.json_events import JsonSource


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
