"""``tamis explain``: why does a rule match an event, or not?"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from typing import TYPE_CHECKING

import tamis
from tamis import TamisError
from tamis.cli.arguments import FORMATS, add_command, add_files, at_least_one
from tamis.cli.exits import HELP as EXIT_CODES
from tamis.cli.exits import Exit
from tamis.cli.input.rules import read_rules_file, rule_error, stop, warnings_about
from tamis.cli.output.console import explanation_tree, output_console, plain
from tamis.files import EventChunk, InputError, Rule, RulesFile, open_events
from tamis.files.overlap import refuse_output_stream

if TYPE_CHECKING:
    from tamis import Explanation
    from tamis.cli.arguments import Commands

_DESCRIPTION = """Show why a rule matches an event or not: each part of the expression with its truth
(TRUE, FALSE, or UNKNOWN if a value is missing or of another kind), and for each predicate the
event's value. A rule matches if its whole expression is TRUE.

With --json the output is one object: {"id": .., "event": N, "matches": true, "explanation": {..}}."""

_EXAMPLES = """examples:
  tamis explain rules.txt events.jsonl --id 3              the rule on line 3, the first event
  tamis explain ads.tsv bids.parquet --id ad-17 --event 2
  tamis explain ads.tsv bids.jsonl --id ad-17 --json | jq .explanation
"""


def add_parser(commands: Commands) -> None:
    """Add the command."""
    epilog = "\n".join([FORMATS, EXIT_CODES, _EXAMPLES])
    summary = "show why a rule matches an event, or does not"
    parser = add_command(commands, "explain", summary, _DESCRIPTION, epilog)
    add_files(parser)
    parser.add_argument("--id", required=True, help="the id of the rule")
    parser.add_argument(
        "--event", type=at_least_one, metavar="N", help="the number of the event (default: the first)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain one rule for one event."""
    refuse_output_stream(sys.stdout, [arguments.rules, arguments.events])
    file = read_rules_file(arguments, on_error=_ignore)
    rule = _find_rule(file, arguments.id)
    number, event = _find_event(arguments)
    explanation = _explain(arguments, file, rule, event)
    matches = explanation.truth == "TRUE"
    if arguments.json:
        record = {
            "id": rule.id,
            "event": number,
            "matches": matches,
            "explanation": explanation.to_dict(),
        }
        print(json.dumps(record, ensure_ascii=False, default=str))
    elif sys.stdout.isatty():
        console = output_console()
        verb = "matches" if matches else "does not match"
        console.print(plain(f"rule {rule.id} {verb} event {number}", "bold"))
        console.print(explanation_tree(explanation))
    else:
        print(explanation)
    return Exit.MATCHED if matches else Exit.NOTHING_MATCHED


def _ignore(location: str, reason: str) -> None:
    """Ignore a bad record: only the explained rule must be valid."""


def _find_rule(file: RulesFile, id: str) -> Rule:
    """Return the rule with an id given as text; digits also find an integer id."""
    for rule in file.rules:
        if rule.id == id:
            return rule
    for rule in file.rules:
        if str(rule.id) == id:
            return rule
    close = difflib.get_close_matches(id, [str(rule.id) for rule in file.rules[:10_000]])
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise InputError(str(file.path), f"no rule has the id {id!r}{hint}")


def _find_event(arguments: argparse.Namespace) -> tuple[int, EventChunk]:
    """Return the number and the event that --event names, or the first one, as a chunk of one."""
    source = open_events(arguments.events, arguments.events_format, lambda error: None)
    requested: int | None = arguments.event
    last = 0
    for chunk in source.chunks():
        number = chunk.numbers[0] if requested is None else requested
        if number in chunk.numbers:
            row = chunk.numbers.index(number)
            return number, chunk.part(row, row + 1)
        last = chunk.numbers[-1]
        if last > number:
            raise InputError(source.place(number), "there is no event here")
    if last == 0:
        raise InputError(str(arguments.events), "there are no events")
    raise InputError(str(arguments.events), f"there is no event {requested}; the last one is {last}")


def _explain(arguments: argparse.Namespace, file: RulesFile, rule: Rule, event: EventChunk) -> Explanation:
    """Explain with an index of this rule alone; the other rules need not be valid."""
    index = tamis.Index(missing=arguments.missing)
    try:
        with warnings_about(file.path):
            index.add(rule.id, rule.text)
    except TamisError as error:
        stop(*rule_error(file, rule, error))
    return index.explain(rule.id, event.mappings()[0])
