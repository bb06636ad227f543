"""``tamis demo``: the whole pipeline on Spark, from drawing a workload to a report with pictures.

| module | question it answers |
| --- | --- |
| `pipeline` | What is done, step by step? |
| `stream` | How do subscriptions change while events stream? |
| `checking` | Are the answers those of a plain scan? |
| `gathering` | What does the report show? |
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.cli.arguments import add_command, at_least_one
from tamis.cli.exits import CommandError, Exit

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands

_FOLDER = "tamis-demo"

_DESCRIPTION = f"""Run the whole pipeline on a Spark of this machine: draw advertisements and visitors,
take them in and set bad rows aside, profile them, build an index in shards, match all events, rank
the best matches, and match a stream while subscriptions change. The answers of some events are
compared with a plain scan. At the end there is a report with pictures.

Writes to a folder of its own: ./{_FOLDER} if that is not there yet, else a fresh temporary one.
Needs Java 17 and pip install 'tamis[spark]'. `tamis tour` shows matching itself, and needs neither."""

_EPILOG = """examples:
  tamis demo
  tamis demo --subscriptions 200000 --events 500000 --out large
  tamis demo --seed 7 --master "local[1]"
"""


def add_parser(commands: Commands) -> None:
    """Describe the subcommand."""
    summary = "run the whole pipeline on Spark, and write a report with pictures"
    parser = add_command(commands, "demo", summary, _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "--subscriptions", type=at_least_one, default=20_000, metavar="N", help="how many (default: 20000)"
    )
    parser.add_argument(
        "--events", type=at_least_one, default=50_000, metavar="N", help="how many (default: 50000)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="what all random numbers depend on (default: 1)"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write; it must not be there yet")
    parser.add_argument("--master", default="local[*]", help="the Spark to start (default: local[*])")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the pipeline."""
    from tamis.cli.pipeline.reasons import short_errors
    from tamis.cli.pipeline.session import is_remote, session
    from tamis.cli.pipeline.steps import Steps

    _refuse_existing(arguments.out)
    if is_remote(arguments.master):
        raise CommandError(
            f"tamis: error: the demo reads and writes files of this machine, and {arguments.master} may be "
            "another; `tamis spark` takes it"
        )
    steps = Steps()
    steps.say("starting Spark", "dim")
    with session(arguments.master) as spark, short_errors():
        from tamis.cli.demo.gathering import gather
        from tamis.cli.demo.pipeline import Pipeline
        from tamis.spark.report import write_page

        folder = _folder(arguments.out)
        pipeline = Pipeline(spark, folder, arguments.subscriptions, arguments.events, arguments.seed, steps)
        checks = pipeline.run()
        report = folder / "report.html"
        write_page(gather(pipeline, checks), report)
    steps.say("")
    for check in checks:
        steps.say(check, "bold green")
    steps.say(f"everything is in {folder}")
    steps.say(f"the report, for a browser: {report}", "bold")
    return Exit.MATCHED


def _refuse_existing(out: Path | None) -> None:
    if out is not None and out.exists():
        raise CommandError(
            f"{out}: error: it is there already, and nothing is overwritten; name another folder with --out, "
            "or remove it"
        )


def _folder(out: Path | None) -> Path:
    """Make the folder to write to."""
    if out is not None:
        out.mkdir(parents=True)
        return out.absolute()
    here = Path.cwd() / _FOLDER
    try:
        here.mkdir()
    except OSError:  # it is there, or nothing can be written here
        return Path(tempfile.mkdtemp(prefix=f"{_FOLDER}-"))
    return here
