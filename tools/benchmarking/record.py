"""The measurements of a run, and the files they are stored in."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
# Of the last run on this machine; not kept in the repository.
LATEST = RESULTS / "latest.json"
QUICK = RESULTS / "quick.json"
# What the documentation shows.
RECORD = RESULTS / "record.json"


@dataclass
class Competitor:
    """One system's figures on one case; `absent` says why there are none."""

    name: str
    absent: str | None = None
    build_seconds: float | None = None
    engine_bytes_per_subscription: int | None = None
    index_bytes_per_subscription: int | None = None
    events_checked: int = 0
    single: dict[str, float] | None = None
    batch: dict[str, float] | None = None

    @property
    def one(self) -> float | None:
        """Microseconds per event, each in a call of its own."""
        return self.single["microseconds_per_event"] if self.single else None

    @property
    def many(self) -> float | None:
        """Microseconds per event, all in one call."""
        return self.batch["microseconds_per_event"] if self.batch else None

    @property
    def micros(self) -> float | None:
        """The figure that ratios are made of: all events in one call, where there is such a call."""
        return self.one if self.many is None else self.many


@dataclass
class PythonCall:
    """A call of tamis from Python and its time."""

    name: str
    threads: int
    microseconds_per_event: float


@dataclass
class FromPython:
    """tamis from Python, with the engine that was fastest on the case."""

    engine: str
    ways: list[PythonCall]


@dataclass
class Case:
    """A workload in one size, and what was measured on it."""

    workload: str
    title: str
    label: str
    subscriptions: int
    events: int
    seed: int
    matches: int
    sum: int
    picture: bool
    reading_json_microseconds_per_event: float | None
    competitors: list[Competitor]
    from_python: FromPython | None = None
    machine: str = ""
    # The folder that the runner has written it to, while the run lasts.
    written: str | None = None

    @property
    def name(self) -> str:
        """Workload, label and size."""
        return ", ".join(part for part in (self.workload, self.label, f"{self.subscriptions:,}") if part)

    @property
    def yardstick(self) -> Competitor:
        """The competitor that ratios refer to: the first one with a time."""
        return next(competitor for competitor in self.competitors if competitor.micros is not None)

    @property
    def fastest(self) -> Competitor:
        """The competitor with the shortest time."""
        timed = [competitor for competitor in self.competitors if competitor.micros is not None]
        return min(timed, key=lambda competitor: competitor.micros or 0.0)


@dataclass
class Run:
    """What one call measured. A run is complete if no option excluded a competitor."""

    machine: str
    is_complete: bool
    cases: list[Case] = field(default_factory=list)


def machine() -> str:
    """The processor, its number of cores, and the version of Python."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        model = found[1].strip() if found else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def case_from(fields: dict[str, Any]) -> Case:
    """A case as the runner or a record gives it."""
    competitors = [Competitor(**competitor) for competitor in fields["competitors"]]
    from_python = fields.get("from_python")
    if from_python:
        from_python = FromPython(from_python["engine"], [PythonCall(**call) for call in from_python["ways"]])
    return Case(**{**fields, "competitors": competitors, "from_python": from_python})


def read(path: Path) -> Run:
    """A run that was written before."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    cases = [case_from(case) for case in fields["cases"]]
    return Run(machine=fields["machine"], is_complete=fields["is_complete"], cases=cases)


def write(run: Run, path: Path) -> None:
    """Write a run; every case says on which machine it was measured, as a record may hold several."""
    for case in run.cases:
        case.machine = case.machine or run.machine
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dataclasses.asdict(run), indent=2) + "\n", encoding="utf-8")


def merged(old: Run, new: Run) -> Run:
    """The old run with the new one's cases in the place of its own."""
    known = {case.name: case for case in old.cases} | {case.name: case for case in new.cases}
    order = sorted(known.values(), key=lambda case: (case.workload, case.subscriptions, case.label))
    return Run(machine=new.machine, is_complete=True, cases=order)


def shown(path: Path) -> str:
    """A path as people read it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
