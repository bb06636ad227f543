"""``tamis demo`` and ``tamis spark`` without Spark: arguments, help, what is said if Spark is missing."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tamis.cli.pipeline import STEPS
from tamis.cli.pipeline.reasons import reason_of
from tamis.spark.report import Attribute, Batch, Run, Shard, Step, bins_of, write_page
from tamis.spark.report.charts import WIDTH, Row, bars, histogram, log_bars, nice_ceiling

Running = Callable[..., tuple[int, str, str]]
NAMES = [step.__name__.rpartition(".")[2] for step in STEPS]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", NAMES)
def test_every_step_has_help_with_examples_and_exit_codes(run: Running, name: str) -> None:
    code, out, _ = run("spark", name, "--help")
    assert code == 0
    assert f"examples:\n  tamis spark {name} " in out and "exit codes:" in out
    assert max(len(line) for line in out.splitlines()) <= 100


def test_help_imports_neither_spark_nor_numpy(files: Path) -> None:
    script = (
        "import sys\nfrom tamis.cli import main\n"
        "main(['demo', '--help']); main(['spark', 'generate', '--help'])\n"
        "found = {'pyspark', 'pyarrow', 'rich', 'numpy', 'pandas'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["spark"], "STEP"),
        (["spark", "fly"], "invalid choice: 'fly'"),
        (["spark", "build", "rules.csv"], "INDEX"),
        (["spark", "build", "rules.csv", "index", "--shards", "0"], "whole number from 1 up, found '0'"),
        (["spark", "ingest", "a.csv", "out", "--as", "songs"], "invalid choice: 'songs'"),
        (["spark", "stream", "in", "index", "out"], "--checkpoint"),
        (["spark", "match", "e", "i", "o", "--json-col", "a", "--map-col", "b"], "not allowed with"),
        (["spark", "generate", "out", "--set", "alpha"], "expected NAME=VALUE, found 'alpha'"),
        (["demo", "--events", "none"], "whole number from 1 up, found 'none'"),
    ],
)
def test_wrong_command_lines(run: Running, arguments: list[str], said: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("arguments", [["demo"], ["spark", "vacuum", "index"]])
def test_without_pyspark(
    run: Running, files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith("tamis: error: this needs pyspark: pip install 'tamis[spark]'")
    assert "tamis tour" in err and err.count("\n") == 1
    assert not (files / "tamis-demo").exists()


def test_without_java(run: Running, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No session runs here, whatever other tests have started in this process.
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(files))
    code, _, err = run("demo", "--out", "there")
    assert code == 2
    assert "Spark needs Java 17 or newer, and none was found: install it" in err
    old = files / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(files) + ":/usr/bin:/bin")
    code, _, err = run("spark", "compact", "index")
    assert code == 2 and "and java is Java 8: install it" in err
    assert not (files / "there").exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sc://127.0.0.1:1/;user_id=me", "no Spark Connect server answers at 127.0.0.1:1\n"),
        ("sc://host/path", "[INVALID_CONNECT_URL] "),
        ("sc://host:many", "Port could not be cast"),
    ],
)
def test_a_server_that_is_not_there(
    run: Running, monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    # A client of Connect needs no Java.
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    code, out, err = run("spark", "compact", "index", "--master", url)
    assert (code, out) == (2, "")
    assert err.startswith(f"tamis: error: {said}") and err.count("\n") == 1


def test_without_the_client_of_connect(files: Path) -> None:
    script = (
        "import sys\nfrom tamis.cli import main\nsys.modules['grpc'] = None\n"
        "sys.exit(main(['spark', 'compact', 'index', '--master', 'sc://127.0.0.1:1']))\n"
    )
    (files / "without.py").write_text(script)
    done = subprocess.run([sys.executable, "without.py"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'pyspark[connect]'" in done.stderr and done.stderr.count("\n") == 1


def test_the_demo_is_not_for_servers(run: Running, files: Path) -> None:
    code, _, err = run("demo", "--master", "sc://host", "--out", "there")
    assert code == 2 and "the demo reads and writes files of this machine" in err
    assert not (files / "there").exists()


def test_the_demo_overwrites_nothing(run: Running, files: Path) -> None:
    (files / "there").mkdir()
    code, _, err = run("demo", "--out", "there")
    assert code == 2
    assert err.startswith("there: error: it is there already, and nothing is overwritten; name another")


def test_messages_of_spark_become_one_line() -> None:
    assert reason_of("") == "Spark failed"
    assert reason_of("\n  [X] bad\nat org.apache") == "[X] bad"
    worker = "An exception\nTraceback (most recent call last):\n  x\nValueError: no column 'a'\n\n\tat org"
    assert reason_of(worker) == "no column 'a'"


def some_run(matched: dict[int, int]) -> Run:
    return Run(
        title="a <run> & more",
        settings={"seed": "1"},
        steps=(Step("build", "4 < 5", 10, "rows", 2.0), Step("check", "nothing", 0, "rows", 0.0)),
        matched=matched,
        attributes=(Attribute('"odd" <name>', 0.5, 0.25, None), Attribute("b", 0.0, 0.0, 0.125)),
        shards=(Shard("shard 0", 7, 2_000_000),),
        batches=(Batch(0, "v1", 7, 3, 0),),
        checks=("checked & equal",),
    )


@pytest.mark.parametrize("matched", [{}, {0: 1}, {0: 3, 2: 40, 500: 1}])
def test_a_page_is_well_formed_and_has_all_pictures(tmp_path: Path, matched: dict[int, int]) -> None:
    write_page(some_run(matched), tmp_path / "page.html")
    page = ET.parse(tmp_path / "page.html")
    pictures = page.findall(f".//{SVG}svg")
    assert [picture.findtext(f"{SVG}title") for picture in pictures] == [
        "Throughput of each step",
        "How many subscriptions does an event match?",
        "The most frequent attributes",
        "Balance of shards",
    ]
    texts = " ".join(page.getroot().itertext())
    for shown in ("a <run> & more", "4 < 5", '"odd" <name>', "checked & equal", "12.5%"):
        assert shown in texts


def test_bins_keep_every_event() -> None:
    for last in (0, 1, 23, 24, 25, 1000):
        matched = {number: number + 1 for number in range(last + 1)}
        bins = bins_of(matched)
        assert len(bins) <= 24
        assert sum(events for _, _, events in bins) == sum(matched.values())
        assert bins[0][0] == 0 and bins[-1][0] <= last <= bins[-1][1]
        assert all(left[1] + 1 == right[0] for left, right in pairwise(bins))


def boxes(picture: str) -> list[dict[str, float]]:
    """The coloured rectangles of a picture."""
    found = ET.fromstring(picture).findall(f".//{SVG}rect")
    return [
        {name: float(box.attrib[name]) for name in ("x", "y", "width", "height")}
        for box in found
        if box.attrib["fill"] != "#ffffff"
    ]


def test_bars_are_as_long_as_their_values() -> None:
    rows = [Row("a", ((10.0, "10"),)), Row("b", ((5.0, "5"),)), Row("c", (None,)), Row("d", ((0.0, "0"),))]
    first, second, third = boxes(bars("t", "s", rows))
    assert second["width"] * 2 == pytest.approx(first["width"])
    assert third["width"] == 1.0
    assert first["y"] + first["height"] <= second["y"]
    powers = boxes(log_bars("t", "s", [Row(str(n), ((10.0**n, ""),)) for n in (1, 2, 3)]))
    assert powers[2]["width"] == pytest.approx(2 * powers[1]["width"])
    assert all(box["x"] + box["width"] < WIDTH for box in powers)
    assert boxes(log_bars("t", "s", [])) == []


def test_columns_are_as_high_as_their_counts() -> None:
    low, none, high = boxes(histogram("t", "s", [(0, 1, 10), (2, 3, 0), (4, 5, 40)], "x"))
    assert high["height"] == pytest.approx(4 * low["height"]) and none["height"] == 0
    assert low["y"] + low["height"] == pytest.approx(high["y"] + high["height"])
    assert low["x"] + low["width"] < none["x"]
    assert [nice_ceiling(value) for value in (0, 4, 5, 99, 101)] == [4.0, 4.0, 6.0, 120.0, 120.0]
