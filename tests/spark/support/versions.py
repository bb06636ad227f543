"""Versions of a store, written without Spark."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

import tamis
from tamis.spark.store import version_files
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest import IndexRef, Layer, Manifest, StoredFile


def write_version(
    folder: Path,
    version: str,
    rules: dict[int, str],
    *,
    age: float = 0,
    deleted: tuple[int, ...] = (),
    parent: Manifest | None = None,
) -> IndexRef:
    """Write a version as a build does, `age` seconds ago."""
    place = folder / "versions" / version
    place.mkdir(parents=True)
    index = tamis.Index()
    index.add_many(rules)
    shard, changed = place / "shard-00000-aa.tamis", place / "changed-00000-aa.parquet"
    index.save(shard)
    pq.write_table(pa.table({"id": pa.array([*rules, *deleted], pa.int64())}), changed)
    layer = Layer(
        version,
        (StoredFile.of(f"versions/{version}/{shard.name}", shard, len(rules)),),
        () if parent is None else (StoredFile.of(f"versions/{version}/{changed.name}", changed, len(rules)),),
    )
    if parent is None:
        changed.unlink()
    manifest = Manifest(
        version=version,
        created=time.time() - age,
        id_type="bigint",
        engine="auto",
        missing="unknown",
        options={},
        subscriptions=len(rules),
        attributes=tuple(sorted(index.attributes())),
        layers=(*(parent.layers if parent else ()), layer),
    )
    ref = version_files.commit(str(folder), manifest)
    for file in place.iterdir():
        os.utime(file, (time.time() - age, time.time() - age))
    return ref


def empty_delta(version: str, parent: Manifest | None = None) -> Manifest:
    """A version without files, upon another."""
    if parent is not None:
        return replace(
            parent,
            version=version,
            created=time.time(),
            layers=(*parent.layers, Layer(version)),
            quarantine=(),
        )
    return Manifest(version, time.time(), "bigint", "auto", "unknown", {}, 0, (), (Layer(version),))


def as_remote(uri: str | os.PathLike[str]) -> Folder:
    """A local folder with a filesystem that counts as remote: neither exclusive files nor file locks."""
    Path(uri).mkdir(parents=True, exist_ok=True)
    return Folder(pafs.SubTreeFileSystem(str(uri), pafs.LocalFileSystem()), "store")
