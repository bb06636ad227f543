"""How fast Python alone is, and tamis from Python, on a case that the runner has written to a folder."""

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
from benchmarking.record import Case, Competitor, FromPython, Way
from benchmarking.runner import WrongAnswer

EVAL = "Python eval"
MOST_COLUMNS = 2_000


@dataclass(frozen=True)
class Patience:
    """Seconds for all answers of a slow competitor, for one pass, and for all passes."""

    checking: float
    a_pass: float
    timing: float


THOROUGH = Patience(checking=10.0, a_pass=0.3, timing=1.0)
QUICK = Patience(checking=1.0, a_pass=0.02, timing=0.05)


@dataclass(frozen=True)
class Written:
    """A case as the runner wrote it."""

    name: str
    subscriptions: list[str]
    python: list[str]
    lines: list[str]
    events: list[dict[str, Any]]
    expected: list[list[int]]


def read(name: str, folder: Path) -> Written:
    def second(file: str) -> list[str]:
        lines = (folder / file).read_text(encoding="utf-8").splitlines()
        return [line.split("\t", 1)[1] for line in lines]

    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [line.split("\t")[2] for line in second("expected.tsv")]
    return Written(
        name=name,
        subscriptions=second("subscriptions.tsv"),
        python=second("python.tsv"),
        lines=lines,
        events=[json.loads(line) for line in lines],
        expected=[[int(number) for number in numbers.split(",") if number] for numbers in expected],
    )


def compete(case: Case, folder: Path, is_quick: bool) -> None:
    """Add to a case what is measured from Python."""
    written = read(case.name, folder)
    patience = QUICK if is_quick else THOROUGH
    print(f"{case.name}: {EVAL}", file=sys.stderr)
    evaluated = evaluate(written, patience)
    engines = {engine.name for engine in tamis.engines()}
    ours = [c for c in case.competitors if c.name in engines and c.micros is not None]
    quickest = min(ours, key=lambda competitor: competitor.micros or 0.0)
    print(f"{case.name}: {quickest.name} from Python", file=sys.stderr)
    case.from_python = FromPython(quickest.name, call_all_ways(written, quickest.name, patience))
    case.competitors.append(evaluated)


# --- Python alone -----------------------------------------------------------------------------------


@functools.cache
def _regex(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """A compiled search; as quick as a rule that holds its own, but for one look-up."""
    return re.compile(pattern).search


def evaluate(written: Written, patience: Patience) -> Competitor:
    """Every rule compiled once, every event a dict, `eval` for each pair."""
    started = time.perf_counter()
    rules = [compile(text, "rule", "eval") for text in written.python]
    build = time.perf_counter() - started
    # Compiles the regular expressions too, which belongs to the first event otherwise.
    matching(rules, written.events[0])
    started = time.perf_counter()
    matching(rules, written.events[0])
    cost = max(time.perf_counter() - started, 1e-9)

    checked = share(patience.checking, cost, len(written.events))
    for n in range(checked):
        check(written, EVAL, n, matching(rules, written.events[n]))
    events = written.events[: share(patience.a_pass, cost, checked)]
    micros, passes = median(lambda: [matching(rules, event) for event in events], len(events), patience)
    single = {"microseconds_per_event": micros, "events": len(events), "passes": passes}
    return Competitor(EVAL, build_seconds=build, events_checked=checked, single=single)


def matching(rules: Sequence[CodeType], event: dict[str, Any]) -> list[int]:
    names = {"e": event, "g": event.get, "nan": math.nan, "regex": _regex}
    return [n for n, rule in enumerate(rules) if eval(rule, names)]


# --- tamis from Python ------------------------------------------------------------------------------


def call_all_ways(written: Written, engine: str, patience: Patience) -> list[Way]:
    """Single calls, dicts, JSON lines and Arrow; on one thread and on all."""
    index = tamis.Index(engine=engine)
    with warnings.catch_warnings():
        # Drawn rules may contradict themselves, as people's do.
        warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
        index.add_many(range(len(written.subscriptions)), written.subscriptions)
    events, table = written.events, as_table(written.events)
    text = "\n".join(written.lines).encode()

    def one_by_one() -> list[list[Any]]:
        return [index.match(event) for event in events]

    ways: list[tuple[str, int, Callable[[], Any]]] = [("match(dict)", 1, one_by_one)]
    cores = os.cpu_count() or 1
    for threads in [1, cores] if cores > 1 else [1]:
        with_threads = functools.partial(functools.partial, threads=threads)
        ways.append(("match_many(dicts)", threads, with_threads(index.match_many, events)))
        ways.append(("match_json_many(text)", threads, with_threads(index.match_json_many, text)))
        if table is not None:
            ways.append(("match_arrow(table)", threads, with_threads(index.match_arrow, table)))
    for name, _, call in ways:
        for n, numbers in enumerate(by_event(call(), len(events))):
            check(written, f"{engine}, {name}", n, numbers)
    timed = [(name, threads, median(call, len(events), patience)[0]) for name, threads, call in ways]
    return [Way(name, threads, micros) for name, threads, micros in timed]


def as_table(events: list[dict[str, Any]]) -> pa.Table | None:
    """The events as columns; None if there are more attributes than anybody would keep columns for."""
    names = dict.fromkeys(name for event in events for name in event)
    if len(names) > MOST_COLUMNS:
        return None
    return pa.table({name: [event.get(name) for event in events] for name in names})


def by_event(found: Any, events: int) -> list[list[int]]:
    """The matches of each event in ascending order, from any of the forms they come in."""
    if isinstance(found, pa.Table):
        numbers: list[list[int]] = [[] for _ in range(events)]
        for event, number in zip(found["event"].to_pylist(), found["id"].to_pylist(), strict=True):
            numbers[event].append(number)
        return [sorted(some) for some in numbers]
    return [sorted(some) for some in found]


# --- answers and times ------------------------------------------------------------------------------


def check(written: Written, who: str, event: int, found: list[int]) -> None:
    expected = written.expected[event]
    if found != expected:
        missing, surplus = sorted({*expected} - {*found}), sorted({*found} - {*expected})
        raise WrongAnswer(
            f"{written.name}: {who} is wrong about event {event}: {written.lines[event]}\n"
            f"  not found: {missing[:20]}\n  found, but not right: {surplus[:20]}"
        )


def share(seconds: float, cost: float, events: int) -> int:
    """How many events fit into a time; ten at least, as in the runner, if there are as many."""
    return min(events, max(10, int(seconds / cost)))


def median(call: Callable[[], object], events: int, patience: Patience) -> tuple[float, int]:
    """Microseconds an event in the middle of all passes, and how many there were."""
    passes: list[float] = []
    begun = time.perf_counter()
    while len(passes) < 3 or time.perf_counter() - begun < patience.timing:
        started = time.perf_counter()
        call()
        passes.append((time.perf_counter() - started) * 1e6 / events)
    return statistics.median(passes), len(passes)
