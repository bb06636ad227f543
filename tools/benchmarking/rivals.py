"""How fast Python alone is, and tamis from Python, on a case that the runner has files to a folder."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import pyarrow as pa

import tamis
from benchmarking.record import Case, Competitor, FromPython, PythonCall
from benchmarking.runner import WrongAnswer

EVAL = "Python eval"
MOST_COLUMNS = 2_000


@dataclass(frozen=True)
class TimeBudget:
    """Seconds for all answers of a slow competitor, for one pass, and for all passes."""

    checking: float
    a_pass: float
    timing: float


THOROUGH = TimeBudget(checking=10.0, a_pass=0.3, timing=1.0)
QUICK = TimeBudget(checking=1.0, a_pass=0.02, timing=0.05)


@dataclass(frozen=True)
class CaseFiles:
    """The files of a case, as the runner writes them."""

    name: str
    subscriptions: list[str]
    python: list[str]
    lines: list[str]
    events: list[dict[str, Any]]
    expected: list[list[int]]


def read(name: str, folder: Path) -> CaseFiles:
    def second(file: str) -> list[str]:
        lines = (folder / file).read_text(encoding="utf-8").splitlines()
        return [line.split("\t", 1)[1] for line in lines]

    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [line.split("\t")[2] for line in second("expected.tsv")]
    return CaseFiles(
        name=name,
        subscriptions=second("subscriptions.tsv"),
        python=second("python.tsv"),
        lines=lines,
        events=[json.loads(line) for line in lines],
        expected=[[int(number) for number in numbers.split(",") if number] for numbers in expected],
    )


def compete(case: Case, folder: Path, is_quick: bool) -> None:
    """Add to a case what is measured from Python."""
    files = read(case.name, folder)
    budget = QUICK if is_quick else THOROUGH
    print(f"{case.name}: {EVAL}", file=sys.stderr)
    evaluated = evaluate(files, budget)
    engines = {engine.name for engine in tamis.engines() if engine.exact}
    ours = [c for c in case.competitors if c.name in engines and c.micros is not None]
    fastest = min(ours, key=lambda competitor: competitor.micros or 0.0)
    print(f"{case.name}: {fastest.name} from Python", file=sys.stderr)
    case.from_python = FromPython(fastest.name, time_calls(files, fastest.name, budget))
    case.competitors.append(evaluated)


# --- Python alone -----------------------------------------------------------------------------------


@functools.cache
def _regex(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """A compiled search. The cache costs each rule one look-up."""
    return re.compile(pattern).search


def evaluate(files: CaseFiles, budget: TimeBudget) -> Competitor:
    """Every rule compiled once, every event a dict, `eval` for each pair."""
    started = time.perf_counter()
    rules = [compile(text, "rule", "eval") for text in files.python]
    build = time.perf_counter() - started
    # The first event compiles the regular expressions: not part of the time per event.
    matching(rules, files.events[0])
    started = time.perf_counter()
    matching(rules, files.events[0])
    cost = max(time.perf_counter() - started, 1e-9)

    checked = share(budget.checking, cost, len(files.events))
    for n in range(checked):
        check(files, EVAL, n, matching(rules, files.events[n]))
    events = files.events[: share(budget.a_pass, cost, checked)]
    micros, passes = median(lambda: [matching(rules, event) for event in events], len(events), budget)
    single = {"microseconds_per_event": micros, "events": len(events), "passes": passes}
    return Competitor(EVAL, build_seconds=build, events_checked=checked, single=single)


def matching(rules: Sequence[CodeType], event: dict[str, Any]) -> list[int]:
    names = {"e": event, "g": event.get, "nan": math.nan, "regex": _regex}
    return [n for n, rule in enumerate(rules) if eval(rule, names)]


# --- tamis from Python ------------------------------------------------------------------------------


def time_calls(files: CaseFiles, engine: str, budget: TimeBudget) -> list[PythonCall]:
    """Single calls, dicts, JSON lines and Arrow; on one thread and on all."""
    index = tamis.Index(engine=engine)
    with warnings.catch_warnings():
        # Some generated rules are contradictions.
        warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
        index.add_many(range(len(files.subscriptions)), files.subscriptions)
    events, table = files.events, as_table(files.events)
    text = "\n".join(files.lines).encode()

    def one_by_one() -> list[list[Any]]:
        return [index.match(event) for event in events]

    calls: list[tuple[str, int, Callable[[], Any]]] = [("match(dict)", 1, one_by_one)]
    cores = os.cpu_count() or 1
    for threads in [1, cores] if cores > 1 else [1]:
        with_threads = functools.partial(functools.partial, threads=threads)
        calls.append(("match_many(dicts)", threads, with_threads(index.match_many, events)))
        calls.append(("match_json_many(text)", threads, with_threads(index.match_json_many, text)))
        if table is not None:
            calls.append(("match_arrow(table)", threads, with_threads(index.match_arrow, table)))
    for name, _, call in calls:
        for n, numbers in enumerate(by_event(call(), len(events))):
            check(files, f"{engine}, {name}", n, numbers)
    timed = [(name, threads, median(call, len(events), budget)[0]) for name, threads, call in calls]
    return [PythonCall(name, threads, micros) for name, threads, micros in timed]


def as_table(events: list[dict[str, Any]]) -> pa.Table | None:
    """The events as columns; None if there are more than MOST_COLUMNS attributes."""
    names = dict.fromkeys(name for event in events for name in event)
    if len(names) > MOST_COLUMNS:
        return None
    return pa.table({name: [event.get(name) for event in events] for name in names})


def by_event(found: Any, events: int) -> list[list[int]]:
    """The matches of each event in ascending order, from a table or from lists."""
    if isinstance(found, pa.Table):
        numbers: list[list[int]] = [[] for _ in range(events)]
        for event, number in zip(found["event"].to_pylist(), found["id"].to_pylist(), strict=True):
            numbers[event].append(number)
        return [sorted(some) for some in numbers]
    return [sorted(some) for some in found]


# --- answers and times ------------------------------------------------------------------------------


def check(files: CaseFiles, competitor: str, event: int, found: list[int]) -> None:
    expected = files.expected[event]
    if found != expected:
        missing, surplus = sorted({*expected} - {*found}), sorted({*found} - {*expected})
        raise WrongAnswer(
            f"{files.name}: {competitor} is wrong about event {event}: {files.lines[event]}\n"
            f"  not found: {missing[:20]}\n  found, but not right: {surplus[:20]}"
        )


def share(seconds: float, cost: float, events: int) -> int:
    """The number of events that fit into a time, at least ten if there are as many, as in the runner."""
    return min(events, max(10, int(seconds / cost)))


def median(call: Callable[[], object], events: int, budget: TimeBudget) -> tuple[float, int]:
    """Microseconds per event, as the median of all passes, and the number of passes."""
    passes: list[float] = []
    begun = time.perf_counter()
    while len(passes) < 3 or time.perf_counter() - begun < budget.timing:
        started = time.perf_counter()
        call()
        passes.append((time.perf_counter() - started) * 1e6 / events)
    return statistics.median(passes), len(passes)
