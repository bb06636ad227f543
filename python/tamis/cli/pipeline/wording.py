"""What steps say of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.spark.manifest import IndexRef


def written(ref: IndexRef, published: bool) -> str:
    """Say what a version holds and whether it is in use."""
    use = "in use" if published else "not in use yet"
    refused = f"; {ref.quarantined:,} bad rows set aside" if ref.quarantined else ""
    return (
        f"{ref.subscriptions:,} subscriptions in {ref.shards} shards: version {ref.version}, {use}{refused}"
    )
