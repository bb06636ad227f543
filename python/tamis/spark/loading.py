"""The indexes of a worker: opened once, kept from batch to batch and from task to task.

This has to be an importable module: what lives in `__main__` is copied to workers with each task.
"""

from __future__ import annotations

from collections import OrderedDict

import pyarrow.parquet as pq

from tamis.errors import FileError
from tamis.index import Index
from tamis.results import Id
from tamis.spark import store
from tamis.spark.files import Folder
from tamis.spark.manifest import IndexRef, Manifest, StoredFile

# A stream goes from version to version, and a task of the one before may still run.
_KEPT = 2
_open: OrderedDict[tuple[str, int, int], list[Index]] = OrderedDict()


def open_shards(ref: IndexRef, group: int = 0, groups: int = 1) -> list[Index]:
    """Open every shard of a version, or of one group of its shards.

    Files are mapped, so workers of one machine share them.
    """
    key = (ref.digest, group, groups)
    if key not in _open:
        manifest = store.pinned_manifest(ref)
        folder, dead = Folder.at(ref.uri), dead_ids(ref.uri, manifest)
        shards = manifest.shards[group::groups]
        _open[key] = [open_shard(folder, shard, dead[depth]) for depth, shard in shards]
        while len(_open) > _KEPT:
            _open.popitem(last=False)
    _open.move_to_end(key)
    return _open[key]


def open_shard(folder: Folder, shard: StoredFile, dead: set[Id]) -> Index:
    """Open a shard without the ids that later layers changed.

    Raises:
        FileError: The file is missing or damaged; the message names it.
    """
    path = shard.open(folder)
    try:
        index = Index.load(path)
    except FileError as error:
        raise FileError(f"shard {shard.path} of {folder.root}: {error}", path=shard.path) from error
    for id in dead:
        if id in index:
            index.remove(id)
    return index


def dead_ids(uri: str, manifest: Manifest) -> list[set[Id]]:
    """Give, for each layer, the ids that the layers above it changed."""
    folder = Folder.at(uri)
    dead: list[set[Id]] = [set()]
    for layer in reversed(manifest.layers[1:]):
        changed = (pq.read_table(file.open(folder), columns=["id"])["id"] for file in layer.changed)
        dead.append(dead[-1].union(*(ids.to_pylist() for ids in changed)))
    return dead[::-1]
