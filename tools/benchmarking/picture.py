"""A run as a picture: one panel a case, one bar a competitor, the time of an event on a logarithmic scale.

Written by hand as SVG. It brings its own white ground, as all our pictures do, so dark pages show it too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

from benchmarking.record import Case, Competitor, Run
from benchmarking.tables import number

COLUMNS = 2
# The names of competitors, the bars, the figures behind them.
NAMES, BARS, FIGURES = 96, 310, 154
PANEL_WIDTH = NAMES + BARS + FIGURES
ROW, HEAD, FOOT = 19, 40, 34
MARGIN, TITLE = 20, 66

INK, FAINT, GRID, GROUND = "#1b1f24", "#57606a", "#d8dee4", "#ffffff"
OURS, YARDSTICK, OTHERS, FASTEST = "#54aeff", "#afb8c1", "#d4a72c", "#0969da"
RIVALS = {"a-tree crate", "Python eval"}


def draw(run: Run) -> str:
    """The cases that are marked for it, side by side."""
    cases = [case for case in run.cases if case.picture]
    low, high = scale(cases)
    parts, top = [], TITLE
    for start in range(0, len(cases), COLUMNS):
        row = cases[start : start + COLUMNS]
        for column, case in enumerate(row):
            parts.append(panel(case, MARGIN + column * PANEL_WIDTH, top, low, high))
        top += max(height(case) for case in row)
    width, bottom = 2 * MARGIN + COLUMNS * PANEL_WIDTH, top + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" '
            f'font-family="sans-serif" font-size="12" fill="{INK}">',
            "  <title>Time to match one event, by workload and competitor</title>",
            f'  <rect x="0.5" y="0.5" width="{width - 1}" height="{bottom - 1}" rx="8" '
            f'fill="{GROUND}" stroke="#d0d7de"/>',
            f'  <text x="{MARGIN}" y="30" font-size="17" font-weight="bold">'
            "Time to match one event, on one thread"
            f'<tspan dx="12" font-size="12" font-weight="normal" fill="{FAINT}">logarithmic scale; '
            "in brackets: how many times faster than the yardstick</tspan></text>",
            legend(MARGIN, 50),
            *parts,
            "</svg>\n",
        ]
    )


def scale(cases: list[Case]) -> tuple[int, int]:
    """The powers of ten that all bars lie between."""
    times = [c.micros for case in cases for c in case.competitors if c.micros]
    return math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))


def legend(x: int, y: int) -> str:
    parts = [f'  <g font-size="12" fill="{FAINT}">']
    entries = [
        (FASTEST, "fastest", 80),
        (OURS, "tamis", 70),
        (YARDSTICK, "yardstick: evaluates every rule", 222),
        (OTHERS, "other systems", 110),
    ]
    for colour, text, width in entries:
        parts.append(f'    <rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'    <text x="{x + 15}" y="{y}">{text}</text>')
        x += width
    parts.append(
        f'    <path d="M{x + 5} {y - 10}v12" stroke="{INK}" stroke-width="1.5"/>'
        f'<text x="{x + 15}" y="{y}">each event in a call of its own '
        "(bars: all in one call, where there is one)</text>"
    )
    return "\n".join([*parts, "  </g>"])


def height(case: Case) -> int:
    return HEAD + ROW * len(case.competitors) + FOOT


def panel(case: Case, x: int, y: int, low: int, high: int) -> str:
    left = x + NAMES
    bottom = y + HEAD + ROW * len(case.competitors)

    def at(micros: float) -> float:
        return round(left + BARS * (math.log10(micros) - low) / max(high - low, 1), 1)

    parts = [
        f'  <g><text x="{x}" y="{y + 16}" font-weight="bold">{escape(case.title)}</text>',
        f'    <text x="{x}" y="{y + 32}" fill="{FAINT}">{escape(subtitle(case))}</text>',
    ]
    for power in range(low, high + 1):
        tick = at(10.0**power)
        parts.append(f'    <path d="M{tick} {y + HEAD}V{bottom + 3}" stroke="{GRID}"/>')
        parts.append(
            f'    <text x="{tick}" y="{bottom + 15}" text-anchor="middle" font-size="10" fill="{FAINT}">'
            f"{axis(power)}</text>"
        )
    for row, competitor in enumerate(case.competitors):
        parts.append(bar(case, competitor, x, y + HEAD + ROW * row, left, at))
    return "\n".join([*parts, "  </g>"])


def subtitle(case: Case) -> str:
    label = f"{case.label}, " if case.label else ""
    matches = number(case.matches / case.events)
    return f"{label}{case.subscriptions:,} subscriptions; an event matches {matches}"


def axis(power: int) -> str:
    """A time as one says it."""
    if power < 3:
        return f"{10.0**power:g} µs"
    return f"{10 ** (power - 3)} ms" if power < 6 else f"{10 ** (power - 6)} s"


def duration(micros: float) -> str:
    """A time with three digits."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if micros >= size:
            return f"{number(micros / size)} {unit}"
    return f"{number(micros)} µs"


def bar(case: Case, competitor: Competitor, x: int, y: int, left: int, at: Callable[[float], float]) -> str:
    name = f'    <text x="{left - 6}" y="{y + 13}" text-anchor="end">{escape(competitor.name)}</text>'
    if competitor.micros is None:
        reason = (competitor.absent or "").split(":")[0]
        return (
            f'{name}<text x="{left + 4}" y="{y + 13}" font-size="11" fill="{FAINT}">{escape(reason)}</text>'
        )
    end = max(at(competitor.micros), left + 1)
    ratio = (case.yardstick.micros or 0.0) / competitor.micros
    figure = duration(competitor.micros)
    if competitor is not case.yardstick:
        figure += f" ({number(ratio)}x)" if ratio >= 1 else f" ({number(1 / ratio)}x slower)"
    mark = ""
    behind = end
    if competitor.many is not None and competitor.one is not None:
        tick = at(competitor.one)
        mark = f'<path d="M{tick} {y + 3}v13" stroke="{INK}" stroke-width="1.5"/>'
        behind = max(end, tick)
    return (
        f'{name}<rect x="{left}" y="{y + 3}" width="{round(end - left, 1)}" height="13" '
        f'fill="{colour(case, competitor)}"/>{mark}'
        f'<text x="{behind + 5}" y="{y + 13}" font-size="11">{figure}</text>'
    )


def colour(case: Case, competitor: Competitor) -> str:
    if competitor is case.fastest:
        return FASTEST
    if competitor is case.yardstick:
        return YARDSTICK
    return OTHERS if competitor.name in RIVALS else OURS
