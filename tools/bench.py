"""Runs the benchmarks: `python3 dev.py bench`, or `make bench`.

The Rust runner (`crates/tamis-bench`) generates every workload in `benchmarks/` and compares every engine
with a yardstick; small cases are then run from Python as well. Nothing is printed about
a workload until every answer on it was right. A wrong answer is all that is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarking import pages, record, rivals, runner, spark, tables
from benchmarking.record import Run


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 dev.py bench",
        description="Compare every engine, and its rivals, on the workloads in benchmarks/. Answers are "
        "checked before anything is timed. `--bench NAME [-- OPTIONS]` runs one of the special benchmarks "
        "in crates/tamis-bench/benches instead: foundation, conjunctions, arbitrary, patterns, stabbing. "
        "`--spark` compares the pipeline on Spark with native matching instead.",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes and short times: does it run?")
    parser.add_argument("--only", metavar="NAME,...", help="these workloads only (see --list)")
    parser.add_argument(
        "--definitions", metavar="FOLDER", type=Path, help="workloads of another folder than benchmarks"
    )
    parser.add_argument("--engines", metavar="NAME,...", help="these competitors only, and the yardstick")
    parser.add_argument("--subscriptions", metavar="N", type=int, help="every workload in this size")
    parser.add_argument("--no-python", action="store_true", help="leave out what is measured from Python")
    parser.add_argument("--list", action="store_true", help="say which workloads there are, and end")
    parser.add_argument(
        "--docs",
        action="store_true",
        help="run nothing: put the last complete run into the record, docs/benchmarks.md and its picture",
    )
    parser.add_argument(
        "--spark",
        action="store_true",
        help=f"the pipeline on Spark beside native matching, {spark.FULL:,} subscriptions and as many events "
        f"({spark.QUICK:,} with --quick); takes --subscriptions, --output and:",
    )
    parser.add_argument("--events", metavar="N", type=int, help="with --spark: number of events")
    parser.add_argument(
        "--keep", metavar="FOLDER", type=Path, help="with --spark: keeps the generated tables for another run"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, help=f"default: {record.shown(record.LATEST)}")
    parser.add_argument("--runner", metavar="FILE", type=Path, help="a runner that cargo has built already")
    options = parser.parse_args(given)
    if not options.spark and (options.events or options.keep):
        parser.error("--events and --keep go with --spark")
    for name in ("subscriptions", "events"):
        if (count := getattr(options, name)) is not None and count < 1:
            parser.error(f"--{name} is {count}; it takes a whole number from 1 up")
    return options


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    if options.docs:
        return pages.refresh()
    if options.spark:
        usual = spark.QUICK if options.quick else spark.FULL
        return spark.main(
            options.subscriptions or usual, options.events or usual, options.keep, options.output
        )
    cargo = runner.Runner(
        binary=options.runner,
        definitions=options.definitions,
        engines=options.engines,
        quick=options.quick,
        subscriptions=options.subscriptions,
    )
    try:
        names = cargo.workloads(options.only)
        if options.list:
            for name, title in names.items():
                print(f"{name:14} {title}")
            return 0
        return measure(cargo, list(names), options)
    except runner.WrongAnswer as wrong:
        print(wrong)
        return 1
    except runner.RunnerFailed as failed:
        return failed.code


def measure(cargo: runner.Runner, names: list[str], options: argparse.Namespace) -> int:
    """Run workload by workload; print and write each as soon as all its answers are known to be right."""
    run = Run(machine=record.machine(), is_complete=cargo.is_complete)
    output = options.output or (record.QUICK if options.quick else record.LATEST)
    print(run.machine)
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
            cases = cargo.run(name, Path(folder))
            for case in cases:
                if case.written and not options.no_python:
                    rivals.compete(case, Path(folder) / case.written, is_quick=options.quick)
                case.written = None
        for case in cases:
            tables.show(case)
        run.cases += cases
        record.write(run, output)
    print(f"written to {record.shown(output)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
