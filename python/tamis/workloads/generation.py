"""Rows of a workload as Arrow data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tamis.workloads.calibration.calibrate import calibrated, subscriptions_of
from tamis.workloads.calibration.plan import Plan
from tamis.workloads.events.layouts import Layout, event_columns, event_schema
from tamis.workloads.events.rows import draw_events
from tamis.workloads.sampling.counters import Numbers
from tamis.workloads.specs import Spec

SUBSCRIPTION_SCHEMA = pa.schema([("id", pa.int64()), ("expression", pa.string())])
# Rows per block, so that intermediate arrays stay in cache.
_BLOCK = 4_096
_LAST_ROW = 1 << 60


@dataclass(frozen=True)
class Workload:
    """A calibrated workload: its rows can be drawn anywhere, in any order and any slices.

    It is small and pickles; `Workload.of` makes one.

    Attributes:
        spec: The parameters.
        seed: The seed of all random numbers.
        plan: The result of calibration.
    """

    spec: Spec
    seed: int
    plan: Plan

    @classmethod
    def of(cls, spec: Spec, seed: int) -> Workload:
        """Calibrate a workload to its match probability.

        Raises:
            ValueError: The match probability cannot be reached.
        """
        return cls(spec, seed, calibrated(spec, seed))

    def subscriptions(self, rows: Numbers) -> pa.RecordBatch:
        """Return the subscriptions with the given row numbers, as `id` and `expression`."""
        texts = [
            subscriptions_of(self.spec, self.seed, self.plan, part).texts() for part in _blocks(rows)
        ] or [pa.array([], pa.string())]
        return pa.RecordBatch.from_arrays(
            [pa.array(rows), pa.concat_arrays(texts)], schema=SUBSCRIPTION_SCHEMA
        )

    def events(self, rows: Numbers, layout: Layout = "json") -> pa.RecordBatch:
        """Return the events with the given row numbers, as `event_id` and the columns of the layout."""
        schema = event_schema(self.spec, layout)
        blocks = [
            event_columns(draw_events(self.spec, self.seed, self.plan, part), layout)
            for part in _blocks(rows)
        ] or [[pa.array([], field.type) for field in schema][1:]]
        columns = [pa.concat_arrays(parts) for parts in zip(*blocks, strict=True)]
        return pa.RecordBatch.from_arrays([pa.array(rows), *columns], schema=schema)


def _blocks(rows: Numbers) -> Iterator[Numbers]:
    for first in range(0, len(rows), _BLOCK):
        yield rows[first : first + _BLOCK]


def generate_subscriptions(spec: Spec, start: int, count: int, *, seed: int) -> pa.RecordBatch:
    """Draw subscriptions.

    A row depends on the spec, the seed and its number alone, so slices concatenate to the whole.

    Args:
        spec: The parameters of the workload.
        start: The number of the first row.
        count: The number of rows.
        seed: The seed of all random numbers.

    Returns:
        The columns `id`, int64, and `expression`, string.

    Raises:
        ValueError: The spec's match probability cannot be reached.

    Example:
        >>> from tamis import workloads
        >>> spec = workloads.paper("ps-tree")
        >>> whole = workloads.generate_subscriptions(spec, 0, 10, seed=1)
        >>> whole.slice(4, 3) == workloads.generate_subscriptions(spec, 4, 3, seed=1)
        True
    """
    return Workload.of(spec, seed).subscriptions(_range(start, count))


def generate_events(
    spec: Spec, start: int, count: int, *, seed: int, layout: Layout = "json"
) -> pa.RecordBatch:
    """Draw events.

    Args:
        spec: The parameters of the workload.
        start: The number of the first row.
        count: The number of rows.
        seed: The seed of all random numbers.
        layout: "json" gives a column `event` of JSON text, "columns" one typed column per attribute, null
            where the event lacks it, "map" a column `event` of type map<string, string>.

    Returns:
        The column `event_id`, int64, and those of the layout.

    Raises:
        ValueError: The layout is unknown, or the spec's match probability cannot be reached.
    """
    return Workload.of(spec, seed).events(_range(start, count), layout)


def _range(start: int, count: int) -> Numbers:
    if start < 0 or count < 0 or start + count > _LAST_ROW:
        raise ValueError(f"rows {start:,} to {start + count:,} requested; accepted are 0 to 2**60")
    return np.arange(start, start + count, dtype=np.int64)
