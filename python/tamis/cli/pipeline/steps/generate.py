"""``tamis spark generate``: draws a synthetic workload."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.arguments import add_workload_size, at_least_one
from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import FORMATS, add_output, add_step
from tamis.cli.pipeline.tables import refuse_existing, write_mode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog
    from tamis.workloads import Spec

_DESCRIPTION = """Draw a synthetic workload, with the generators of the papers: rules to OUT/subscriptions and
events to OUT/events. The same seed gives the same rows on any machine."""

_EXAMPLES = """examples:
  tamis spark generate work
  tamis spark generate work --preset a-tree --subscriptions 1000000 --events 10000
  tamis spark generate work --preset ads --set match_probability=0.001 --set size=3..20 --write json
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(steps, "generate", "draw rules and events", _DESCRIPTION, _EXAMPLES, execute)
    add_output(parser, "the folder to write to")
    parser.add_argument(
        "--preset", default="ads", metavar="NAME", help="the workload; see docs/workloads.md (default: ads)"
    )
    parser.add_argument(
        "--set",
        dest="parameters",
        action="append",
        default=[],
        type=_parameter,
        metavar="NAME=VALUE",
        help="set a parameter of the workload; a range is written 3..7",
    )
    add_workload_size(parser, rules=100_000, events=100_000)
    parser.add_argument(
        "--layout",
        choices=["json", "columns", "map"],
        default="json",
        help="layout of events: a column of JSON (default), one column per attribute, a column of maps",
    )
    parser.add_argument(
        "--partitions", type=at_least_one, metavar="N", help="the number of files (default: Spark's)"
    )
    parser.add_argument(
        "--write", choices=FORMATS[:2], default="parquet", help="the format to write (default: parquet)"
    )


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Draw both tables."""
    from tamis.spark.generating.workload import generate_events, generate_subscriptions
    from tamis.spark.store.uris import spark_uri
    from tamis.workloads.specs.parameters import with_parameters

    spec = with_parameters(_spec(arguments.preset), dict(arguments.parameters))
    out, partitions = arguments.out.rstrip("/"), arguments.partitions
    refuse_existing(spark, out, arguments.overwrite)

    def write(table: DataFrame, name: str) -> None:
        table.write.mode(write_mode(arguments.overwrite)).format(arguments.write).save(
            f"{spark_uri(out)}/{name}"
        )

    with log.step("generate", "drawing rules") as note:
        count = arguments.subscriptions
        drawn = generate_subscriptions(spark, spec, count, seed=arguments.seed, partitions=partitions)
        write(drawn, "subscriptions")
        note.text = f"{count:,} rules: {out}/subscriptions"
    with log.step("generate", "drawing events") as note:
        count = arguments.events
        drawn = generate_events(
            spark, spec, count, seed=arguments.seed, partitions=partitions, layout=arguments.layout
        )
        write(drawn, "events")
        note.text = f"{count:,} events: {out}/events"
    return Exit.MATCHED


def _spec(name: str) -> Spec:
    from tamis.workloads import in_the_manner_of, manners, paper, papers

    if name in manners():
        return in_the_manner_of(name)
    if name in papers():
        return paper(name)
    raise ValueError(f"preset is {name!r}; accepted is one of {', '.join([*papers(), *manners()])}")


def _parameter(text: str) -> tuple[str, str]:
    """Parse NAME=VALUE, for argparse."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text!r}")
    return name, value
