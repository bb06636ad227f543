"""The page of a report: charts, each with a table of its numbers. XHTML, which XML parsers read as well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from tamis.spark.report.charts import BarRow, bars, histogram, log_bars, short, span
from tamis.spark.report.facts import Run, bins_of

_STYLE = """body { font: 15px/1.5 sans-serif; color: #1b1f24; background: #f6f8fa; margin: 0; }
main { max-width: 800px; margin: 0 auto; padding: 24px; }
svg { width: 100%; height: auto; display: block; }
table { border-collapse: collapse; margin: 8px 0 24px; background: #fff; width: 100%; }
th, td { border: 1px solid #d0d7de; padding: 3px 9px; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
details { margin: 4px 0 24px; }
summary { cursor: pointer; color: #57606a; }
.check { border-left: 4px solid #1a7f37; padding-left: 12px; }"""


def write_page(run: Run, path: Path) -> None:
    """Write the report of a run to a file."""
    path.write_text(page(run), encoding="utf-8")


def page(run: Run) -> str:
    """Return the report of a run."""
    mean = run.matches / run.events if run.events else 0.0
    body = [
        f"<h1>{escape(run.title)}</h1>",
        f'<p><strong id="events">{run.events:,}</strong> events, '
        f'<strong id="matches">{run.matches:,}</strong> matches: {mean:.1f} per event.</p>',
        *(f'<p class="check">{escape(check)}</p>' for check in run.checks),
        "<h2>Steps</h2>",
        _steps(run),
        _throughput(run),
        "<h2>Matches</h2>",
        *_matches(run),
        "<h2>Events and rules</h2>",
        *_attributes(run),
        "<h2>The index</h2>",
        *_shards(run),
        "<h2>The stream</h2>",
        "<p>Rules changed while it ran; a batch has the version that was current when it began.</p>",
        _batches(run),
        "<h2>Settings</h2>",
        _table("settings", ("", ""), ((name, value) for name, value in run.settings.items())),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html xmlns="http://www.w3.org/1999/xhtml" lang="en">',
            f'<head><meta charset="utf-8"/><title>{escape(run.title)}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<style>{_STYLE}</style></head>",
            "<body><main>",
            *body,
            "</main></body></html>\n",
        ]
    )


def _steps(run: Run) -> str:
    rows = [(step.name, step.text, f"{step.seconds:.1f} s") for step in run.steps]
    total = sum(step.seconds for step in run.steps)
    rows.append(("all", "", f"{total:.1f} s"))
    return _table("steps", ("step", "result", "time"), rows, texts=(1,))


def _throughput(run: Run) -> str:
    rows = [
        BarRow(step.name, ((step.rate, f"{short(step.rate)} {step.unit}/s"),))
        for step in run.steps
        if step.rows
    ]
    return log_bars("Throughput of each step", "logarithmic scale; includes the start of workers", rows)


def _matches(run: Run) -> list[str]:
    bins = bins_of(run.matched)
    chart = histogram(
        "Matches per event",
        f"{run.events:,} events; the height of a column is their number",
        bins,
        "rules that an event matches",
    )
    rows = [(span(first, last), f"{events:,}") for first, last, events in bins]
    return [chart, _numbers("matched", ("matches", "events"), rows)]


def _attributes(run: Run) -> list[str]:
    series = (
        "events that have it",
        "rules that test it",
        "selectivity of its predicates",
    )
    rows = [
        BarRow(
            each.name,
            (
                (each.frequency, _percent(each.frequency)),
                (each.rule_share, _percent(each.rule_share)),
                None if each.selectivity is None else (each.selectivity, _percent(each.selectivity)),
            ),
        )
        for each in run.attributes
    ]
    chart = bars("The most frequent attributes", "shares of all events, and of all rules", rows, series)
    cells = [(row.name, *(value[1] if value else "" for value in row.values)) for row in rows]
    return [chart, _numbers("attributes", ("attribute", *series), cells)]


def _shards(run: Run) -> list[str]:
    rows = [
        BarRow(each.name, ((each.subscriptions, f"{each.subscriptions:,}, {short(each.bytes)}B"),))
        for each in run.shards
    ]
    chart = bars("Balance of shards", "rules in each shard file, and its size", rows)
    cells = [(each.name, f"{each.subscriptions:,}", f"{each.bytes:,}") for each in run.shards]
    return [chart, _numbers("shards", ("shard", "rules", "bytes"), cells)]


def _batches(run: Run) -> str:
    rows = [
        (str(each.number), each.version, f"{each.subscriptions:,}", f"{each.events:,}", f"{each.matches:,}")
        for each in run.batches
    ]
    return _table("batches", ("batch", "version", "rules", "events", "matches"), rows, texts=(1,))


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _numbers(id: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return f"<details><summary>numbers</summary>{_table(id, head, rows)}</details>"


def _table(id: str, head: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int] = ()) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="text"' if place in texts else "" for place in range(len(cells))]
        inner = (f"<{tag}{kind}>{escape(text)}</{tag}>" for text, kind in zip(cells, kinds, strict=True))
        return f"<tr>{''.join(inner)}</tr>"

    lines = [f'<table id="{id}">']
    if any(head):
        lines.append(line(head, "th"))
    lines += [line(row, "td") for row in rows]
    return "\n".join([*lines, "</table>"])
