"""Manifests and pointers from storage that others may write to: nothing in them is used unchecked."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.spark.support.versions import write_version

import tamis
from tamis.cli import command_parser
from tamis.cli.pipeline.step_log import StepLog
from tamis.spark.matching.stream import pin
from tamis.spark.store import version_files
from tamis.spark.store.manifest import Manifest
from tamis.spark.store.shard_cache import open_shards
from tamis.spark.store.versions import vacuum

Damage = Callable[[dict[str, Any]], object]
DAY = 86_400


def set_file(**fields: object) -> Damage:
    """Set fields of a shard."""
    return lambda content: content["layers"][1]["shards"][0].update(fields)


def set_field(name: str, value: object) -> Damage:
    return lambda content: content.update({name: value})


DAMAGES: dict[str, Damage] = {
    **{
        f"path {path!r}": set_file(path=path)
        for path in (
            "../../secret.tamis",
            "versions/w/../../../secret.tamis",
            "versions/../x.tamis",
            "versions/w/a/../x.tamis",
            "/etc/passwd.tamis",
            "versions/w//etc/x.tamis",
            "versions/v/shard-00000-aa.tamis",
            "versions/w/manifest.json",
            "versions/w/.tamis",
            "versions\\w\\x.tamis",
            "versions/w/x\n.tamis",
            "versions/w/x.tamis\x00",
            "s3://bucket/x.tamis",
            "",
            None,
            7,
        )
    },
    **{
        f"sha256 {digest!r}": set_file(sha256=digest)
        for digest in ("../../x", "a" * 63, "A" * 64, "g" * 64, "a" * 64 + "\n", "/" + "a" * 63, None, 0)
    },
    **{f"bytes {size!r}": set_file(bytes=size) for size in (-1, 1.5, True, "7", None)},
    **{f"rows {rows!r}": set_file(rows=rows) for rows in (-1, 1.5, False, None)},
    **{f"header {header!r}": set_file(header=header) for header in ("", "zz" * 64, "aa" * 65, None)},
    "an unknown field of a file": set_file(mode=0o777),
    **{f"version {name!r}": set_field("version", name) for name in ("../v", "current", "", "v\n", None, "x")},
    **{f"created {when!r}": set_field("created", when) for when in (-1, "now", None, True)},
    **{f"id_type {kind!r}": set_field("id_type", kind) for kind in ("int", None, ["bigint"])},
    **{f"missing {how!r}": set_field("missing", how) for how in ("null", None, False)},
    "engine": set_field("engine", None),
    "options": set_field("options", {"a": [1]}),
    "a list of options": set_field("options", []),
    "subscriptions": set_field("subscriptions", -1),
    "attributes": set_field("attributes", ["a", 1]),
    "a text of attributes": set_field("attributes", "ab"),
    "no layers": set_field("layers", []),
    "a text of layers": set_field("layers", "layers"),
    "layers that are no objects": set_field("layers", [1]),
    "a layer twice": lambda content: content["layers"].append(content["layers"][1]),
    "no own layer": lambda content: content["layers"].pop(),
    "observed elsewhere": lambda content: content.update(
        observed={**content["layers"][1]["changed"][0], "path": "versions/x/observed-a.parquet"}
    ),
    "quarantine of another version": lambda content: content.update(
        quarantine=content["layers"][0]["shards"]
    ),
    "no observed": lambda content: content.pop("observed"),
    "an unknown field": set_field("extra", 1),
    "a later format": set_field("format", 2),
    "format true": set_field("format", True),
}


@pytest.fixture
def delta(tmp_path: Path) -> Path:
    """The manifest of a delta `w` upon `v`."""
    uri = str(tmp_path)
    write_version(tmp_path, "v", {1: "a = 1"}, age=9 * DAY)
    write_version(tmp_path, "w", {2: "a = 2"}, age=8 * DAY, parent=version_files.read_manifest(uri, "v"))
    version_files.move_current(uri, "w")
    return tmp_path / "versions/w/manifest.json"


def damage(manifest: Path, change: Damage) -> None:
    modified = manifest.stat().st_mtime
    content = json.loads(manifest.read_bytes())
    change(content)
    manifest.write_text(json.dumps(content))
    os.utime(manifest, (modified, modified))


@pytest.mark.parametrize("name", DAMAGES)
def test_fields(delta: Path, tmp_path: Path, name: str) -> None:
    ref = version_files.resolve(str(tmp_path))
    damage(delta, DAMAGES[name])
    with pytest.raises(tamis.FileError) as caught:
        open_shards(ref)
    said = str(caught.value)
    assert said.startswith("versions/w/manifest.json ") and (
        "is not a manifest: " in said or "format 2" in said
    )
    assert len(said) < 300


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b'{"format": ' + b"9" * 5_000 + b"}", b'{"format": 1e999}', b'"\xff"', b"null"],
)
def test_texts(content: bytes) -> None:
    with pytest.raises(tamis.FileError, match="is not a manifest"):
        Manifest.from_bytes(content, "m.json")


def test_a_manifest_in_another_folder(delta: Path, tmp_path: Path) -> None:
    (tmp_path / "versions/x").mkdir()
    (tmp_path / "versions/x/manifest.json").write_bytes(delta.read_bytes())
    with pytest.raises(tamis.FileError, match="is the manifest of another version, 'w'"):
        version_files.resolve(str(tmp_path), "x")


@pytest.mark.parametrize(
    "content", [b"../../v\n", b"\n", b"v\nw\n", b"/v\n", b"\xff\n", b"current\n", b"v w\n"]
)
def test_a_damaged_pointer(delta: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "CURRENT").write_bytes(content)
    with pytest.raises(tamis.FileError, match=r"CURRENT of .* is damaged: .*; publish a version again"):
        version_files.resolve(str(tmp_path))
    version_files.move_current(str(tmp_path), "v")
    assert version_files.resolve(str(tmp_path)).version == "v"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"version": "../v", "digest": "x"}', b"\xff"])
def test_a_damaged_pin(delta: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pins").mkdir()
    (tmp_path / "pins/0.json").write_bytes(content)
    with pytest.raises(tamis.FileError, match=r"pins/0\.json is damaged: .*; without it the batch uses"):
        pin(str(tmp_path), str(tmp_path / "pins"), 0)


def paths(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in (folder / "versions").rglob("*.*")}


@pytest.mark.parametrize("how", ["field", "cut", "empty", "later format", "odd folder"])
def test_vacuum_keeps_what_a_damaged_manifest_may_list(delta: Path, tmp_path: Path, how: str) -> None:
    uri = str(tmp_path)
    # Nine days old is v, eight is w, which will be damaged and refers to v; later ones cannot be in it.
    for number, age in (("a", 7), ("b", 6), ("c", 5)):
        write_version(tmp_path, number, {3: "a = 3"}, age=age * DAY)
    version_files.move_current(uri, "c")
    orphans = [tmp_path / "versions/w/shard-9.tamis", tmp_path / "versions/half/shard-9.tamis"]
    for orphan, days in zip(orphans, (1.5, 8.5), strict=True):
        orphan.parent.mkdir(exist_ok=True)
        orphan.touch()
        os.utime(orphan, (time.time() - days * DAY,) * 2)
    if how in ("field", "later format"):
        damage(delta, set_field("format", 2) if how == "later format" else set_field("engine", None))
    elif how == "odd folder":
        delta = delta.parent.rename(tmp_path / "versions/w w") / "manifest.json"
        orphans[0] = delta.parent / orphans[0].name
    else:
        modified = delta.stat().st_mtime
        delta.write_bytes(delta.read_bytes()[:300] if how == "cut" else b"")
        os.utime(delta, (modified, modified))
    before = paths(tmp_path)
    with pytest.warns(UserWarning, match=r"vacuum kept a version that cannot be read: versions/w"):
        removed = vacuum(None, tmp_path, keep=1)  # type: ignore[arg-type]
    assert set(removed) == {
        "versions/v/manifest.json",
        *(f"versions/{name}/{file}" for name in "ab" for file in ("manifest.json", "shard-00000-aa.tamis")),
    }
    (damaged,) = removed.damaged
    assert damaged.startswith(f"versions/{delta.parent.name}/manifest.json: ")
    assert paths(tmp_path) == before - set(removed)
    assert all(orphan.exists() for orphan in orphans)
    assert version_files.resolve(uri).version == "c"


def test_vacuum_when_all_is_well(delta: Path, tmp_path: Path) -> None:
    removed = vacuum(None, tmp_path, keep=1)  # type: ignore[arg-type]
    assert (removed, removed.damaged) == (["versions/v/manifest.json"], [])
    assert open_shards(version_files.resolve(str(tmp_path)))


def test_the_command_reports_a_damaged_manifest(
    delta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    delta.write_bytes(b"")
    arguments = command_parser().parse_args(["spark", "vacuum", str(tmp_path)])
    assert arguments.execute(None, arguments, StepLog()) == 0
    out, err = capsys.readouterr()
    assert "0 files removed" in out
    assert err.startswith(
        f"{tmp_path}: warning: a version cannot be read and was kept: versions/w/manifest.json: "
    )
    assert err.count("\n") == 1
