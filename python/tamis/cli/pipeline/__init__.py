"""``tamis spark``: each step of the pipeline as a command.

One module per step in ``steps/``: ``add_parser`` defines its arguments, and ``execute`` calls a public
function of ``tamis.spark`` and logs the result. Spark is imported only when a step runs, so that help is
fast.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.arguments import add_command
from tamis.cli.pipeline.steps import (
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

_DESCRIPTION = """Run a step of the data pipeline on Spark: on this machine, or on the one that --master
names. Input tables are Parquet, JSON lines or CSV, files or folders; output is Parquet. Needs
Java 17 and pip install 'tamis[spark]'."""

_EPILOG = """examples:
  tamis spark generate work --preset ads --subscriptions 100000 --events 50000
  tamis spark profile work/events profile
  tamis spark build work/subscriptions index --shards 4 --stats profile/sample
  tamis spark match work/events index matches
  tamis spark changes changes.jsonl index

`tamis spark STEP --help` describes each step; `tamis demo` runs them all.
"""


def add_parser(commands: Commands) -> None:
    """Add the command and its steps."""
    parser = add_command(commands, "spark", "run a step of the pipeline on Spark", _DESCRIPTION, _EPILOG)
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    for step in STEPS:
        step.add_parser(steps)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from tamis.cli.pipeline.run import run_step

    return run_step(arguments)
