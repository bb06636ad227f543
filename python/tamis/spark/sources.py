"""The data sources `tamis.begen` and `tamis.abegen`, documented in docs/workloads.md."""

from tamis.spark.generating.sources import ConjunctionSource, TreeSource, register_sources

__all__ = ["ConjunctionSource", "TreeSource", "register_sources"]
