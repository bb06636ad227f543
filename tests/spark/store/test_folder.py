"""Files of local and remote folders: atomic writes, local copies, checksums."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.fs as pafs
import pytest

import tamis
from tamis.spark.store.file_cache import cache_folder, checksum
from tamis.spark.store.folder import Folder
from tamis.spark.store.uris import store_uri


def test_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Folder.at("some/where").root == store_uri("some/where") == str(tmp_path / "some/where")
    assert Folder.at("file:///a/b%20c").root == "/a/b c" and Folder.at("file:/a/b").root == "/a/b"
    assert Folder.at(Path("/a")).is_local
    with pytest.raises(ValueError, match="pyarrow cannot open"):
        Folder.at("nowhere://x")


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A folder with a filesystem that counts as remote."""
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "bucket").mkdir()
    return Folder(pafs.SubTreeFileSystem(str(tmp_path / "bucket"), pafs.LocalFileSystem()), "store")


def test_remote_files_are_copied_once(remote: Folder, tmp_path: Path) -> None:
    assert not remote.is_local
    with remote.writing("a/b.tamis") as local:
        assert tmp_path not in local.parents
        local.write_bytes(b"content")
    remote.write("c.json", b"{}")
    assert remote.read("a/b.tamis") == b"content"
    assert sorted(entry.path for entry in remote.entries()) == ["a/b.tamis", "c.json"]
    digest = checksum(tmp_path / "bucket/store/a/b.tamis")
    with ThreadPoolExecutor(4) as pool:
        copies = set(pool.map(lambda _: remote.local("a/b.tamis", digest), range(8)))
    assert copies == {cache_folder() / f"{digest}.tamis"}
    remote.remove("a/b.tamis")
    assert remote.local("a/b.tamis", digest).read_bytes() == b"content"
    remote.remove("a/b.tamis")
    remote.remove_empty("a")
    assert [entry.path for entry in remote.entries()] == ["c.json"]


def test_a_copy_with_a_wrong_checksum(remote: Folder) -> None:
    remote.write("x.tamis", b"content")
    with pytest.raises(tamis.FileError, match="in store is damaged"):
        remote.local("x.tamis", "0" * 64)
    with pytest.raises(tamis.FileError, match="is missing from store"):
        remote.local("y.tamis", "1" * 64)
    assert {path.suffix for path in cache_folder().iterdir()} <= {".lock"}
