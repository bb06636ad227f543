"""A case as a table, for terminals and for Markdown."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarking.record import Case, Competitor, FromPython

# What ratios are made of, then one call for each event; how much faster than the yardstick, how much slower
# than the fastest; what it took to build and to keep.
HEADINGS = ("competitor", "us/event", "one by one", "speed-up", "to fastest", "build s", "B/sub")


def number(value: float | None) -> str:
    """Three digits, or all that stand before the point."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 1:
        return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"{value:.2g}" if value >= 0.0001 else "0"


def cells(case: Case, competitor: Competitor) -> list[str]:
    """One row, as `HEADINGS` says."""
    assert competitor.micros is not None
    yardstick, fastest = case.yardstick.micros or 0.0, case.fastest.micros or 0.0
    return [
        competitor.name,
        number(competitor.many),
        number(competitor.one),
        number(yardstick / competitor.micros),
        number(competitor.micros / fastest),
        number(competitor.build_seconds),
        f"{competitor.engine_bytes_per_subscription:,}" if competitor.engine_bytes_per_subscription else "",
    ]


def facts(case: Case) -> str:
    """What the case is, in a line."""
    matches = number(case.matches / case.events)
    reading = case.reading_json_microseconds_per_event
    read = f", reading its JSON takes {number(reading)} us" if reading else ""
    return f"{case.events:,} events, seed {case.seed}; an event matches {matches} on average{read}"


def fewer(case: Case) -> list[str]:
    """Who competed on fewer events than there are."""
    return [
        f"{competitor.name} was timed on {int(competitor.single['events'])} events"
        for competitor in case.competitors
        if competitor.single and competitor.single["events"] < case.events
    ]


def absent(case: Case) -> list[str]:
    """Who did not compete, and why."""
    return [f"{c.name}: {c.absent}" for c in case.competitors if c.absent is not None]


def show(case: Case) -> None:
    """Print a case; all answers on it were right."""
    console = Console()
    table = Table(title=f"{case.title}: {case.name}", title_justify="left", caption_justify="left")
    table.caption = "\n".join([facts(case), *fewer(case), *absent(case)])
    table.add_column(HEADINGS[0])
    for heading in HEADINGS[1:]:
        table.add_column(heading, justify="right")
    for competitor in case.competitors:
        if competitor.micros is not None:
            style = "bold" if competitor is case.fastest else None
            table.add_row(*cells(case, competitor), style=style)
    console.print(table)
    if case.from_python:
        console.print(from_python(case, case.from_python))


def from_python(case: Case, measured: FromPython) -> Table:
    table = Table(title=f"{measured.engine} from Python: {case.name}", title_justify="left")
    table.add_column("call")
    for heading in ("threads", "us an event", "events/s"):
        table.add_column(heading, justify="right")
    core = next(c for c in case.competitors if c.name == measured.engine)
    table.add_row("core, one by one", "1", number(core.one), per_second(core.one))
    table.add_row("core, all in one call", "1", number(core.many), per_second(core.many))
    for way in measured.ways:
        micros = way.microseconds_per_event
        table.add_row(way.name, str(way.threads), number(micros), per_second(micros))
    return table


def per_second(micros: float | None) -> str:
    return f"{1e6 / micros:,.0f}" if micros else ""


# --- Markdown ---------------------------------------------------------------------------------------


def markdown(cases: list[Case]) -> str:
    """All cases: a heading for each workload, a table for each size."""
    parts: list[str] = []
    workload = None
    for case in cases:
        if case.workload != workload:
            workload = case.workload
            parts.append(f"### {workload}\n\n{case.title}.")
        parts.append(f"**{case.name}**: {facts(case)}.")
        rows = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1))]
        rows += [tuple(cells(case, c)) for c in case.competitors if c.micros is not None]
        parts.append(lines(rows))
        remarks = [*fewer(case), *absent(case)]
        if remarks:
            parts.append("\n".join(f"- {remark}" for remark in remarks))
    parts.append(markdown_from_python(cases))
    return "\n\n".join(part for part in parts if part)


def summary(cases: list[Case], engine: str) -> str:
    """One engine on the largest case of each workload: its time, and how many times longer others take."""
    largest: dict[tuple[str, str], Case] = {}
    for case in cases:
        kept = largest.get((case.workload, case.label))
        if kept is None or kept.subscriptions < case.subscriptions:
            largest[case.workload, case.label] = case
    rivals = ("tight scan", "scan", "a-tree crate", "Python eval")
    headings = ("", "subscriptions", "matches", "us an event", *rivals)
    rows = [headings, ("---", *["---:"] * (len(headings) - 1))]
    for case in largest.values():
        own = _micros(case, engine)
        if own is None:
            continue
        title = f"{case.title}, {case.label}" if case.label else case.title
        rows.append(
            (
                title,
                f"{case.subscriptions:,}",
                number(case.matches / case.events),
                number(own),
                *(_times_longer(cases, case, engine, rival) for rival in rivals),
            )
        )
    return lines(rows)


def _micros(case: Case, name: str) -> float | None:
    return next((c.micros for c in case.competitors if c.name == name), None)


def _times_longer(cases: list[Case], case: Case, engine: str, rival: str) -> str:
    """The ratio on the case, or on the largest one that the rival takes; then the size is said."""
    alike = (c for c in cases if (c.workload, c.label) == (case.workload, case.label))
    for other in sorted(alike, key=lambda each: -each.subscriptions):
        own, its = _micros(other, engine), _micros(other, rival)
        if own and its:
            size = "" if other is case else f" at {other.subscriptions:,}"
            return f"{number(its / own)}x{size}"
    return ""


def markdown_from_python(cases: list[Case]) -> str:
    """All cases that were run from Python: one row each, events a second."""
    measured = [(case, case.from_python) for case in cases if case.from_python]
    if not measured:
        return ""
    ways = list(dict.fromkeys((way.name, way.threads) for _, python in measured for way in python.ways))
    names = [f"`{name}`" + (f", {threads} threads" if threads > 1 else "") for name, threads in ways]
    rows = [("case", "engine", "core, one by one", *names), ("---", "---", *["---:"] * (len(ways) + 1))]
    for case, python in measured:
        core = next(c for c in case.competitors if c.name == python.engine)
        micros = {(way.name, way.threads): way.microseconds_per_event for way in python.ways}
        rates = [per_second(micros.get(way)) for way in ways]
        rows.append((case.name, f"`{python.engine}`", per_second(core.one), *rates))
    intro = "Events a second, with the engine that was quickest in the core:"
    return f"### From Python\n\n{intro}\n\n{lines(rows)}"


def lines(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
