"""The lock excludes other processes, also on systems without fcntl."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tamis.spark.store import file_lock

# Run as `python -c PROGRAM FOLDER`: without fcntl, eight threads copy one remote file to the cache.
WITHOUT_FCNTL = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class NoFcntl:
    def find_spec(self, name, path=None, target=None):
        if name == "fcntl":
            raise ModuleNotFoundError("No module named 'fcntl'", name="fcntl")


sys.modules.pop("fcntl", None)
sys.meta_path.insert(0, NoFcntl())

import pyarrow.fs as pafs

from tamis.spark.store import file_lock
from tamis.spark.store.file_cache import cache_folder, checksum
from tamis.spark.store.folder import Folder

assert file_lock.fcntl is None and "fcntl" not in sys.modules
bucket = Path(sys.argv[1])
remote = Folder(pafs.SubTreeFileSystem(str(bucket), pafs.LocalFileSystem()), "store")
digest = checksum(bucket / "store/x.tamis")
with ThreadPoolExecutor(8) as pool:
    copies = set(pool.map(lambda _: remote.local("x.tamis", digest), range(8)))
(copy,) = copies
print(copy.name, copy.read_bytes().decode(), sorted(path.suffix for path in cache_folder().iterdir()))
"""


def test_files_are_copied_without_fcntl(tmp_path: Path) -> None:
    (tmp_path / "bucket/store").mkdir(parents=True)
    (tmp_path / "bucket/store/x.tamis").write_text("content")
    environment = {**os.environ, "TAMIS_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", WITHOUT_FCNTL, str(tmp_path / "bucket")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    name, content, suffixes = done.stdout.strip().split(" ", 2)
    assert name.endswith(".tamis") and content == "content"
    # The copy alone: neither a lock nor a partial download is left.
    assert suffixes == "['.tamis']"


@pytest.fixture(params=["fcntl", "portable"])
def lock_path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a lock, with the lock of this system and with the portable one."""
    if request.param == "portable":
        monkeypatch.setattr(file_lock, "fcntl", None)
    return tmp_path / "x.lock"


def test_one_holder_at_a_time(lock_path: Path) -> None:
    holders, most = 0, 0

    def hold(_: int) -> None:
        nonlocal holders, most
        with file_lock.exclusive_lock(lock_path):
            holders += 1
            most = max(most, holders)
            time.sleep(0.005)
            holders -= 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(hold, range(12)))
    assert (holders, most) == (0, 1)


def test_an_error_releases_the_lock(lock_path: Path) -> None:
    with pytest.raises(ValueError, match="failed"), file_lock.exclusive_lock(lock_path):
        raise ValueError("failed")
    with file_lock.exclusive_lock(lock_path):
        assert lock_path.parent.exists()


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    if file_lock.fcntl is None:
        pytest.skip("the portable lock is created anew by each holder")
    (tmp_path / "precious").write_text("content")
    (tmp_path / "x.lock").symlink_to("precious")
    with pytest.raises(OSError, match="symbolic link"), file_lock.exclusive_lock(tmp_path / "x.lock"):
        pass
    assert (tmp_path / "precious").read_text() == "content"


def test_a_stale_portable_lock_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "fcntl", None)
    held = tmp_path / "x.lock.held"
    held.touch()
    old = time.time() - file_lock.STALE_SECONDS - 1
    os.utime(held, (old, old))
    with file_lock.exclusive_lock(tmp_path / "x.lock"):
        assert time.time() - held.stat().st_mtime < file_lock.STALE_SECONDS
    assert not held.exists()


def test_a_missing_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "fcntl", None)
    with pytest.raises(FileNotFoundError), file_lock.exclusive_lock(tmp_path / "missing/x.lock"):
        pass
