"""Programs of tests that need a Spark, and so a process, of their own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyspark

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# Seconds after which a program hangs, however slow the machine.
LONG = 3600


def start(script: str, *arguments: object, log: Path) -> subprocess.Popen[bytes]:
    """Start a script of this folder, as the leader of its own group of processes."""
    return _launch([sys.executable, str(HERE / script), *map(str, arguments)], log)


def start_daemon(name: str, *arguments: object, log: Path) -> subprocess.Popen[bytes]:
    """Start a daemon of a Spark cluster of its own, such as ``master.Master``, in the same way."""
    spark_class = Path(pyspark.__file__).parent / "bin/spark-class"
    return _launch([str(spark_class), f"org.apache.spark.deploy.{name}", *map(str, arguments)], log)


def _launch(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    paths = [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a driver and its JVM, as a machine that fails would; its workers end by themselves."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    """Go through all processes below one, with their command lines."""
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
    """Remove what the executors of a `local-cluster` leave in pyspark's own folder."""
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("application "):
            shutil.rmtree(Path(pyspark.__file__).parent / "work" / line.split()[1], ignore_errors=True)
