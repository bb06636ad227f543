"""Calls the Rust runner, `crates/tamis-bench`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarking.record import ROOT, Case, case_from


class WrongAnswer(Exception):
    """A competitor was wrong, or a generator has changed; the text says where."""


class RunnerFailed(Exception):
    """The runner did not run; it has said why."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the runner ended with code {code}")
        self.code = code


@dataclass(frozen=True)
class Runner:
    """How the runner is called."""

    # Built already; otherwise cargo builds it.
    binary: Path | None
    # Of benchmarks if None.
    definitions: Path | None
    engines: str | None
    quick: bool
    subscriptions: int | None

    @property
    def is_complete(self) -> bool:
        """Whether every competitor takes part, in all workloads of benchmarks and their sizes."""
        is_whole = self.engines is None and self.subscriptions is None and self.definitions is None
        return is_whole and not self.quick

    def workloads(self, only: str | None) -> dict[str, str]:
        """The workloads there are, or those named, with their titles."""
        selection = ["--only", only] if only else []
        lines = self._call("--list", *selection).splitlines()
        return {name: title for name, _, title in (line.partition("\t") for line in lines)}

    def run(self, workload: str, folder: Path) -> list[Case]:
        """Run all cases of a workload; those that Python can run too are left in the folder."""
        command = ["--only", workload, "--write", str(folder)]
        command += ["--quick"] if self.quick else []
        command += ["--engines", self.engines] if self.engines else []
        command += ["--subscriptions", str(self.subscriptions)] if self.subscriptions else []
        return [case_from(case) for case in json.loads(self._call(*command))]

    def _call(self, *options: str) -> str:
        command = ["cargo", "run", "--quiet", "--locked", "--release", "-p", "tamis-bench", "--"]
        if self.binary:
            command = [str(self.binary)]
        if self.definitions:
            options = ("--definitions", str(self.definitions.resolve()), *options)
        # Progress goes to standard error, and so straight to the terminal.
        done = subprocess.run([*command, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if done.returncode == 1:
            raise WrongAnswer(done.stdout.rstrip())
        if done.returncode:
            raise RunnerFailed(done.returncode)
        return done.stdout
