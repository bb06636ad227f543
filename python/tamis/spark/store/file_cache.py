"""Local copies of remote files: one per machine and content, shared by all workers of the machine."""

from __future__ import annotations

import getpass
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tamis import FileError
from tamis.spark.store.file_lock import exclusive_lock

COPY_BYTES = 1 << 20
_UNUSED_SECONDS = 24 * 60 * 60.0


def cached_copy(path: str, root: str, sha256: str, download: Callable[[BinaryIO], None]) -> Path:
    """Return the local copy of a file, downloading it if this machine has none.

    Args:
        path: The remote file.
        root: The folder that `path` is relative to.
        sha256: The checksum of the content, in hex. It names the copy and is checked after a download.
        download: Writes the content to an open file.

    Raises:
        FileError: The content has another checksum.
    """
    cache = cache_folder()
    copy = cache / f"{sha256}{Path(path).suffix}"
    # Saves work only: without the lock every worker would download, and the last rename would win.
    with exclusive_lock(cache / f"{sha256}.lock"):
        if copy.exists():
            os.utime(copy)
            return copy
        partial = cache / f"{sha256}.{uuid.uuid4().hex[:8]}.tmp"
        try:
            with partial.open("wb") as target:
                download(target)
            if checksum(partial) != sha256:
                raise FileError(f"{path} in {root} is damaged: its checksum is wrong", path=path)
            partial.replace(copy)
        finally:
            partial.unlink(missing_ok=True)
        _remove_unused(cache)
    return copy


def copy_stream(source: BinaryIO, target: BinaryIO) -> None:
    """Copy an open file to another in blocks of `COPY_BYTES`."""
    shutil.copyfileobj(source, target, COPY_BYTES)


def checksum(path: Path) -> str:
    """Compute the sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Return the folder of copies: ``TAMIS_CACHE``, or one per user in the system's temporary folder."""
    folder = Path(os.environ.get("TAMIS_CACHE") or Path(tempfile.gettempdir()) / f"tamis-cache-{_user()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _user() -> str:
    # Only POSIX has user numbers.
    return str(os.getuid()) if hasattr(os, "getuid") else getpass.getuser()


def _remove_unused(cache: Path) -> None:
    """Remove copies that were not opened for a day. Workers that have one mapped keep their mapping."""
    for file in cache.iterdir():
        try:
            if time.time() - file.stat().st_mtime > _UNUSED_SECONDS:
                file.unlink()
        except (FileNotFoundError, PermissionError):
            # Another worker removed it; or, on Windows, has it open.
            continue
