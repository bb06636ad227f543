"""Standard input, pipes that close, and interrupts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.commands import RunCommand

COMMAND = [sys.executable, "-m", "tamis.cli"]


def test_results_come_while_the_pipe_is_open(files: Path) -> None:
    """The second event is written only after the answer to the first was read."""
    with subprocess.Popen(
        [*COMMAND, "match", "rules.txt", "-", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b'{"age": 40}\n{"age": 5')
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"event": 1, "ids": [5]}
        process.stdin.write(b"0}\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"event": 2, "ids": [5]}
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0


def test_errors_name_standard_input(files: Path) -> None:
    done = subprocess.run([*COMMAND, "match", "rules.txt", "-"], input=b"{}\n{\n", capture_output=True)
    assert done.returncode == 2
    assert done.stderr.startswith(b"standard input:2: error: ")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGPIPE and no 141")
def test_a_closed_pipe_is_no_error(files: Path) -> None:
    with Path("many.jsonl").open("w", encoding="utf-8") as file:
        file.writelines('{"age": 40}\n' for _ in range(100_000))
    with subprocess.Popen(
        [*COMMAND, "match", "rules.txt", "many.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"1\t5\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_ctrl_c_is_exit_code_130(files: Path, run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("tamis.cli.commands.match.load_index", interrupt)
    assert run("match", "rules.txt", "events.jsonl") == (130, "", "")


def test_an_old_encoding_shows_what_it_can(files: Path) -> None:
    (files / "r.tsv").write_text("größe-✓\tage > 1\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    arguments = [*COMMAND, "match", "r.tsv", "events.jsonl", "--limit", "1"]
    done = subprocess.run(arguments, capture_output=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "1\tgröße-\\u2713\n".encode("latin-1"))
