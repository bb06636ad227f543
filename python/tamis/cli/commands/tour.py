"""``tamis tour``: shows matching, explaining and ranking on built-in data."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import tamis
from tamis.cli.arguments import add_command
from tamis.cli.exits import Exit
from tamis.cli.output.console import explanation_tree, output_console, plain
from tamis.files import open_events, read_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from tamis import Explanation
    from tamis.cli.arguments import Commands

_DESCRIPTION = """Match 200 built-in events (ad impressions, measurements, log lines) with 31 built-in rules,
explain a match and a near miss, and rank matches. Needs no files and writes none."""

_EPILOG = """examples:
  tamis tour
  tamis tour | less -R
"""

_SHOWN_RULES = ("ad-family-car", "alert-all-europe", "sec-root-outside", "sec-half-protected")
_EXPLAINED_RULE = "sec-root-outside"
_SHOWN_EVENTS = 12
_LONGEST_BAR = 40


@dataclass(frozen=True, slots=True)
class _Tour:
    """The data that all sections of the tour show."""

    console: Console
    index: tamis.Index
    events: list[Mapping[str, object]]
    matches: Sequence[Sequence[str | int]]
    seconds: float

    def name(self, row: int) -> str:
        """Return the name of an event: its field ``id``."""
        return str(self.events[row]["id"])


def add_parser(commands: Commands) -> None:
    """Add the command."""
    summary = "show matching, explaining and ranking on built-in data"
    parser = add_command(commands, "tour", summary, _DESCRIPTION, _EPILOG)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print all sections of the tour."""
    tour = _prepare()
    for section in (_rules, _events, _totals, _match, _near_miss, _ranking, _next_steps, _summary):
        section(tour)
    return Exit.MATCHED


def _prepare() -> _Tour:
    data = files("tamis.cli.commands") / "tour_data"
    with ExitStack() as stack:
        rules_path = stack.enter_context(as_file(data / "rules.tsv"))
        events_path = stack.enter_context(as_file(data / "events.jsonl"))
        rules = read_rules(rules_path).rules
        events = [event for chunk in open_events(events_path).chunks() for event in chunk.mappings()]
    index = tamis.Index()
    index.add_many([rule.id for rule in rules], [rule.text for rule in rules])
    began = time.perf_counter()
    matches = index.match_many(events, ordered=True)
    seconds = time.perf_counter() - began
    return _Tour(output_console(), index, events, matches, seconds)


def _title(tour: _Tour, text: str) -> None:
    tour.console.print()
    tour.console.print(plain(text, "bold cyan"))
    tour.console.print()


def _rules(tour: _Tour) -> None:
    from rich.table import Table

    _title(tour, f"{len(tour.index)} rules are loaded. Four of them:")
    table = Table(show_lines=True)
    table.add_column("id", style="bold", no_wrap=True)
    table.add_column("expression")
    for id in _SHOWN_RULES:
        table.add_row(id, plain(tour.index[id]))
    tour.console.print(table)


def _events(tour: _Tour) -> None:
    from rich.table import Table

    _title(tour, f"{len(tour.events)} events are matched against all of them. The first {_SHOWN_EVENTS}:")
    table = Table()
    table.add_column("event", no_wrap=True)
    table.add_column("what it is")
    table.add_column("rules that match", style="green")
    for row in range(_SHOWN_EVENTS):
        ids = ", ".join(str(id) for id in tour.matches[row])
        shown = plain(ids, "green") if ids else plain("none", "dim")
        table.add_row(tour.name(row), plain(_in_short(tour.events[row])), shown)
    tour.console.print(table)


def _in_short(event: Mapping[str, object]) -> str:
    """Summarize an event by the fields of its kind."""
    match event:
        case {"kind": "bid", "user": {**user}, "device": {"type": device}, "geo": {"city": city}}:
            return f"age {user.get('age', 'unknown')}, {device}, {city}"
        case {"kind": "metric", "service": service, "host": host, "cpu": cpu}:
            return f"{service} on {host}, cpu {cpu}"
        case {"kind": "login", "user": {**user}, "ip": ip, "ok": ok}:
            return f"{user.get('name', 'nobody')} from {ip}: {'ok' if ok else 'refused'}"
        case {"kind": "request", "method": method, "path": path, "status": status}:
            return f"{method} {path}: {status}"
    return str(event.get("kind"))


def _totals(tour: _Tour) -> None:
    from rich.table import Table

    _title(tour, "How often each rule matched:")
    counts = Counter(id for ids in tour.matches for id in ids)
    most = max(counts.values())
    block = "#" if tour.console.options.ascii_only else "\N{FULL BLOCK}"
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="green")
    for id in sorted(tour.index, key=lambda id: -counts[id]):
        length = -(-counts[id] * _LONGEST_BAR // most)
        table.add_row(plain(id), str(counts[id]), block * length)
    tour.console.print(table)


def _match(tour: _Tour) -> None:
    id = _EXPLAINED_RULE
    row = next(row for row, ids in enumerate(tour.matches) if id in ids)
    _title(tour, f"Why does {id} match {tour.name(row)}?  index.explain({id!r}, event)")
    tour.console.print(explanation_tree(tour.index.explain(id, tour.events[row])))


def _near_miss(tour: _Tour) -> None:
    row, id, explanation, failing = next(_near_misses(tour))
    _title(tour, f"A near miss: {id} fails to match {tour.name(row)} by one predicate")
    tour.console.print(explanation_tree(explanation))
    tour.console.print()
    tour.console.print(plain(f"It would match but for: {failing.text}", "bold"))


def _near_misses(tour: _Tour) -> Iterator[tuple[int, str | int, Explanation, Explanation]]:
    """Find rules whose operands are all TRUE except one FALSE predicate."""
    for row, event in enumerate(tour.events):
        for id in tour.index:
            explanation = tour.index.explain(id, event)
            failing = [child for child in explanation.children if child.truth != "TRUE"]
            if (
                explanation.truth == "FALSE"
                and len(explanation.children) > 3
                and len(failing) == 1
                and not failing[0].children
            ):
                yield row, id, explanation, failing[0]


def _ranking(tour: _Tour) -> None:
    from rich.table import Table

    row = max(range(len(tour.events)), key=lambda row: len(tour.matches[row]))
    _title(tour, f"Which rules fit {tour.name(row)} best?  index.top_k(event, k=3)")
    table = Table()
    table.add_column("rule", style="bold")
    table.add_column("score", justify="right", style="green")
    for id, score in tour.index.top_k(tour.events[row], k=3):
        table.add_row(plain(id), f"{score:.2f}")
    tour.console.print(table)
    tour.console.print(plain("A rule's score is the sum of the weights of its predicates that hold.", "dim"))


def _next_steps(tour: _Tour) -> None:
    from rich.table import Table

    _title(tour, "What to try next:")
    steps = (
        ("tamis match rules.txt events.jsonl", "your own files, no set-up"),
        ("tamis match --help", "file formats, --json, --top-k, streams"),
        ("tamis explain rules.txt events.jsonl --id 3", "why a rule matches, or not"),
    )
    table = Table(box=None, show_header=False, pad_edge=False)
    for command, meaning in steps:
        table.add_row(plain(command, "bold"), plain(meaning))
    tour.console.print(table)
    tour.console.print()
    tour.console.print(plain("Or in Python:"))
    tour.console.print()
    for line in ("import tamis", "index = tamis.Index()", 'index.add("adults", "age >= 18")'):
        tour.console.print(plain(f"    {line}", "bold"))
    tour.console.print(plain('    index.match({"age": 42})', "bold"), plain("# ['adults']", "dim"))


def _summary(tour: _Tour) -> None:
    pairs = sum(len(ids) for ids in tour.matches)
    matched = sum(1 for ids in tour.matches if ids)
    milliseconds = tour.seconds * 1000
    tour.console.print()
    tour.console.print(
        plain(
            f"{len(tour.events)} events, {len(tour.index)} rules: {pairs} matches in {matched} events, "
            f"found in {milliseconds:.1f} ms by the engine {tour.index.engine}.",
            "bold",
        )
    )
