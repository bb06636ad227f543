"""``tamis spark``: each step of the pipeline as a command.

One module for each step, or for a few that belong together. Every step has ``add_parser``, which describes
its arguments, and ``work``, which calls a public function of ``tamis.spark`` and says what it did. Nothing of
Spark is imported before a step runs, so that help answers at once.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.arguments import add_command
from tamis.cli.pipeline import (
    build,
    changes,
    compact,
    generate,
    ingest,
    match,
    profile,
    publish,
    stream,
    vacuum,
)

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands

STEPS = (generate, ingest, profile, build, match, stream, changes, compact, publish, vacuum)

_DESCRIPTION = """Run a step of the data pipeline on Spark: on this machine, or where --master says. Tables
are Parquet, JSON lines or CSV, files or folders; what is written is Parquet. Needs Java 17
and pip install 'tamis[spark]'."""

_EPILOG = """examples:
  tamis spark generate work --preset ads --subscriptions 100000 --events 50000
  tamis spark profile work/events profile
  tamis spark build work/subscriptions index --shards 4 --stats profile/sample
  tamis spark match work/events index matches
  tamis spark changes changes.jsonl index

`tamis spark STEP --help` has more about each step; `tamis demo` runs them all.
"""


def add_parser(commands: Commands) -> None:
    """Describe the subcommand and its steps."""
    parser = add_command(commands, "spark", "run a step of the pipeline on Spark", _DESCRIPTION, _EPILOG)
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    for step in STEPS:
        step.add_parser(steps)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from tamis.cli.pipeline.running import run_step

    return run_step(arguments)
