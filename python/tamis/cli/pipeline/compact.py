"""``tamis spark compact``: one version without deltas."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tamis.cli.exits import Exit
from tamis.cli.pipeline.arguments import add_step, add_store, add_version
from tamis.cli.pipeline.wording import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.cli.arguments import Commands
    from tamis.cli.pipeline.steps import Steps

_DESCRIPTION = """Make one version without deltas of the version in use, if it has any: workers start and
match faster with it."""

_EXAMPLES = """examples:
  tamis spark compact index
"""


def add_parser(steps: Commands) -> None:
    """Describe the step."""
    parser = add_step(steps, "compact", "fold changes into one version", _DESCRIPTION, _EXAMPLES, work)
    add_store(parser)
    add_version(parser)


def work(spark: SparkSession, arguments: argparse.Namespace, steps: Steps) -> int:
    """Fold deltas in."""
    from tamis.spark.changing import compact
    from tamis.spark.versions import open_index

    with steps.step("compact", "folding changes in") as note:
        before = open_index(spark, arguments.index)
        ref = compact(
            spark,
            arguments.index,
            version=arguments.version,
            shards=arguments.shards,
            publish=arguments.publish,
        )
        same = ref.version == before.version
        note.text = (
            f"version {ref.version} has no changes to fold in" if same else written(ref, arguments.publish)
        )
    return Exit.MATCHED
