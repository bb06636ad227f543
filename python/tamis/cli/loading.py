"""Turn a rules file into an index, and errors of the index into places in the file."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import tamis
from tamis.cli.around_bad_rows import around_bad_rows
from tamis.cli.exits import CommandError
from tamis.cli.progress import Meter
from tamis.errors import DuplicateId, ParseError, TamisError
from tamis.files import InputError, Rule, RulesFile, read_rules

# One call adds so many rules: few calls for the index, many steps for the progress bar.
_RULES_PER_CALL = 50_000
_MOST_WARNINGS = 20

Complain = Callable[[str, str], None]
"""Takes the place and the fault of a bad record: ends the command, or prints it and goes on."""


def stop(place: str, fault: str) -> NoReturn:
    """End the command at the first bad record."""
    raise CommandError(f"{place}: error: {fault}")


def skip(place: str, fault: str) -> None:
    """Print the fault, and go on without the record."""
    print(f"{place}: skipped: {fault}", file=sys.stderr)


def load_index(arguments: argparse.Namespace, complain: Complain) -> tamis.Index:
    """Read the rules file and add its rules to an index."""
    index = tamis.Index(engine=arguments.engine, missing=arguments.missing)
    fill(index, read_file(arguments, complain), complain, arguments.progress)
    return index


def read_file(arguments: argparse.Namespace, complain: Complain) -> RulesFile:
    """Read the rules file, without parsing the expressions."""
    return read_rules(
        arguments.rules,
        arguments.rules_format,
        lambda error: complain(error.place, error.message),
    )


def fill(index: tamis.Index, file: RulesFile, complain: Complain, progress: bool) -> None:
    """Add the rules of a file to an index."""
    rules = file.rules
    with warnings_about(file.path), Meter("loading rules", len(rules), progress) as meter:
        for first in range(0, len(rules), _RULES_PER_CALL):
            _add(index, file, rules[first : first + _RULES_PER_CALL], complain)
            meter.advance(min(_RULES_PER_CALL, len(rules) - first))


def _add(index: tamis.Index, file: RulesFile, rules: list[Rule], complain: Complain) -> None:
    def add(start: int, stop: int) -> None:
        some = rules[start:stop]
        index.add_many([rule.id for rule in some], [rule.text for rule in some])

    def report(row: int, error: TamisError) -> None:
        complain(*fault_of_rule(file, rules[row], error))

    for _ in around_bad_rows(len(rules), add, report):
        pass


def fault_of_rule(file: RulesFile, rule: Rule, error: TamisError) -> tuple[str, str]:
    """Say where in the file a rule is wrong, and what is wrong with it."""
    fault = fault_of(error)
    if isinstance(error, ParseError) and error.line is not None:
        fault = fault.removeprefix(f"line {error.line}, column {error.column}: ")
        if error.line == 1:
            return file.place(rule, error.column), fault
        within = f"line {error.line}, column {error.column} of the expression"
        return f"{file.place(rule)}: {within}", fault
    if isinstance(error, DuplicateId):
        first = next(other for other in file.rules if other.id == rule.id)
        fault = f"{fault}; it is first used at {file.place(first)}"
    return file.place(rule), fault


def fault_of(error: TamisError) -> str:
    """Give an error's message without the place in the batch: the place in the file says it better."""
    if isinstance(error, InputError):
        return error.message
    row: int | None = getattr(error, "row", None)
    return str(error) if row is None else str(error).removeprefix(f"row {row}: ")


@contextmanager
def warnings_about(path: Path) -> Iterator[None]:
    """Print warnings as plain lines about a file: the lines of tamis's own source say nothing here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught[:_MOST_WARNINGS]:
        print(f"{path}: warning: {warning.message}", file=sys.stderr)
    if len(caught) > _MOST_WARNINGS:
        print(f"{path}: {len(caught) - _MOST_WARNINGS} more warnings", file=sys.stderr)
