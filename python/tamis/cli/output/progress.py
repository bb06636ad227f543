"""A progress bar on stderr, shown only on a terminal and only for work of more than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_DELAY_SECONDS = 1.0


class ProgressMeter:
    """Counts completed work, and shows a bar after `_DELAY_SECONDS`.

    >>> with ProgressMeter("loading", total=3, enabled=False) as meter:
    ...     meter.advance(3)
    """

    def __init__(self, title: str, total: int | None, enabled: bool = True) -> None:
        self._title = title
        self._total = total
        self._enabled = enabled and sys.stderr.isatty()
        self._began = time.monotonic()
        self._done = 0
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        """Start the clock."""
        self._began = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar[0].stop()

    def advance(self, amount: int) -> None:
        """Add to the completed work."""
        if not self._enabled:
            return
        self._done += amount
        if self._bar is not None:
            progress, task = self._bar
            progress.update(task, completed=self._done)
        elif time.monotonic() - self._began > _DELAY_SECONDS:
            self._bar = self._start()

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            # Messages on stderr appear above the bar; stdout may be a pipe and must stay untouched.
            redirect_stdout=False,
        )
        progress.start()
        return progress, progress.add_task(self._title, total=self._total, completed=self._done)
