"""The data pipeline on Spark: generate, ingest, profile, build, match, stream.

DataFrame in, DataFrame out. Nothing is collected on the driver, and no part of Spark is used that Spark
Connect has not got, so the same code runs on a laptop, on a cluster and against a Connect server.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.spark.building import build_index
    from tamis.spark.changing import apply_changes, compact
    from tamis.spark.explaining import explain
    from tamis.spark.generating import generate_events, generate_subscriptions
    from tamis.spark.manifest import IndexRef
    from tamis.spark.matching import match
    from tamis.spark.matching_files import match_files
    from tamis.spark.profiling import (
        profile,
        profile_events,
        profile_subscriptions,
        sample_events,
        save_profile,
        selectivities,
    )
    from tamis.spark.session import local_session
    from tamis.spark.streaming import match_stream
    from tamis.spark.versions import open_index, publish, read_quarantine, vacuum

# Imported when they are asked for: workers, which import this package for each task, need few of them.
_HOMES = {
    "IndexRef": "manifest",
    "apply_changes": "changing",
    "build_index": "building",
    "compact": "changing",
    "explain": "explaining",
    "generate_events": "generating",
    "generate_subscriptions": "generating",
    "local_session": "session",
    "match": "matching",
    "match_files": "matching_files",
    "match_stream": "streaming",
    "open_index": "versions",
    "profile": "profiling",
    "profile_events": "profiling",
    "profile_subscriptions": "profiling",
    "publish": "versions",
    "read_quarantine": "versions",
    "sample_events": "profiling",
    "save_profile": "profiling",
    "selectivities": "profiling",
    "vacuum": "versions",
}

__all__ = [
    "IndexRef",
    "apply_changes",
    "build_index",
    "compact",
    "explain",
    "generate_events",
    "generate_subscriptions",
    "local_session",
    "match",
    "match_files",
    "match_stream",
    "open_index",
    "profile",
    "profile_events",
    "profile_subscriptions",
    "publish",
    "read_quarantine",
    "sample_events",
    "save_profile",
    "selectivities",
    "vacuum",
]


def __getattr__(name: str) -> Any:
    """Import what is exported at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("tamis"):
            raise
        raise ModuleNotFoundError(
            f"tamis.spark needs {error.name}: pip install 'tamis[spark]'", name=error.name
        ) from error
    return getattr(home, name)
