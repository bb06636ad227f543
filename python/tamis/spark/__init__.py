"""The data pipeline on Spark: generate, ingest, profile, build, match, stream.

DataFrame in, DataFrame out. The driver collects no rows, and every function works on a local Spark, on a
cluster and with a Spark Connect server.

The public names below are imported on first use: workers import this package for each task and need few of
them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.spark.build.changes import apply_changes
    from tamis.spark.build.compaction import compact
    from tamis.spark.build.index import build_index
    from tamis.spark.generating import generate_events, generate_subscriptions
    from tamis.spark.matching.explain import explain
    from tamis.spark.matching.files import match_files
    from tamis.spark.matching.stream import match_stream
    from tamis.spark.matching.table import match
    from tamis.spark.profiling import (
        profile,
        profile_events,
        profile_subscriptions,
        sample_events,
        save_profile,
        selectivities,
    )
    from tamis.spark.session import local_session
    from tamis.spark.store.manifest import IndexRef
    from tamis.spark.store.versions import open_index, publish, read_quarantine, vacuum

# The module of each public name. No submodule of this package may bear one of these names: importing it would
# replace the function in the package's namespace.
_MODULES = {
    "IndexRef": "store.manifest",
    "apply_changes": "build.changes",
    "build_index": "build.index",
    "compact": "build.compaction",
    "explain": "matching.explain",
    "generate_events": "generating",
    "generate_subscriptions": "generating",
    "local_session": "session",
    "match": "matching.table",
    "match_files": "matching.files",
    "match_stream": "matching.stream",
    "open_index": "store.versions",
    "profile": "profiling",
    "profile_events": "profiling",
    "profile_subscriptions": "profiling",
    "publish": "store.versions",
    "read_quarantine": "store.versions",
    "sample_events": "profiling",
    "save_profile": "profiling",
    "selectivities": "profiling",
    "vacuum": "store.versions",
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
    """Import a public name on its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("tamis"):
            raise
        raise ModuleNotFoundError(
            f"tamis.spark needs {error.name}: pip install 'tamis[spark]'", name=error.name
        ) from error
    return getattr(module, name)
