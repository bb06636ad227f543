"""The Python side of the benchmarks: that it runs and verifies, and that pages show what the record says."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bench
from benchmarking import pages, picture, record, rivals, tables
from benchmarking.record import Case, Competitor, FromPython, PythonCall, Run
from benchmarking.runner import WrongAnswer

# `cargo test`, which dev.py runs first, leaves the runner there.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", record.ROOT / "target"))
RUNNER = TARGET / "debug" / ("tamis-bench.exe" if os.name == "nt" else "tamis-bench")
needs_runner = pytest.mark.skipif(not RUNNER.is_file(), reason="cargo test has not built the runner")


def timed(name: str, one: float, many: float | None = None) -> Competitor:
    def timing(micros: float) -> dict[str, float]:
        return {"microseconds_per_event": micros, "events": 5}

    return Competitor(name, single=timing(one), batch=None if many is None else timing(many))


def a_case(workload: str = "ads", picture: bool = True) -> Case:
    refused = Competitor("pst_hash", absent="does not take it: too complex")
    competitors = [timed("scan", 900.0, 800.0), timed("a_tree", 5.0, 4.0), refused, timed("Python eval", 8e3)]
    return Case(
        workload=workload,
        title="Ads & <such>",
        label="10%",
        subscriptions=1_000,
        events=10,
        seed=7,
        matches=25,
        sum=100,
        picture=picture,
        reading_json_microseconds_per_event=1.25,
        competitors=competitors,
        from_python=FromPython(
            "a_tree", [PythonCall("match(dict)", 1, 6.0), PythonCall("match_many(dicts)", 2, 2.0)]
        ),
    )


@needs_runner
def test_a_small_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "run.json"
    options = ["--quick", "--subscriptions", "150", "--runner", str(RUNNER), "--output", str(output)]
    assert bench.main(options) == 0
    run = record.read(output)
    assert not run.is_complete and len(run.cases) == len([*(record.ROOT / "benchmarks").glob("*.toml")])
    for case in run.cases:
        names = {competitor.name for competitor in case.competitors if competitor.micros}
        assert {"scan", "a_tree", rivals.EVAL} <= names
        assert case.from_python and len(case.from_python.ways) in (4, 7)
    assert "written to" in capfd.readouterr().out


@needs_runner
def test_a_wrong_name_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--only", "nope", "--runner", str(RUNNER)]) == 2
    assert 'there is no "nope"' in capfd.readouterr().err


def test_a_wrong_answer_ends_everything() -> None:
    written = rivals.CaseFiles("ads", ["a = 1"], ["g('a') == 1"], ['{"a": 1}'], [{"a": 1}], [[0]])
    rivals.check(written, "somebody", 0, [0])
    with pytest.raises(WrongAnswer, match=r"(?s)somebody is wrong about event 0: .*not found: \[0\]"):
        rivals.check(written, "somebody", 0, [])
    assert rivals.evaluate(written, rivals.QUICK).events_checked == 1
    with pytest.raises(WrongAnswer, match=r"not right: \[0\]"):
        rivals.evaluate(dataclasses.replace(written, expected=[[]]), rivals.QUICK)


def test_ratios_refer_to_the_yardstick_and_the_fastest() -> None:
    case = a_case()
    assert (case.yardstick.name, case.fastest.name) == ("scan", "a_tree")
    assert tables.cells(case, case.competitors[1])[:5] == ["a_tree", "4.00", "5.00", "200", "1.00"]
    assert tables.cells(case, case.competitors[3])[:5] == ["Python eval", "", "8,000", "0.1", "2,000"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), (12345.6, "12,346"), (99.96, "100.0"), (12.34, "12.3"), (1.234, "1.23"), (0.0123, "0.012")],
)
def test_numbers(value: float | None, shown: str) -> None:
    assert tables.number(value) == shown


def test_runs_are_kept(tmp_path: Path) -> None:
    run = Run("a machine", True, [a_case()])
    record.write(run, tmp_path / "run.json")
    assert record.read(tmp_path / "run.json") == run
    assert run.cases[0].machine == "a machine"


def test_new_cases_take_the_place_of_old_ones() -> None:
    old, new = Run("old", True, [a_case("ads"), a_case("abe")]), Run("new", True, [a_case("ads")])
    for case in old.cases:
        case.machine = "old"
    merged = record.merged(old, new)
    assert [(case.workload, case.machine) for case in merged.cases] == [("abe", "old"), ("ads", "")]


def test_the_picture_is_well_formed() -> None:
    drawn = picture.draw(
        Run("a machine", True, [a_case(), a_case(picture=False), a_case("wide"), a_case("abe")])
    )
    texts = [element.text for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("text")]
    assert texts.count("Ads & <such>") == 3
    assert "does not take it" in texts and "4.00 µs (200x)" in texts and "1 ms" in texts


def test_pages_are_written_between_their_markers() -> None:
    page = f"before\n{pages.BEGIN}\nold\n{pages.END}\nafter"
    written = pages.with_results(page, Run("a machine", True, [a_case()]))
    assert written.startswith("before\n") and written.endswith("\nafter") and "old" not in written
    assert "| a_tree | 4.00 | 5.00 | 200 | 1.00 |" in written
    assert pages.with_results(written, Run("a machine", True, [a_case()])) == written
    with pytest.raises(ValueError, match="the page has no"):
        pages.with_results("nothing", Run("a machine", True, [a_case()]))


def test_a_summary_has_the_largest_case_and_says_where_a_rival_ended() -> None:
    small, large = a_case(), a_case()
    large.subscriptions = 10 * small.subscriptions
    large.competitors = [c for c in large.competitors if c.name != "Python eval"]
    _, _, row = tables.summary([small, large], "a_tree").splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:2] == [f"{large.title}, {large.label}", f"{large.subscriptions:,}"]
    assert cells[3:] == ["4.00", "", "200x", "", f"2,000x at {small.subscriptions:,}"]
    assert len(tables.summary([small], "nobody").splitlines()) == 2


def test_the_documentation_shows_the_record() -> None:
    run = record.read(record.RECORD)
    page = pages.PAGE.read_text(encoding="utf-8")
    assert pages.with_results(page, run) == page, "run: python3 dev.py bench --docs"
    front = pages.FRONT.read_text(encoding="utf-8")
    assert pages.with_summary(front, run) == front, "run: python3 dev.py bench --docs"
    assert picture.draw(run) == pages.PICTURE.read_text(encoding="utf-8")
