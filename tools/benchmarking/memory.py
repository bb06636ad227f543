"""The peak memory of Spark's Python workers, from /proc."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")


def peak_of_workers() -> int | None:
    """The largest peak, in bytes, of a worker below this process; None where there is no /proc."""
    return max((peak for process in descendants(os.getpid()) if (peak := _peak(process))), default=None)


def descendants(pid: int) -> Iterator[Path]:
    """The folders in /proc of all descendants of a process."""
    children: dict[int, list[Path]] = {}
    for process in PROC.glob("[0-9]*"):
        # The name may contain anything; the state and the parent follow its closing parenthesis.
        fields = _read(process / "stat").rpartition(")")[2].split()
        if fields:
            children.setdefault(int(fields[1]), []).append(process)
    pending = [pid]
    while pending:
        for child in children.get(pending.pop(), []):
            yield child
            pending.append(int(child.name))


def _peak(process: Path) -> int | None:
    if "pyspark.daemon" not in _read(process / "cmdline"):
        return None
    found = re.search(r"^VmHWM:\s+(\d+) kB$", _read(process / "status"), re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        # The process has ended meanwhile.
        return ""
