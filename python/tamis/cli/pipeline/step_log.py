"""Shows the steps of a command with their durations, and records them for a report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tamis.cli.output.console import output_console, plain

if TYPE_CHECKING:
    from tamis.spark.report import Step


@dataclass
class Note:
    """The result of a step, filled in by the step: a text, and the number of rows for the throughput."""

    text: str = ""
    rows: int = 0
    unit: str = "rows"


class StepLog:
    """Shows a spinner while a step runs on a terminal, and prints a line when it is done.

    Attributes:
        done: The completed steps.
    """

    def __init__(self) -> None:
        self._console = output_console()
        self.done: list[Step] = []

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[Note]:
        """Run a step; the note's text is printed after the step's name.

        Args:
            name: The step's name.
            doing: The text of the spinner.
        """
        from tamis.spark.report import Step

        note = Note()
        began = time.perf_counter()
        with self._spinner(f"{name}: {doing}"):
            yield note
        done = Step(name, note.text, note.rows, note.unit, time.perf_counter() - began)
        self.done.append(done)
        line = plain(f"{name:<9}", "bold cyan")
        line.append(f"{done.seconds:7.1f} s  ", "dim")
        line.append(note.text)
        self._console.print(line, soft_wrap=True)

    def print_line(self, text: str, style: str = "") -> None:
        """Print a line that belongs to no step."""
        self._console.print(plain(text, style), soft_wrap=True)

    @contextmanager
    def _spinner(self, title: str) -> Iterator[None]:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        with progress:
            progress.add_task(title, total=None)
            yield
