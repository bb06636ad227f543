"""Describes versions of an index in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.spark.store.manifest import IndexRef


def describe_version(ref: IndexRef, published: bool) -> str:
    """Describe a version: its rules and shards, and whether it is current."""
    state = "current" if published else "not published"
    quarantined = f"; {ref.quarantined:,} bad rows in quarantine" if ref.quarantined else ""
    return f"{ref.subscriptions:,} rules in {ref.shards} shards: version {ref.version}, {state}{quarantined}"
