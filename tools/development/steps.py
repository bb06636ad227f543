"""Steps: commands with a name, run one after another or beside each other, timed, and listed at the end.

A failing step shows its output, stops all other steps and ends the program with its name and exit code.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]

# Titles, seconds and processor seconds of finished steps, for the table at the end.
_finished: list[tuple[str, float, float | None]] = []


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


def fail(text: str, code: int = 1) -> NoReturn:
    print(f"dev.py: {text}", file=sys.stderr, flush=True)
    raise SystemExit(code)


@dataclass(frozen=True)
class Step:
    """A command that runs from the root of the repository.

    `needs` are the titles of steps that are done before it starts; `on_success` is called after exit code 0.
    """

    title: str
    command: Sequence[str]
    needs: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    on_success: Callable[[], None] | None = None


def exit_code(code: int) -> int:
    """An exit code as a shell gives it: 128 and the signal's number for a process that was killed."""
    return code if code >= 0 else 128 - code


def attempt(step: Step, environment: Mapping[str, str]) -> int:
    """Run a step with its output on the terminal; return its exit code."""
    say(step.title)
    started = time.monotonic()
    try:
        done = subprocess.run(step.command, cwd=ROOT, env={**environment, **step.variables})
    except FileNotFoundError:
        print(f"dev.py: {step.command[0]} was not found", file=sys.stderr)
        return 127
    _record(step.title, time.monotonic() - started)
    if done.returncode == 0 and step.on_success:
        step.on_success()
    return exit_code(done.returncode)


def run(step: Step, environment: Mapping[str, str]) -> None:
    """Run a step with its output on the terminal; a failure ends the program with the step's exit code."""
    if code := attempt(step, environment):
        fail_step(step, code)


def fail_step(step: Step, code: int) -> NoReturn:
    fail(
        f"step failed with exit code {code}: {step.title}\n        command: {shlex.join(step.command)}", code
    )


def run_beside(steps: Sequence[Step], environment: Mapping[str, str], at_once: int) -> None:
    """Run steps beside each other, at most `at_once` at a time, each when all that it needs are done.

    Of the steps that are ready, the one listed first starts first. A step's output is shown when it ends.
    """
    _Schedule(steps, environment, at_once).run()


class _Schedule:
    def __init__(self, steps: Sequence[Step], environment: Mapping[str, str], at_once: int) -> None:
        self.pending = list(steps)
        self.environment = environment
        self.at_once = at_once
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.done: set[str] = set()
        self.failed: tuple[Step, int] | None = None
        self.changed = threading.Condition()
        known = {step.title for step in steps}
        for step in steps:
            assert set(step.needs) <= known, f"{step.title} needs an unknown step"

    def run(self) -> None:
        threads: list[threading.Thread] = []
        try:
            with self.changed:
                while (self.pending or self.running) and self.failed is None:
                    ready = [step for step in self.pending if set(step.needs) <= self.done]
                    for step in ready[: self.at_once - len(self.running)]:
                        self.pending.remove(step)
                        threads.append(self._start(step))
                    self.changed.wait()
        finally:
            self._stop_all()
            for thread in threads:
                thread.join()
        if self.failed is not None:
            fail_step(*self.failed)

    def _start(self, step: Step) -> threading.Thread:
        say(f"{step.title} (started)")
        command, variables = step.command, {**self.environment, **step.variables}
        # A session of its own, so that stopping a step stops what it has started.
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.running[step.title] = process
        thread = threading.Thread(target=self._finish, args=(step, process, time.monotonic()))
        thread.start()
        return thread

    def _finish(self, step: Step, process: subprocess.Popen[bytes], started: float) -> None:
        assert process.stdout is not None
        with process.stdout:
            output = process.stdout.read()
        processor_seconds = _wait(process)
        seconds = time.monotonic() - started
        with self.changed:
            del self.running[step.title]
            stopped = self.failed is not None
            if not stopped:
                say(f"{step.title} ({seconds:.0f} s):")
                sys.stdout.buffer.write(output)
                sys.stdout.flush()
                _record(step.title, seconds, processor_seconds)
                _record_binaries(step.title, output.decode(errors="replace"))
                if process.returncode:
                    self.failed = (step, exit_code(process.returncode))
                else:
                    if step.on_success:
                        step.on_success()
                    self.done.add(step.title)
            self.changed.notify_all()

    def _stop_all(self) -> None:
        with self.changed:
            processes = list(self.running.values())
        for process in processes:
            if os.name == "nt":
                process.terminate()
            else:
                os.killpg(process.pid, signal.SIGTERM)


# --- the table at the end ---------------------------------------------------------------------------


def _wait(process: subprocess.Popen[bytes]) -> float | None:
    """Wait for a process; the processor seconds of it and its descendants where the system tells."""
    if sys.platform == "win32":
        process.wait()
        return None
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _record(title: str, seconds: float, processor_seconds: float | None = None) -> None:
    _finished.append((title, seconds, processor_seconds))


def _record_binaries(title: str, output: str) -> None:
    """Add a line for each test binary that took a second or more, from what `cargo test` prints of it."""
    for name, seconds in binaries(output):
        if seconds >= 1:
            _record(f"  {title}: {name}", seconds)


def binaries(output: str) -> list[tuple[str, float]]:
    """The test binaries that `cargo test` ran and the seconds each took, from its output."""
    found: list[tuple[str, float]] = []
    name = ""
    for line in output.splitlines():
        if doc := re.match(r"\s+Doc-tests (\S+)", line):
            name = f"doc-tests {doc[1]}"
        elif ran := re.match(r"\s+Running (unittests )?(\S+) \((\S+)\)", line):
            crate = Path(ran[3]).name.rsplit("-", 1)[0]
            name = f"{crate} {ran[2]}" if ran[1] else ran[2]
        if ended := re.search(r"finished in ([\d.]+)s", line):
            found.append((name, float(ended[1])))
    return found


def show_times() -> None:
    """Print what each step took."""
    say("seconds of each step, and seconds of processor time; steps that run beside others share the cores")
    for title, seconds, processor_seconds in _finished:
        of_processor = "" if processor_seconds is None else f"{processor_seconds:.1f}"
        print(f"{seconds:8.1f} {of_processor:>8}  {title}", flush=True)
