"""``tamis spark compact``: merges deltas."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_step, add_store, add_version, version_options
from tamis.cli.pipeline.version_summary import describe_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.step_log import StepLog

_DESCRIPTION = """Merge the current version and its deltas into one version, with which workers start and
match faster. Does nothing if there are no deltas."""

_EXAMPLES = """examples:
  tamis spark compact index
"""


def add_parser(steps: Commands) -> None:
    """Add the step."""
    parser = add_step(steps, "compact", "merge deltas into one version", _DESCRIPTION, _EXAMPLES, execute)
    add_store(parser)
    add_version(parser)


def execute(spark: SparkSession, arguments: argparse.Namespace, log: StepLog) -> int:
    """Merge deltas."""
    from tamis.spark.build.compaction import compact
    from tamis.spark.store.versions import open_index

    with log.step("compact", "merging deltas") as note:
        before = open_index(spark, arguments.index)
        ref = compact(
            spark,
            arguments.index,
            **version_options(arguments),
        )
        same = ref.version == before.version
        note.text = (
            f"version {ref.version} has no deltas" if same else describe_version(ref, arguments.publish)
        )
    return Exit.MATCHED
