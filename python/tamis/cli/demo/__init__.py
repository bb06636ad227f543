"""``tamis demo``: the whole pipeline on Spark, from drawing a workload to a report with charts.

| module | contents |
| --- | --- |
| `demo_run` | the steps |
| `stream` | a stream of events while rules change |
| `scan_check` | compares results with the engine `scan` |
| `report_data` | collects what the report shows |
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.cli.arguments import add_command, add_workload_size
from tamis.cli.exits import CommandError, Exit

if TYPE_CHECKING:
    from tamis.cli.arguments import Commands

_FOLDER = "tamis-demo"

_DESCRIPTION = f"""Run the whole pipeline on a local Spark: draw advertisements as rules and visitors as
events, check every row, profile both, build an index in shards, match all events, rank the best
matches, and match a stream while rules change. Results of a sample of events are compared with
the engine `scan`. The last step writes a report with charts.

The output folder is ./{_FOLDER}, or a new temporary folder if that exists. Needs Java 17 and
pip install 'tamis[spark]'. `tamis tour` shows matching alone, and needs neither."""

_EPILOG = """examples:
  tamis demo
  tamis demo --subscriptions 200000 --events 500000 --out large
  tamis demo --seed 7 --master "local[1]"
"""


def add_parser(commands: Commands) -> None:
    """Add the command."""
    summary = "run the whole pipeline on Spark, and write a report with charts"
    parser = add_command(commands, "demo", summary, _DESCRIPTION, _EPILOG)
    add_workload_size(parser, rules=20_000, events=50_000)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the output folder; it must not exist")
    parser.add_argument("--master", default="local[*]", help="the Spark to start (default: local[*])")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the pipeline."""
    from tamis.cli.pipeline.session import is_remote, session
    from tamis.cli.pipeline.spark_errors import short_errors
    from tamis.cli.pipeline.step_log import StepLog

    _refuse_existing(arguments.out)
    if is_remote(arguments.master):
        raise CommandError(
            f"tamis: error: the demo reads and writes local files, and {arguments.master} may be another "
            "machine; `tamis spark` runs single steps there"
        )
    log = StepLog()
    log.print_line("starting Spark", "dim")
    with session(arguments.master) as spark, short_errors():
        from tamis.cli.demo.demo_run import DemoRun
        from tamis.cli.demo.report_data import collect_report
        from tamis.spark.report import write_page

        folder = _folder(arguments.out)
        demo = DemoRun(spark, folder, arguments.subscriptions, arguments.events, arguments.seed, log)
        checks = demo.run()
        report = folder / "report.html"
        write_page(collect_report(demo, checks), report)
    log.print_line("")
    for check in checks:
        log.print_line(check, "bold green")
    log.print_line(f"everything is in {folder}")
    log.print_line(f"the report, for a browser: {report}", "bold")
    return Exit.MATCHED


def _refuse_existing(out: Path | None) -> None:
    if out is not None and out.exists():
        raise CommandError(
            f"{out}: error: it already exists, and nothing is overwritten; name another folder with --out, "
            "or remove it"
        )


def _folder(out: Path | None) -> Path:
    """Create the output folder."""
    if out is not None:
        out.mkdir(parents=True)
        return out.absolute()
    here = Path.cwd() / _FOLDER
    try:
        here.mkdir()
    except OSError:  # it exists, or the working folder is read-only
        return Path(tempfile.mkdtemp(prefix=f"{_FOLDER}-"))
    return here
