"""Loads a rules file into an index, and turns errors of the index into locations in the file."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import tamis
from tamis import DuplicateId, ParseError, TamisError
from tamis.cli.exits import CommandError
from tamis.cli.input.bulk import run_in_bulk
from tamis.cli.output.progress import ProgressMeter
from tamis.files import InputError, Rule, RulesFile, read_rules

# Rules per call: large for the speed of the index, small for the steps of the progress bar.
_RULES_PER_CALL = 50_000
_MAX_WARNINGS = 20

ErrorHandler = Callable[[str, str], None]
"""Handles a bad record, given its location and the reason: ends the command, or prints a message."""


def stop(location: str, reason: str) -> NoReturn:
    """End the command at the first bad record."""
    raise CommandError(f"{location}: error: {reason}")


def skip(location: str, reason: str) -> None:
    """Print the reason, and continue without the record."""
    print(f"{location}: skipped: {reason}", file=sys.stderr)


def load_index(arguments: argparse.Namespace, on_error: ErrorHandler) -> tamis.Index:
    """Read the rules file and add its rules to an index."""
    index = tamis.Index(engine=arguments.engine, missing=arguments.missing)
    add_to_index(index, read_rules_file(arguments, on_error), on_error, arguments.progress)
    return index


def read_rules_file(arguments: argparse.Namespace, on_error: ErrorHandler) -> RulesFile:
    """Read the rules file, without parsing the expressions."""
    return read_rules(
        arguments.rules,
        arguments.rules_format,
        lambda error: on_error(error.place, error.message),
    )


def add_to_index(index: tamis.Index, file: RulesFile, on_error: ErrorHandler, progress: bool) -> None:
    """Add the rules of a file to an index."""
    rules = file.rules
    with warnings_about(file.path), ProgressMeter("loading rules", len(rules), progress) as meter:
        for first in range(0, len(rules), _RULES_PER_CALL):
            _add(index, file, rules[first : first + _RULES_PER_CALL], on_error)
            meter.advance(min(_RULES_PER_CALL, len(rules) - first))


def _add(index: tamis.Index, file: RulesFile, rules: list[Rule], on_error: ErrorHandler) -> None:
    def add(start: int, stop: int) -> None:
        some = rules[start:stop]
        index.add_many([rule.id for rule in some], [rule.text for rule in some])

    def report(row: int, error: TamisError) -> None:
        on_error(*rule_error(file, rules[row], error))

    for _ in run_in_bulk(len(rules), add, report):
        pass


def rule_error(file: RulesFile, rule: Rule, error: TamisError) -> tuple[str, str]:
    """Return the location of a bad rule in its file, and the reason."""
    reason = error_text(error)
    if isinstance(error, ParseError) and error.line is not None:
        reason = reason.removeprefix(f"line {error.line}, column {error.column}: ")
        if error.line == 1:
            return file.place(rule, error.column), reason
        within = f"line {error.line}, column {error.column} of the expression"
        return f"{file.place(rule)}: {within}", reason
    if isinstance(error, DuplicateId):
        first = next(other for other in file.rules if other.id == rule.id)
        reason = f"{reason}; it is first used at {file.place(first)}"
    return file.place(rule), reason


def error_text(error: TamisError) -> str:
    """Return an error's message without its row in the batch, which is not a row of the file."""
    if isinstance(error, InputError):
        return error.message
    row: int | None = getattr(error, "row", None)
    return str(error) if row is None else str(error).removeprefix(f"row {row}: ")


@contextmanager
def warnings_about(path: Path) -> Iterator[None]:
    """Print warnings as lines about a file, instead of about lines of tamis's source."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught[:_MAX_WARNINGS]:
        print(f"{path}: warning: {warning.message}", file=sys.stderr)
    if len(caught) > _MAX_WARNINGS:
        print(f"{path}: {len(caught) - _MAX_WARNINGS} more warnings", file=sys.stderr)
