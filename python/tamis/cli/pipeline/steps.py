"""What is being done, what was done, and how long that took: on the console, and for a report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tamis.cli.console import output_console, plain

if TYPE_CHECKING:
    from tamis.spark.report import Step


@dataclass
class Note:
    """What a step says of itself once it is done."""

    text: str = ""
    rows: int = 0
    unit: str = "rows"


class Steps:
    """Shows each step while it runs, if a person watches, and prints a line when it is done.

    Attributes:
        done: The steps so far.
    """

    def __init__(self) -> None:
        self._console = output_console()
        self.done: list[Step] = []

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[Note]:
        """Run a step; what the caller writes into the note is printed behind its name.

        Args:
            name: One word.
            doing: What to show while it runs.
        """
        from tamis.spark.report import Step

        note = Note()
        began = time.perf_counter()
        with self._watching(f"{name}: {doing}"):
            yield note
        done = Step(name, note.text, note.rows, note.unit, time.perf_counter() - began)
        self.done.append(done)
        line = plain(f"{name:<9}", "bold cyan")
        line.append(f"{done.seconds:7.1f} s  ", "dim")
        line.append(note.text)
        self._console.print(line, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        """Print a line of its own."""
        self._console.print(plain(text, style), soft_wrap=True)

    @contextmanager
    def _watching(self, title: str) -> Iterator[None]:
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
