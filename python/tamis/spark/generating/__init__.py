"""Workloads drawn by the workers: DataFrames, and data sources for `spark.read` and `spark.readStream`.

| module | contents |
| --- | --- |
| `workload` | public: `generate_subscriptions`, `generate_events` |
| `sources` | public, as `tamis.spark.sources`: the formats `tamis.begen` and `tamis.abegen` |
| `source_options` | the options of the formats, parsed and checked |
| `stream_reader` | a workload as a stream |
"""

from tamis.spark.generating.workload import generate_events, generate_subscriptions

__all__ = ["generate_events", "generate_subscriptions"]
