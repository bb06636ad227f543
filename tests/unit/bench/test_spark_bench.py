"""The benchmark of Spark without Spark: what is compared, what is shown, how it is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bench
import tamis
from benchmarking import memory, spark
from benchmarking.runner import WrongAnswer
from benchmarking.spark_methods import Events, Method, Pass, compare, natively

RULES = {n: f"a >= {n}" for n in range(10)}


@pytest.fixture
def events(tmp_path: Path) -> Events:
    """250 events in two files, so that every second is compared id by id."""
    for first in (0, 125):
        numbers = range(first, first + 125)
        texts = [json.dumps({"a": number % 13}) for number in numbers]
        table = pa.table({"event_id": pa.array(numbers, pa.int64()), "event": texts})
        pq.write_table(table, tmp_path / f"{first}.parquet")
    (tmp_path / "_SUCCESS").touch()
    return Events(tmp_path, 250)


@pytest.fixture
def index() -> tamis.Index:
    index = tamis.Index()
    index.add_many(RULES)
    return index


def way(name: str, answer: Callable[[], Pass], question: str = "all") -> Method:
    assert question in ("all", "best")
    return Method(name, "all" if question == "all" else "best", 2, Events(Path("x"), 4), answer)


def test_events_are_read_in_order(events: Events) -> None:
    read = [
        (number, text)
        for numbers, texts in events.batches()
        for number, text in zip(numbers, texts, strict=True)
    ]
    assert [number for number, _ in read] == list(range(250))
    assert read[14] == (14, '{"a": 1}')


@pytest.mark.parametrize("threads", [1, 3])
def test_native_matching(events: Events, index: tamis.Index, threads: int) -> None:
    done = natively(index, events, threads)
    assert done.matches == sum(min(number % 13, 9) + 1 for number in range(250)) and done.seconds > 0
    assert done.sample.keys() == set(range(0, 250, 2))
    assert done.sample[4] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("threads", [1, 3])
def test_native_best_matches(events: Events, index: tamis.Index, threads: int) -> None:
    done = natively(index, events, threads, best=5)
    assert done.matches == sum(min(number % 13 + 1, 5) for number in range(250))
    assert done.sample.keys() == set(range(0, 250, 2)) and done.sample[2] == [0, 1, 2]


def test_passes_are_repeated_while_they_are_short() -> None:
    assert len(way("quick", lambda: Pass(0.01)).passes()) == 5
    assert len(way("slow", lambda: Pass(11.0)).passes()) == 1
    assert len(way("middling", lambda: Pass(4.0)).passes()) == 3


def test_answers_are_compared_within_a_question() -> None:
    first, second = way("first", Pass), way("second", Pass)
    good, best = Pass(1.0, 3, {0: [1, 2], 2: [5]}), Pass(1.0, 1, {0: [1]})
    compare([(first, [good, good]), (second, [good]), (way("best", Pass, "best"), [best])])
    for wrong, said in (
        (Pass(1.0, 3, {0: [1, 2], 2: [6]}), r"second and first differ about event 2: only one has \[5, 6\]"),
        (Pass(1.0, 3, {0: [1, 1, 2], 2: [5]}), r"second and first differ about event 0"),
        (Pass(1.0, 4, {0: [1, 2], 2: [5]}), r"second found 4 matches, first 3"),
        (Pass(1.0, 3, {0: [1, 2]}), r"second and first did not answer the same events"),
    ):
        with pytest.raises(WrongAnswer, match=said):
            compare([(first, [good]), (second, [good, wrong])])
    with pytest.raises(WrongAnswer, match="first found 4 matches, first 3"):
        compare([(first, [good, Pass(1.0, 4, good.sample)])])


def a_run(peak: int | None) -> spark.SparkRun:
    native, on_spark = way("native", Pass), way("on Spark", Pass)
    figures = [
        spark.figures_of(native, [Pass(1.0, 8), Pass(9.0, 8), Pass(2.0, 8)]),
        spark.figures_of(on_spark, [Pass(4.0, 8)]),
        spark.figures_of(way("best", Pass, "best"), [Pass(0.5, 4)]),
    ]
    return spark.SparkRun("a machine", "4.3.0, local[2]", "drawn", 1, 1_000, 4, 3.0, 250_000, peak, figures)


def test_the_table() -> None:
    lines = spark.markdown(a_run(7_000_000)).splitlines()
    assert lines[:3] == [
        "a machine; Spark 4.3.0, local[2].",
        "1,000 subscriptions in one shard, 4 events (drawn, seed 1); an event matches 2.00 on average.",
        "Built in 3.00 s: 0.25 MB, 250 bytes a subscription; the worker that built it had 7.00 MB at most.",
    ]
    assert lines[-3:] == [
        "| native | 2 | 4 | 2.00 | 2.00 | 1.00 | 1.00 |",
        "| on Spark | 2 | 4 | 4.00 | 1.00 | 0.5 | 0.5 |",
        "| best | 2 | 4 | 0.5 | 8.00 | 4.00 | 1.00 |",
    ]
    assert "250 bytes a subscription." in spark.markdown(a_run(None))


def test_a_run_is_written_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[int, int]] = []

    def measured(folder: Path, subscriptions: int, events: int) -> spark.SparkRun:
        asked.append((subscriptions, events))
        return a_run(None)

    monkeypatch.setattr(spark, "measure", measured)
    monkeypatch.setattr(spark, "RESULT", tmp_path / "full.json")
    monkeypatch.setattr(spark, "OTHER_RESULT", tmp_path / "other.json")
    assert bench.main(["--spark"]) == bench.main(["--spark", "--quick", "--events", "7"]) == 0
    assert asked == [(spark.FULL, spark.FULL), (spark.QUICK, 7)]
    assert json.loads((tmp_path / "full.json").read_text())["figures"][0]["seconds"] == 2.0
    assert (tmp_path / "other.json").exists()
    said = capsys.readouterr()
    assert said.out.count("| native |") == 2 and "written to" in said.err


def test_a_wrong_answer_is_all_that_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(folder: Path, subscriptions: int, events: int) -> spark.SparkRun:
        raise WrongAnswer("they differ")

    monkeypatch.setattr(spark, "measure", measured)
    output = tmp_path / "run.json"
    assert bench.main(["--spark", "--output", str(output)]) == 1
    assert capsys.readouterr().out == "they differ\n" and not output.exists()


def test_without_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert bench.main(["--spark", "--quick", "--output", str(tmp_path / "run.json")]) == 2
    assert "Spark needs Java 17 or newer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--events", "5"], "--events and --keep go with --spark"),
        (["--spark", "--events", "0"], "--events is 0; it takes a whole number from 1 up"),
        (["--subscriptions", "-1"], "--subscriptions is -1"),
    ],
)
def test_wrong_options(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(given)
    assert said in capsys.readouterr().err


def test_memory_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JVM is a child, the daemon its child, workers those of the daemon; another Spark does not count."""
    monkeypatch.setattr(memory, "PROC", tmp_path)
    monkeypatch.setattr("os.getpid", lambda: 10)
    assert memory.peak_of_workers() is None
    daemon = "python\0-m\0pyspark.daemon\0pyspark.worker"
    for pid, parent, command, peak in (
        (11, 10, "java\0SparkSubmit\0pyspark-shell", 9_000),
        (12, 11, daemon, 100),
        (13, 12, daemon, 700),
        (14, 1, daemon, 8_000),
    ):
        process = tmp_path / str(pid)
        process.mkdir()
        (process / "stat").write_text(f"{pid} (odd) name) S {parent} 0 0")
        (process / "cmdline").write_text(command)
        (process / "status").write_text(f"Name:\tx\nVmHWM:\t    {peak} kB\nVmRSS:\t 1 kB\n")
    (tmp_path / "15").mkdir()
    assert memory.peak_of_workers() == 700 * 1024
