"""``tamis demo`` and ``tamis spark`` without Spark: arguments, help, what is said if Spark is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.commands import RunCommand

from tamis.cli.pipeline import STEPS
from tamis.cli.pipeline.spark_errors import error_line

NAMES = [step.__name__.rpartition(".")[2] for step in STEPS]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", NAMES)
def test_every_step_has_help_with_examples_and_exit_codes(run: RunCommand, name: str) -> None:
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
        (["spark", "build", "rules.csv", "index", "--shards", "0"], "whole number of at least 1, found '0'"),
        (["spark", "ingest", "a.csv", "out", "--as", "songs"], "invalid choice: 'songs'"),
        (["spark", "stream", "in", "index", "out"], "--checkpoint"),
        (["spark", "match", "e", "i", "o", "--json-col", "a", "--map-col", "b"], "not allowed with"),
        (["spark", "generate", "out", "--set", "alpha"], "expected NAME=VALUE, found 'alpha'"),
        (["demo", "--events", "none"], "whole number of at least 1, found 'none'"),
    ],
)
def test_wrong_command_lines(run: RunCommand, arguments: list[str], said: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("arguments", [["demo"], ["spark", "vacuum", "index"]])
def test_without_pyspark(
    run: RunCommand, files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith("tamis: error: this needs pyspark: pip install 'tamis[spark]'")
    assert "tamis tour" in err and err.count("\n") == 1
    assert not (files / "tamis-demo").exists()


def test_without_java(run: RunCommand, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    run: RunCommand, monkeypatch: pytest.MonkeyPatch, url: str, said: str
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


def test_the_demo_is_not_for_servers(run: RunCommand, files: Path) -> None:
    code, _, err = run("demo", "--master", "sc://host", "--out", "there")
    assert code == 2 and "the demo reads and writes local files" in err
    assert not (files / "there").exists()


def test_the_demo_overwrites_nothing(run: RunCommand, files: Path) -> None:
    (files / "there").mkdir()
    code, _, err = run("demo", "--out", "there")
    assert code == 2
    assert err.startswith("there: error: it already exists, and nothing is overwritten; name another")


def test_messages_of_spark_become_one_line() -> None:
    assert error_line("") == "Spark failed"
    assert error_line("\n  [X] bad\nat org.apache") == "[X] bad"
    worker = "An exception\nTraceback (most recent call last):\n  x\nValueError: no column 'a'\n\n\tat org"
    assert error_line(worker) == "no column 'a'"
