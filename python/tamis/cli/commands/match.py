"""``tamis match``: which rules does each event match?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tamis import TamisError
from tamis.cli.arguments import FORMATS, add_command, add_files, at_least_one, thread_count
from tamis.cli.exits import HELP as EXIT_CODES
from tamis.cli.exits import Exit
from tamis.cli.input.bulk import run_in_bulk
from tamis.cli.input.rules import error_text, load_index, skip, stop
from tamis.cli.output.event_names import EventName, by_field, by_number
from tamis.cli.output.progress import ProgressMeter
from tamis.cli.output.views import CountsView, Hit, IdsView, TopView, View
from tamis.cli.output.writers import choose_writer
from tamis.files import EventChunk, open_events
from tamis.files.overlap import refuse_output_stream

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands

_DESCRIPTION = """Print the ids of the rules that each event matches, in the order of the rules file.

A terminal gets a table. A pipe gets lines of event<TAB>id, and event<TAB>id<TAB>score with
--top-k. With --json there is one object per event and line, also for events without a match:
{"event": 7, "ids": ["a", "b"]}, {"event": 7, "count": 2} with --count,
{"event": 7, "ids": [{"id": "a", "score": 2.0}]} with --top-k."""

_EXAMPLES = """examples:
  tamis match rules.txt events.jsonl
  tamis match campaigns.csv bids.parquet --json > matches.jsonl
  tamis match rules.tsv events.jsonl --id-field request.id --top-k 3
  tail -f app.jsonl | tamis match alerts.txt - --json
  if tamis match rules.txt one-event.jsonl --count > /dev/null; then echo matched; fi
"""


def add_parser(commands: Commands) -> None:
    """Add the command."""
    epilog = "\n".join([FORMATS, EXIT_CODES, _EXAMPLES])
    summary = "print the rules that each event matches"
    parser = add_command(commands, "match", summary, _DESCRIPTION, epilog)
    add_files(parser)
    parser.add_argument("--engine", default="auto", help="see `tamis engines` (default: auto)")
    parser.add_argument("--threads", type=thread_count, metavar="N", help="default: one per core")
    parser.add_argument("--limit", type=at_least_one, metavar="N", help="stop after N events")
    parser.add_argument(
        "--id-field", metavar="NAME", help="name events by this field (a.b is a field of an object)"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--top-k", type=at_least_one, metavar="N", help="the N best matches with their scores, best first"
    )
    shown.add_argument("--count", action="store_true", help="print the number of matching rules only")
    parser.add_argument("--json", action="store_true", help="one JSON object per event and line")
    parser.add_argument(
        "--skip-bad-rules", action="store_true", help="report bad rules, and continue without them"
    )
    parser.add_argument(
        "--skip-bad-events", action="store_true", help="report bad events, and continue without them"
    )
    parser.add_argument(
        "--no-progress", dest="progress", action="store_false", help="never show a progress bar"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Match the events and print the results."""
    if arguments.top_k is not None:
        return _match(arguments, TopView(arguments.top_k))
    if arguments.count:
        return _match(arguments, CountsView(arguments.threads))
    return _match(arguments, IdsView(arguments.threads))


def _match(arguments: argparse.Namespace, view: View[Hit]) -> int:
    refuse_output_stream(sys.stdout, [arguments.rules, arguments.events])
    on_error = skip if arguments.skip_bad_events else stop
    # Opened before the rules are loaded, so that a wrong file name is reported early.
    source = open_events(
        arguments.events,
        arguments.events_format,
        lambda error: on_error(error.place, error.message),
    )
    index = load_index(arguments, skip if arguments.skip_bad_rules else stop)
    naming = by_number if arguments.id_field is None else by_field(arguments.id_field)
    writer = choose_writer(view, arguments.json)
    any_match = False

    def match_chunk(chunk: EventChunk) -> None:
        def query(start: int, stop: int) -> tuple[Sequence[EventName], Sequence[Sequence[Hit]]]:
            part = chunk.part(start, stop)
            return naming(part), view.query(index, part)

        def report(row: int, error: TamisError) -> None:
            on_error(source.place(chunk.numbers[row]), error_text(error))

        nonlocal any_match
        for _, _, (names, results) in run_in_bulk(len(chunk), query, report):
            writer.write(names, results)
            any_match = any_match or any(results)

    # On a terminal the rows themselves show progress, and a bar would interleave with them.
    show_bar = arguments.progress and not sys.stdout.isatty()
    with ProgressMeter("matching events", source.total, show_bar) as meter:
        for chunk in _limited(source.chunks(), arguments.limit):
            match_chunk(chunk)
            meter.advance(chunk.size)
    return Exit.MATCHED if any_match else Exit.NOTHING_MATCHED


def _limited(chunks: Iterator[EventChunk], limit: int | None) -> Iterator[EventChunk]:
    """Yield the first ``limit`` events, and read no further chunks."""
    left = limit
    for chunk in chunks:
        if left is None or len(chunk) < left:
            yield chunk
        else:
            yield chunk.part(0, left)
            return
        if left is not None:
            left -= len(chunk)
