"""Versions of a store, without Spark: what is readable, what vacuum keeps, and damaged files."""

from __future__ import annotations

import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.support.versions import write_version

import tamis
from tamis.spark.store import version_files
from tamis.spark.store.manifest import Manifest
from tamis.spark.store.shard_cache import open_shards


def test_a_reference_is_small_frozen_and_picklable(tmp_path: Path) -> None:
    ref = write_version(tmp_path, "v", {1: "a = 1"})
    assert pickle.loads(pickle.dumps(ref)) == ref and len(pickle.dumps(ref)) < 1_000
    assert hash(ref) == hash(version_files.resolve(str(tmp_path), "v"))
    with pytest.raises(AttributeError):
        ref.version = "w"  # type: ignore[misc]


def test_a_manifest_survives_its_file(tmp_path: Path) -> None:
    base = version_files.read_manifest(str(tmp_path), write_version(tmp_path, "v", {1: "a = 1"}).version)
    delta = version_files.read_manifest(
        str(tmp_path), write_version(tmp_path, "w", {2: "ä = 'ß'"}, parent=base).version
    )
    for manifest in (base, delta):
        assert Manifest.from_bytes(manifest.to_bytes(), "m") == manifest
    assert [layer.version for layer in delta.layers] == ["v", "w"]
    assert delta.files == base.files | {
        file.path for file in (*delta.layers[1].shards, *delta.layers[1].changed)
    }


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"format": 1}', b'{"format": 1, "layers": 3}', b"\xff"]
)
def test_what_is_no_manifest(content: bytes) -> None:
    with pytest.raises(tamis.FileError, match="is not a manifest"):
        Manifest.from_bytes(content, "m.json")


@pytest.mark.parametrize("damage", ["missing", "cut", "swapped", "flipped"])
def test_a_damaged_shard_is_named(tmp_path: Path, damage: str) -> None:
    ref = write_version(tmp_path, "v", {n: f"a = {n}" for n in range(100)})
    path = tmp_path / "versions/v/shard-00000-aa.tamis"
    content = bytearray(path.read_bytes())
    # Written anew, not in place: another test may have the file mapped.
    path.unlink()
    if damage == "cut":
        path.write_bytes(content[:-8])
    elif damage == "swapped":
        other = tamis.Index()
        other.add_many({n: f"b = {n}" for n in range(100)})
        other.save(path)
        assert path.stat().st_size == len(content)
    elif damage == "flipped":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    with pytest.raises(tamis.FileError, match="versions/v/shard-00000-aa"):
        open_shards(ref)


def test_layers_hide_what_later_ones_change(tmp_path: Path) -> None:
    uri = str(tmp_path)
    write_version(tmp_path, "v1", dict.fromkeys(range(6), "a = 1"))
    write_version(
        tmp_path, "v2", {0: "a = 2", 9: "a = 2"}, deleted=(1,), parent=version_files.read_manifest(uri, "v1")
    )
    ref = write_version(
        tmp_path, "v3", {1: "a = 3"}, deleted=(0, 2), parent=version_files.read_manifest(uri, "v2")
    )

    def found(a: int) -> list[str | int]:
        return sorted(id for shard in open_shards(ref) for id in shard.match({"a": a}))

    assert (found(1), found(2), found(3)) == ([3, 4, 5], [9], [1])
    assert [len(open_shards(ref, group, 2)) for group in (0, 1)] == [2, 1]


def test_a_worker_keeps_what_it_opened_and_not_more(tmp_path: Path) -> None:
    refs = [write_version(tmp_path, f"v{n}", {n: "a = 1"}) for n in range(3)]
    first = open_shards(refs[0])
    assert open_shards(refs[0]) is first
    open_shards(refs[1])
    open_shards(refs[2])
    assert open_shards(refs[0]) is not first


def test_sweeping_keeps_what_is_needed(tmp_path: Path) -> None:
    uri, day = str(tmp_path), 86_400
    base = write_version(tmp_path, "v1", {1: "a = 1"}, age=9 * day)
    for number in (2, 3, 4):
        write_version(tmp_path, f"v{number}", {number: "a = 1"}, age=(9 - number) * day)
    delta = write_version(
        tmp_path, "v5", {5: "a = 1"}, age=2 * day, parent=version_files.read_manifest(uri, base.version)
    )
    version_files.move_current(uri, "v3")
    orphan = tmp_path / "versions/v5/shard-00000-zz.tamis"
    half = tmp_path / "versions/half/shard-00000-aa.tamis"
    half.parent.mkdir()
    for path in (orphan, half):
        path.write_bytes(b"x")
        os.utime(path, (time.time() - 2 * day, time.time() - 2 * day))
    young = tmp_path / "versions/building/shard-00000-aa.tamis"
    young.parent.mkdir()
    young.write_bytes(b"x")

    assert version_files.sweep(uri, 1, 20 * day) == []
    removed = version_files.sweep(uri, 1, day)
    assert set(removed) == {
        "versions/v1/manifest.json",  # v5 builds on its shard, which stays
        "versions/v2/manifest.json",
        "versions/v2/shard-00000-aa.tamis",
        "versions/v4/manifest.json",
        "versions/v4/shard-00000-aa.tamis",
        "versions/v5/shard-00000-zz.tamis",
        "versions/half/shard-00000-aa.tamis",
    }
    assert version_files.versions(uri) == ["v3", "v5"] and not half.parent.exists() and young.exists()
    assert sorted(id for shard in open_shards(delta) for id in shard.match({"a": 1})) == [1, 5]
    assert version_files.sweep(uri, 1, day) == []


@given(
    keep=st.integers(1, 4),
    current=st.integers(0, 5),
    deltas=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_what_is_kept_stays_readable(
    tmp_path_factory: pytest.TempPathFactory, keep: int, current: int, deltas: list[bool]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    uri = str(folder)
    parent: Manifest | None = None
    answers = {}
    for number, delta in enumerate(deltas):
        version = f"v{number}"
        ref = write_version(
            folder, version, {number: "a = 1"}, age=1_000 - number, parent=parent if delta else None
        )
        parent = version_files.read_manifest(uri, version)
        answers[version] = sorted(id for shard in open_shards(ref) for id in shard)
    version_files.move_current(uri, f"v{current}")
    version_files.sweep(uri, keep, 0)
    kept = {f"v{number}" for number in range(6 - keep, 6)} | {f"v{current}"}
    assert set(version_files.versions(uri)) == kept
    for version in kept:
        ref = version_files.resolve(uri, version)
        shards = version_files.pinned_manifest(ref).shards
        assert all((folder / shard.path).exists() for _, shard in shards)
        assert sorted(id for shard in open_shards(ref) for id in shard) == answers[version]


def test_the_pointer_is_never_half_written(tmp_path: Path) -> None:
    uri = str(tmp_path)
    for version in ("short", "a-very-much-longer-name"):
        write_version(tmp_path, version, {1: "a"})
    version_files.move_current(uri, "short")
    seen = set()

    def move() -> None:
        for _ in range(100):
            version_files.move_current(uri, "a-very-much-longer-name")
            version_files.move_current(uri, "short")

    with ThreadPoolExecutor(2) as pool:
        moving = pool.submit(move)
        while not moving.done():
            seen.add(version_files.current_version(uri))
        moving.result()
    assert seen <= {"short", "a-very-much-longer-name"}
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["CURRENT"]


def test_a_store_that_does_not_exist_is_not_created(tmp_path: Path) -> None:
    uri = str(tmp_path / "typo")
    assert version_files.sweep(uri, 1, 0) == []
    with pytest.raises(tamis.FileError, match="has no version 'v'; it has no versions"):
        version_files.move_current(uri, "v")
    assert not (tmp_path / "typo").exists()


def test_moving_on_from_another_version_than_thought(tmp_path: Path) -> None:
    uri = str(tmp_path)
    for version in ("v1", "v2", "v3"):
        write_version(tmp_path, version, {1: "a"})
    version_files.move_current(uri, "v1", expected=None)
    version_files.move_current(uri, "v2", expected="v1")
    with pytest.raises(tamis.FileError, match="'v3' was built on 'v1', but 'v2' is current now"):
        version_files.move_current(uri, "v3", expected="v1")
    assert version_files.current_version(uri) == "v2"
