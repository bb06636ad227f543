"""The shards that a worker process has open, kept between batches and tasks.

This must be an importable module: Spark copies what lives in `__main__` to the workers with each task.
"""

from __future__ import annotations

from collections import OrderedDict

import pyarrow.parquet as pq

from tamis import FileError, Index
from tamis.spark.store import version_files
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest import IndexRef, Manifest, StoredFile

# Versions kept open: a stream moves to the next version while a task with the one before may still run.
_MAX_VERSIONS = 2
_open: OrderedDict[tuple[str, int, int], list[Index]] = OrderedDict()


def open_shards(ref: IndexRef, group: int = 0, groups: int = 1) -> list[Index]:
    """Open all shards of a version, or every `groups`-th shard beginning with number `group`.

    Shard files are mapped, so the workers of a machine share their memory.
    """
    key = (ref.digest, group, groups)
    if key not in _open:
        manifest = version_files.pinned_manifest(ref)
        folder, superseded = Folder.at(ref.uri), superseded_ids(ref.uri, manifest)
        shards = manifest.shards[group::groups]
        _open[key] = [open_shard(folder, shard, superseded[depth]) for depth, shard in shards]
        while len(_open) > _MAX_VERSIONS:
            _open.popitem(last=False)
    _open.move_to_end(key)
    return _open[key]


def open_shard(folder: Folder, shard: StoredFile, superseded: set[str | int]) -> Index:
    """Open a shard, and remove the ids that later layers changed.

    Raises:
        FileError: The file is missing or damaged; the message names it.
    """
    path = shard.open(folder)
    try:
        index = Index.load(path)
    except FileError as error:
        raise FileError(f"shard {shard.path} of {folder.root}: {error}", path=shard.path) from error
    for id in superseded:
        if id in index:
            index.remove(id)
    return index


def superseded_ids(uri: str, manifest: Manifest) -> list[set[str | int]]:
    """Return, for each layer, the ids that later layers changed."""
    folder = Folder.at(uri)
    superseded: list[set[str | int]] = [set()]
    for layer in reversed(manifest.layers[1:]):
        changed = (pq.read_table(file.open(folder), columns=["id"])["id"] for file in layer.changed)
        superseded.append(superseded[-1].union(*(ids.to_pylist() for ids in changed)))
    return superseded[::-1]
