"""Local copies of remote files: one per machine and content, shared by all workers of a user.

Workers map the copies and trust their content, so their folder belongs to the user who runs the worker, and
neither its group nor others may write to it. A folder that is otherwise, or a symbolic link in its place, is
refused: somebody else may have made it. The folder above it is shared (the system's temporary folder, or the
one that ``TAMIS_CACHE`` names) and is never cleaned: only files of the own folder with names of one pattern
are ever removed.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tamis import FileError
from tamis.spark.store.file_lock import exclusive_lock

COPY_BYTES = 1 << 20
SHA256 = re.compile(r"[0-9a-f]{64}")
SUFFIXES = (".tamis", ".parquet")
_UNUSED_SECONDS = 24 * 60 * 60.0
# A copy, a download that has not ended, a lock, and a lock of a system without fcntl.
_NAME = re.compile(r"[0-9a-f]{64}\.(?:tamis|parquet|[0-9a-f]{8}\.tmp|lock|lock\.held)")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cached_copy(path: str, root: str, sha256: str, download: Callable[[BinaryIO], None]) -> Path:
    """Return the local copy of a file, downloading it if this machine has none.

    Args:
        path: The remote file.
        root: The folder that `path` is relative to.
        sha256: The checksum of the content, in hex. It names the copy and is checked after a download.
        download: Writes the content to an open file.

    Raises:
        FileError: The content has another checksum; or the folder of copies is not safe to use.
    """
    suffix = Path(path).suffix
    # Both become part of a path on this machine.
    if not SHA256.fullmatch(sha256) or suffix not in SUFFIXES:
        raise FileError(
            f"{path} in {root} has the checksum {sha256!r}; accepted are 64 hexadecimal digits, and a name "
            f"that ends in {' or '.join(SUFFIXES)}",
            path=path,
        )
    cache = cache_folder()
    copy = cache / f"{sha256}{suffix}"
    # Saves work only: without the lock every worker would download, and the last rename would win.
    with exclusive_lock(cache / f"{sha256}.lock"):
        if _is_own_copy(copy):
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
    """Return the folder of copies, and create it if it does not exist.

    Raises:
        FileError: It exists, and somebody else made it or may write to it.
    """
    above = Path(os.environ.get("TAMIS_CACHE") or tempfile.gettempdir())
    folder = above / f"tamis-copies-{_user()}"
    try:
        above.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        # `mkdir` accepts a link to a folder and reports any other file as existing.
        if folder.is_symlink() or folder.exists():
            raise _refusal(folder, "it is not a folder") from error
        raise FileError(
            f"the folder of local copies {folder} cannot be created: {error}; set TAMIS_CACHE to a folder "
            "that you may write to",
            path=folder,
        ) from error
    if problem := folder_problem(found):
        raise _refusal(folder, problem)
    return folder


def folder_problem(found: os.stat_result) -> str | None:
    """Say why a folder of this status is not to be trusted; None if it is."""
    if not stat.S_ISDIR(found.st_mode):
        return "it is a symbolic link" if stat.S_ISLNK(found.st_mode) else "it is not a folder"
    # Only POSIX has user numbers, and modes that say who may write.
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid != os.geteuid():
        return f"it belongs to the user with number {found.st_uid}, not to you ({os.geteuid()})"
    if found.st_mode & _WRITABLE_BY_OTHERS:
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):o})"
    return None


def _is_own_copy(path: Path) -> bool:
    """Return whether a path is a regular file of this user; a link is not."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    return stat.S_ISREG(found.st_mode) and own


def _remove_unused(cache: Path) -> None:
    """Remove copies that were not opened for a day. Workers that have one mapped keep their mapping."""
    for file in cache.iterdir():
        if not _NAME.fullmatch(file.name):
            continue
        try:
            if time.time() - file.lstat().st_mtime > _UNUSED_SECONDS:
                file.unlink()
        except (FileNotFoundError, PermissionError, IsADirectoryError):
            # Another worker removed it; or, on Windows, has it open; or it is no file of ours.
            continue


def _refusal(folder: Path, problem: str) -> FileError:
    return FileError(
        f"the folder of local copies {folder} is not safe to use: {problem}. If you made it, run "
        f"`chmod 700 {folder}` or remove it; otherwise set TAMIS_CACHE to a folder that only you may write "
        "to",
        path=folder,
    )


def _user() -> str:
    """Return what tells users apart in a file name."""
    if hasattr(os, "geteuid"):
        return str(os.geteuid())
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        name = "user"
    return re.sub(r"[^A-Za-z0-9]", "_", name)
