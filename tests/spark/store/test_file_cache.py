"""The folder of local copies: what is removed from it, and who may have made it."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pyarrow.fs as pafs
import pytest

import tamis
from tamis.spark.store.file_cache import cache_folder, checksum, folder_problem
from tamis.spark.store.folder import Folder

CONTENT = b"content"
ON_POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes and owners are those of POSIX")


@pytest.fixture
def above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that TAMIS_CACHE names."""
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def remote(above: Path, tmp_path: Path) -> Folder:
    """A folder with a filesystem that counts as remote, with the file x.tamis."""
    (tmp_path / "bucket/store").mkdir(parents=True)
    (tmp_path / "bucket/store/x.tamis").write_bytes(CONTENT)
    return Folder(pafs.SubTreeFileSystem(str(tmp_path / "bucket"), pafs.LocalFileSystem()), "store")


def download(remote: Folder) -> Path:
    return remote.local("x.tamis", checksum(Path(remote.filesystem.base_path) / "store/x.tamis"))


def make(path: Path, age: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def test_only_own_and_unused_files_are_removed(above: Path, remote: Folder) -> None:
    cache, old, digest = cache_folder(), 2 * 86_400, "ab" * 32
    assert cache.parent == above and stat.S_IMODE(cache.stat().st_mode) == 0o700
    names = ("thesis.tex", f"{digest}.tamis", "old.tamis", f"{digest}.lock")
    foreign = [make(above / name, old) for name in names]
    foreign += [
        make(cache / name, old)
        for name in (
            "old.tamis",
            "notes.txt",
            digest,
            f"{digest}.txt",
            f"{digest.upper()}.tamis",
            f"x{digest}.tamis",
            f"{digest}.tamis.bak",
            f"{digest}.1234.tmp",
            f"deep/{digest}.tamis",
        )
    ]
    own = [
        make(cache / f"{digest}{ending}", old)
        for ending in (".tamis", ".parquet", ".lock", ".lock.held", ".01234567.tmp")
    ]
    young = make(cache / f"{'cd' * 32}.tamis", 60)
    (cache / f"{'ef' * 32}.tamis").mkdir()
    os.utime(cache / f"{'ef' * 32}.tamis", (1, 1))
    assert download(remote).read_bytes() == CONTENT
    assert [path for path in own if path.exists()] == []
    assert [path for path in foreign if not path.exists()] == []
    assert young.exists() and (cache / f"{'ef' * 32}.tamis").is_dir()


@ON_POSIX
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_a_folder_that_others_may_write_to(remote: Folder, mode: int) -> None:
    cache_folder().chmod(mode)
    with pytest.raises(
        tamis.FileError, match=f"others may write to it .mode {mode:o}.*`chmod 700 .*TAMIS_CACHE"
    ):
        download(remote)
    cache_folder_path = Path(os.environ["TAMIS_CACHE"]) / f"tamis-copies-{os.geteuid()}"
    assert list(cache_folder_path.iterdir()) == []
    cache_folder_path.chmod(0o755)
    assert download(remote).read_bytes() == CONTENT


@ON_POSIX
def test_a_folder_of_somebody_else(remote: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    status = cache_folder().stat()
    fields = list(status)
    fields[stat.ST_UID] = os.geteuid() + 1
    said = folder_problem(os.stat_result(fields))
    assert said == f"it belongs to the user with number {os.geteuid() + 1}, not to you ({os.geteuid()})"
    # Seen from the other side: a user for whom a folder was prepared.
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    (Path(os.environ["TAMIS_CACHE"]) / f"tamis-copies-{other}").mkdir(mode=0o700)
    with pytest.raises(
        tamis.FileError, match=r"is not safe to use: it belongs to .*set TAMIS_CACHE to a folder"
    ):
        download(remote)


def test_something_else_in_the_place_of_the_folder(remote: Folder, above: Path, tmp_path: Path) -> None:
    cache = cache_folder()
    cache.rmdir()
    prepared = tmp_path / "prepared"
    prepared.mkdir(mode=0o700)
    cache.symlink_to(prepared)
    with pytest.raises(tamis.FileError, match="is not safe to use: it is a symbolic link"):
        download(remote)
    assert list(prepared.iterdir()) == []
    prepared.rmdir()
    with pytest.raises(tamis.FileError, match="is not safe to use"):
        download(remote)
    cache.unlink()
    cache.touch()
    with pytest.raises(tamis.FileError, match="is not safe to use: it is not a folder"):
        download(remote)
    cache.unlink()
    assert download(remote).read_bytes() == CONTENT


def test_a_link_in_the_place_of_a_copy(remote: Folder, tmp_path: Path) -> None:
    copy = download(remote)
    copy.unlink()
    (tmp_path / "planted").write_bytes(b"planted")
    copy.symlink_to(tmp_path / "planted")
    assert download(remote) == copy and copy.read_bytes() == CONTENT and not copy.is_symlink()
    assert (tmp_path / "planted").read_bytes() == b"planted"


@pytest.mark.parametrize("digest", ["../../x", "a" * 63, "A" * 64, "a" * 64 + "\n", "", "/" + "a" * 63])
def test_a_checksum_is_never_a_path(remote: Folder, tmp_path: Path, digest: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(tamis.FileError, match="accepted are 64 hexadecimal digits"):
        remote.local("x.tamis", digest)
    assert sorted(tmp_path.rglob("*")) == before


def test_without_user_numbers(remote: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("geteuid", "getuid"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr("getpass.getuser", lambda: "..\\DOMAIN/ann")
    assert cache_folder().name == "tamis-copies-___DOMAIN_ann"
    assert download(remote).read_bytes() == CONTENT

    def nobody() -> str:
        raise OSError("no user name")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert cache_folder().name == "tamis-copies-user"


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "file/cache"))
    with pytest.raises(
        tamis.FileError, match=r"cannot be created: .* set TAMIS_CACHE to a folder that you may"
    ):
        cache_folder()
