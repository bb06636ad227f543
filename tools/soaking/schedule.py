"""Workers side by side: one runs lives in Rust, the others lives through the Python package."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parents[1]
# Seconds between two lines of progress.
INTERVAL = 10
# Seconds that a worker may take to finish its last life.
GRACE = 300


@dataclass
class Worker:
    name: str
    command: Sequence[str]
    # The Rust worker reports totals so far, the others report each life.
    is_cumulative: bool = False
    totals: Counter[str] = field(default_factory=Counter)
    # Lives by engine or kind of trouble.
    kinds: Counter[str] = field(default_factory=Counter)
    process: subprocess.Popen[str] | None = None
    errors: str = ""

    def start(self) -> list[threading.Thread]:
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=TOOLS
        )
        threads = [threading.Thread(target=read) for read in (self._read_lines, self._read_errors)]
        for thread in threads:
            thread.start()
        return threads

    def _read_lines(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._count(json.loads(line))

    def _count(self, values: dict[str, Any]) -> None:
        kind = values.pop("kind", None)
        counts = {name: value for name, value in values.items() if isinstance(value, int)}
        if self.is_cumulative:
            self.totals = Counter(counts)
            return
        self.totals.update(counts)
        if kind is not None:
            self.kinds[kind] += counts.get("times", 1)

    def _read_errors(self) -> None:
        assert self.process is not None and self.process.stderr is not None
        with self.process.stderr as lines:
            self.errors += lines.read()


def run(workers: Sequence[Worker], seconds: float) -> int:
    """Run all workers to their end; the exit code is 1 if one has a finding, which is printed."""
    start = time.monotonic()
    threads = [thread for worker in workers for thread in worker.start()]
    shown = start
    while any(worker.process and worker.process.poll() is None for worker in workers):
        failed = [worker for worker in workers if worker.process and worker.process.poll() not in (None, 0)]
        is_late = time.monotonic() > start + seconds + GRACE
        if failed or is_late:
            for worker in workers:
                if worker.process and worker.process.poll() is None:
                    worker.errors += f"stopped after {time.monotonic() - start:.0f} s\n" if is_late else ""
                    worker.process.kill()
            break
        if time.monotonic() - shown >= INTERVAL:
            shown = time.monotonic()
            print(f"{shown - start:6.0f} s  {_sum(workers)}", flush=True)
        time.sleep(0.2)
    codes = [worker.process.wait() if worker.process else 1 for worker in workers]
    for thread in threads:
        thread.join()
    print(f"{time.monotonic() - start:6.0f} s  {_sum(workers)}")
    kinds: Counter[str] = sum((worker.kinds for worker in workers), Counter())
    print("through Python: " + ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items())))
    found = [
        worker for worker, code in zip(workers, codes, strict=True) if code not in (0, -9) or worker.errors
    ]
    for worker in found:
        assert worker.process is not None
        print(f"{worker.name} ended with {worker.process.returncode}:\n{worker.errors}", file=sys.stderr)
    print(f"findings: {len(found)}")
    return 1 if found else 0


def _sum(workers: Sequence[Worker]) -> str:
    totals: Counter[str] = sum((worker.totals for worker in workers), Counter())
    names = ("lives", "operations", "answers")
    return ", ".join(f"{totals[name]:,} {name}" for name in names)
