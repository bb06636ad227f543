"""Exit codes of the real command: a run that fails never ends like a run without a match."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "tamis.cli"]
MATCH = ["match", "rules.txt", "events.jsonl"]
POSIX = pytest.mark.skipif(os.name == "nt", reason="shell redirections and signals of POSIX")

# Run as `python -c PROGRAM ERROR ARGUMENT...`: the command meets an error while it loads rules.
FAILING = """
import os, signal, sys
from tamis import FileError, InternalError
from tamis.cli import main
from tamis.cli.commands import match

class Panic(BaseException):
    pass

def fail(*_):
    if sys.argv[1] == "signal":
        os.kill(os.getpid(), signal.SIGINT)
    raise eval(sys.argv[1])

match.load_index = fail
sys.exit(main(sys.argv[2:]))
"""


def shell(line: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which $TAMIS is the command."""
    environment = {**os.environ, "TAMIS": " ".join(COMMAND)}
    command = ["bash", "-c", line]
    return subprocess.run(command, env=environment, capture_output=True, text=True, **options)  # type: ignore[call-overload, no-any-return]


@POSIX
@pytest.mark.parametrize(
    "command",
    ["match rules.txt events.jsonl", "engines", "--version", "--help", "tour", "match --help", "nonsense"],
)
def test_closed_output(files: Path, command: str) -> None:
    done = shell(f"$TAMIS {command} >&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "tamis: error: standard output is closed; redirect it to a file, or to the null device\n"
    )


@POSIX
def test_closed_input(files: Path) -> None:
    done = shell("$TAMIS match rules.txt - <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "standard input: error: it is closed; name a file of events, or connect a pipe\n"
    # Commands that do not read it do not need it.
    done = shell("$TAMIS match rules.txt events.jsonl --limit 1 <&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\t2\n1\t3\n", "")


@POSIX
def test_closed_messages(files: Path) -> None:
    """Messages must not go where results go."""
    done = shell("$TAMIS match gone.txt events.jsonl 2>&-")
    assert (done.returncode, done.stdout) == (2, "")
    done = shell("$TAMIS match rules.txt events.jsonl --limit 1 2>&- <&-")
    assert (done.returncode, done.stdout) == (0, "1\t2\n1\t3\n")
    done = shell("$TAMIS match gone.txt events.jsonl >&- 2>&- <&-")
    assert done.returncode == 2


@POSIX
@pytest.mark.parametrize("command", ["match rules.txt many.jsonl", "match rules.txt many.jsonl --json"])
def test_a_pipe_that_closes(files: Path, command: str) -> None:
    (files / "many.jsonl").write_text('{"age": 40}\n' * 100_000, encoding="utf-8")
    done = shell(f"$TAMIS {command} | head -1; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stderr) == (141, "")
    assert done.stdout.count("\n") == 1


@POSIX
@pytest.mark.parametrize("command", ["tour", "engines", "--help", "explain rules.txt events.jsonl --id 2"])
def test_short_output_to_a_pipe_that_is_closed(files: Path, command: str) -> None:
    """The reader is gone before the first line; rich alone would exit with the code of "no match"."""
    reading, writing = os.pipe()
    os.close(reading)
    # argparse ignores what fails at once; buffered output fails when it is flushed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    try:
        done = subprocess.run(
            [*COMMAND, *command.split()], stdout=writing, stderr=subprocess.PIPE, text=True, env=environment
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@POSIX
def test_messages_to_a_pipe_that_is_closed(files: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*COMMAND, "match", "gone.txt", "events.jsonl"], stderr=writing)
    finally:
        os.close(writing)
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["match", "rules.txt", "events.jsonl"], ["engines"], ["--version"]])
def test_a_full_disk(files: Path, command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *command], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        ("RuntimeError('odd')", 70, "this is a fault in tamis, please report it: RuntimeError: odd"),
        ("AssertionError()", 70, "please report it: AssertionError"),
        ("RecursionError('deep')", 70, "please report it: RecursionError: deep"),
        ("InternalError('broken')", 70, "please report it: InternalError: broken"),
        ("Panic('native')", 70, "please report it: Panic: native"),
        ("SystemExit(1)", 70, ""),
        ("SystemExit('text')", 70, ""),
        ("MemoryError()", 70, "tamis: error: not enough memory; match fewer rules or events at a time"),
        ("FileError('no index')", 2, "tamis: error: no index"),
        ("OSError(5, 'Input/output error')", 2, "Input/output error"),
        ("KeyboardInterrupt()", 130, ""),
        ("signal", 130, ""),
        ("BrokenPipeError()", 141, ""),
    ],
)
def test_errors_in_a_command(files: Path, error: str, code: int, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", FAILING, error, *MATCH], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr if said else done.stderr == ""
    assert ("Traceback" in done.stderr) == ("report it" in said)


@POSIX
def test_an_interrupt_from_outside(files: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "match", "rules.txt", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b'{"age": 40}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b"1\t5\n"  # it has started, and waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_too_little_memory(files: Path) -> None:
    """A line of 220 MB, read in blocks and then joined, does not fit into an address space of 400 MB."""
    import resource

    with (files / "long.jsonl").open("wb") as file:
        file.truncate(220 << 20)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    arguments = [*COMMAND, "match", "rules.txt", "long.jsonl", "--threads", "1"]
    done = subprocess.run(arguments, capture_output=True, text=True, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (70, "")
    assert "not enough memory" in done.stderr


def test_a_large_top_k_is_all_matches(files: Path) -> None:
    outputs = [
        subprocess.run([*COMMAND, *MATCH, "--top-k", str(k)], capture_output=True, text=True)
        for k in (3, 2**32, 2**63 - 1)
    ]
    assert {(done.returncode, done.stderr, done.stdout) for done in outputs} == {(0, "", outputs[0].stdout)}


@pytest.mark.parametrize(
    ("option", "number", "most"),
    [("--top-k", str(2**63), 2**63 - 1), ("--limit", "9" * 5_000, 2**63 - 1), ("--threads", "1025", 1024)],
)
def test_numbers_that_are_too_large(files: Path, option: str, number: str, most: int) -> None:
    done = subprocess.run([*COMMAND, *MATCH, option, number], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert f"argument {option}: expected a whole number of at most {most}, found '{number[:19]}" in last
    assert len(last) < 200


def test_the_help_has_every_code(files: Path) -> None:
    done = subprocess.run([*COMMAND, "match", "--help"], capture_output=True, text=True)
    assert all(f"\n  {code} " in done.stdout for code in (0, 1, 2, 70, 130, 141))
