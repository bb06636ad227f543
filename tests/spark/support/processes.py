"""Starts programs that need their own Spark, and so their own process."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyspark

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).resolve().parents[3]

# Seconds after which a program counts as hanging, on any machine.
LONG = 3600


def environment(**variables: str) -> dict[str, str]:
    """The environment of a program: this Python, and tamis from this checkout."""
    paths = [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*paths, str(ROOT)]),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        **variables,
    }


def start(program: str, *arguments: object, log: Path, **variables: str) -> subprocess.Popen[bytes]:
    """Start a program as the leader of its own process group, with further environment variables."""
    return _launch([sys.executable, str(PROGRAMS / program), *map(str, arguments)], log, variables)


def start_daemon(name: str, *arguments: object, log: Path) -> subprocess.Popen[bytes]:
    """Start a daemon of a standalone Spark cluster, such as ``master.Master``, in the same way."""
    spark_class = Path(pyspark.__file__).parent / "bin/spark-class"
    return _launch([str(spark_class), f"org.apache.spark.deploy.{name}", *map(str, arguments)], log, {})


def results_of(program: str, *arguments: object, folder: Path, **variables: str) -> Any:
    """Run a program to its end, with a file for results as last argument; return what it wrote there."""
    log, results = folder / f"{program}.log", folder / f"{program}.json"
    process = start(program, *arguments, results, log=log, **variables)
    try:
        assert process.wait(LONG) == 0, tail(log)
    finally:
        kill(process)
        remove_work_folders(log)
    return json.loads(results.read_text())


def _launch(command: list[str], log: Path, variables: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_for_line(pattern: str, log: Path, process: subprocess.Popen[bytes]) -> str:
    """Wait until a line of a log matches; return the match's first group."""
    while not (found := re.search(pattern, log.read_text(errors="replace"), re.MULTILINE)):
        assert process.poll() is None, tail(log)
        time.sleep(0.1)
    return found[1]


def tail(log: Path) -> str:
    """The end of a log, for messages of failed tests."""
    return log.read_text(errors="replace")[-8000:]


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a driver and its JVM, as a failing machine would; its workers end by themselves."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    """All processes below one, with their command lines."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    pending = [pid]
    while pending:
        for child in children.get(pending.pop(), []):
            pending.append(child)
            try:
                yield child, Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (FileNotFoundError, ProcessLookupError):
                continue


def remove_work_folders(log: Path) -> None:
    """Remove the folders that executors of a `local-cluster` leave in pyspark's own folder."""
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("application "):
            shutil.rmtree(Path(pyspark.__file__).parent / "work" / line.split()[1], ignore_errors=True)
