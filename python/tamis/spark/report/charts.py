"""Charts as SVG text. They have a white background, for dark pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
MARGIN, TITLE, FOOT = 20, 58, 34
# Widths of the names left of horizontal bars, and of the figures right of them.
NAMES, FIGURES = 110, 190
BAR, GAP = 14, 7
PLOT_HEIGHT = 190

INK, FAINT, GRID, GROUND = "#1b1f24", "#57606a", "#d8dee4", "#ffffff"
COLOURS = ("#0969da", "#d4a72c", "#54aeff")


@dataclass(frozen=True, slots=True)
class BarRow:
    """A row of a bar chart: a name, and for each series a value and its label; None for no value."""

    name: str
    values: tuple[tuple[float, str] | None, ...]


def bars(title: str, subtitle: str, rows: Sequence[BarRow], series: Sequence[str] = ("",)) -> str:
    """Draw horizontal bars from zero; several series are below each other in different colors."""
    most = max((value[0] for row in rows for value in row.values if value), default=0.0)
    length = WIDTH - 2 * MARGIN - NAMES - FIGURES

    def at(value: float) -> float:
        return length * value / most if most else 0.0

    return _bars(title, subtitle, rows, series, at, [])


def log_bars(title: str, subtitle: str, rows: Sequence[BarRow]) -> str:
    """Draw horizontal bars on a logarithmic scale, with a line at each power of ten."""
    values = [value[0] for row in rows for value in row.values if value and value[0] > 0]
    low = math.floor(math.log10(min(values))) if values else 0
    high = max(math.ceil(math.log10(max(values))), low + 1) if values else 1
    length = WIDTH - 2 * MARGIN - NAMES - FIGURES

    def at(value: float) -> float:
        return length * (math.log10(value) - low) / (high - low) if value > 0 else 0.0

    ticks = [(at(10.0**power), short(10.0**power)) for power in range(low, high + 1)]
    return _bars(title, subtitle, rows, ("",), at, ticks)


def _bars(
    title: str,
    subtitle: str,
    rows: Sequence[BarRow],
    series: Sequence[str],
    at: Callable[[float], float],
    ticks: Sequence[tuple[float, str]],
) -> str:
    left, top = MARGIN + NAMES, TITLE + (20 if len(series) > 1 else 0)
    row_height = BAR * len(series) + GAP
    bottom = top + row_height * max(len(rows), 1)
    parts = _legend(series) if len(series) > 1 else []
    for x, text in ticks:
        parts.append(f'<path d="M{left + x:.1f} {top - 2}V{bottom + 3}" stroke="{GRID}"/>')
        parts.append(_text(left + x, bottom + 16, text, anchor="middle", size=10, fill=FAINT))
    for number, row in enumerate(rows):
        y = top + number * row_height
        middle = y + BAR * len(series) / 2 + 4
        parts.append(_text(left - 8, middle, row.name, anchor="end"))
        for place, value in enumerate(row.values):
            if value is None:
                continue
            length = max(at(value[0]), 1.0)
            bar_top = y + place * BAR
            parts.append(
                f'<rect x="{left}" y="{bar_top + 1}" width="{length:.1f}" height="{BAR - 2}" '
                f'fill="{COLOURS[place]}"/>'
            )
            parts.append(_text(left + length + 5, bar_top + BAR - 3, value[1], size=11))
    return _svg(title, subtitle, parts, bottom + (FOOT if ticks else MARGIN))


def histogram(title: str, subtitle: str, bins: Sequence[tuple[int, int, int]], axis: str) -> str:
    """Draw columns: each bin has a first and a last number, and a count that is its height."""
    left, right, top = MARGIN + 56, WIDTH - MARGIN, TITLE + 8
    bottom = top + PLOT_HEIGHT
    most = nice_ceiling(max((count for _, _, count in bins), default=1))
    parts = []
    for quarter in range(5):
        y = bottom - PLOT_HEIGHT * quarter / 4
        parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="{GRID}"/>')
        parts.append(_text(left - 8, y + 4, short(most * quarter / 4), anchor="end", size=10, fill=FAINT))
    step = (right - left) / max(len(bins), 1)
    # Labels have up to seven characters, about 50 units.
    every = max(1, math.ceil(52 / step))
    for place, (first, last, count) in enumerate(bins):
        x, height = left + place * step, PLOT_HEIGHT * count / most
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{bottom - height:.1f}" width="{max(step - 2, 1):.1f}" '
            f'height="{height:.1f}" fill="{COLOURS[0]}"><title>{span(first, last)}: {count:,}</title></rect>'
        )
        if place % every == 0:
            label = span(first, last)
            parts.append(_text(x + step / 2, bottom + 15, label, anchor="middle", size=10, fill=FAINT))
    parts.append(_text((left + right) / 2, bottom + 34, axis, anchor="middle", size=11, fill=FAINT))
    return _svg(title, subtitle, parts, bottom + 50)


def span(first: int, last: int) -> str:
    """Format a range of numbers.

    >>> span(3, 3), span(4, 7)
    ('3', '4-7')
    """
    return str(first) if first == last else f"{first}-{last}"


def short(value: float) -> str:
    """Format a number in few characters.

    >>> short(950), short(12_500), short(3_000_000), short(2.5)
    ('950', '12.5k', '3M', '2.5')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def nice_ceiling(value: float) -> float:
    """Return the end of an axis: a round number that is at least the value and divisible into four steps.

    >>> nice_ceiling(37), nice_ceiling(3), nice_ceiling(8_100)
    (40.0, 4.0, 12000.0)
    """
    size = 10.0 ** math.floor(math.log10(max(value, 1)))
    # At least 4, so that a quarter of the axis is a whole number.
    return next(times * size for times in (1, 1.2, 2, 4, 6, 8, 12) if times * size >= max(value, 4))


def _legend(series: Sequence[str]) -> list[str]:
    parts, x = [], float(MARGIN)
    for name, colour in zip(series, COLOURS, strict=False):
        parts.append(f'<rect x="{x}" y="{TITLE - 6}" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(x + 15, TITLE + 3, name, size=11, fill=FAINT))
        # 6.6 units: upper bound of the mean letter width at this size.
        x += 15 + 6.6 * len(name) + 18
    return parts


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, fill: str = INK, weight: str = ""
) -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"{bold}>'
        f"{escape(text)}</text>"
    )


def _svg(title: str, subtitle: str, parts: Sequence[str], height: float) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            'font-family="sans-serif" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:.0f}" rx="8" fill="{GROUND}" '
            'stroke="#d0d7de"/>',
            _text(MARGIN, 26, title, size=15, weight="bold"),
            _text(MARGIN, 43, subtitle, size=11, fill=FAINT),
            *parts,
            "</svg>",
        ]
    )
