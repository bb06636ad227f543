"""The files of a store, on this machine or behind a URI that pyarrow can reach.

Everything that touches a store goes through `Folder`. On this machine files are used where they are; files
from elsewhere are copied once per machine, under the name of their content, and then used like local ones.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow.fs as pafs

from tamis.errors import FileError

_BLOCK = 1 << 20
_DAY = 24 * 60 * 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a folder: its path within it, and when it was last written, in seconds of the epoch."""

    path: str
    modified: float


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a filesystem; paths of its files are given from here, with slashes."""

    filesystem: Any
    root: str

    @classmethod
    def at(cls, uri: str | os.PathLike[str]) -> Folder:
        """Find the folder of a URI or local path; it need not exist.

        Raises:
            ValueError: No filesystem of pyarrow knows the URI.
        """
        text = os.fspath(uri)
        if re.match(r"^file:", text):
            text = unquote(urlsplit(text).path)
        if "://" not in text:
            return cls(pafs.LocalFileSystem(), str(Path(text).absolute()))
        try:
            # Hadoop says s3a where others say s3.
            filesystem, root = pafs.FileSystem.from_uri(re.sub(r"^s3[an]://", "s3://", text))
        except (ValueError, OSError) as error:
            raise ValueError(
                f"{text} is no place that pyarrow can reach ({error}); "
                "a local path, file://, s3://, gs://, abfss:// or hdfs:// would be"
            ) from error
        return cls(filesystem, root.rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Whether files can be used where they are."""
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    @property
    def is_file(self) -> bool:
        """Whether there is a file in the folder's place."""
        return bool(self.filesystem.get_file_info(self.root).type == pafs.FileType.File)

    def full(self, path: str) -> str:
        """Give the path of a file as its filesystem knows it."""
        return f"{self.root}/{path}" if path else self.root

    def read(self, path: str) -> bytes:
        """Read a small file.

        Raises:
            FileNotFoundError: There is none.
        """
        with self.filesystem.open_input_stream(self.full(path)) as stream:
            return bytes(stream.read())

    def write(self, path: str, data: bytes) -> None:
        """Write a small file, so that a reader sees the old one, the new one, or none, never a half."""
        full = self.full(path)
        self.filesystem.create_dir(full.rpartition("/")[0], recursive=True)
        if not self.is_local:
            # Object stores show a file when it is closed.
            with self.filesystem.open_output_stream(full) as stream:
                stream.write(data)
            return
        aside = f"{full}.{uuid.uuid4().hex[:8]}.tmp"
        with Path(aside).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(full)

    @contextmanager
    def writing(self, path: str) -> Iterator[Path]:
        """Give a local path to write a large file to; afterwards the file is in the folder.

        The name must be unique: on this machine it is the final one from the start.
        """
        full = self.full(path)
        self.filesystem.create_dir(full.rpartition("/")[0], recursive=True)
        if self.is_local:
            yield Path(full)
            return
        with tempfile.TemporaryDirectory(prefix="tamis-") as scratch:
            local = Path(scratch) / path.rpartition("/")[2]
            yield local
            with local.open("rb") as source, self.filesystem.open_output_stream(full) as target:
                shutil.copyfileobj(source, target, _BLOCK)

    def entries(self, path: str = "") -> list[Entry]:
        """List all files below a path, at any depth; none if there is no such path."""
        selector = pafs.FileSelector(self.full(path), recursive=True, allow_not_found=True)
        return [
            # Where the time is not known, the file counts as young.
            Entry(info.path[len(self.root) + 1 :], info.mtime_ns / 1e9 if info.mtime_ns else time.time())
            for info in self.filesystem.get_file_info(selector)
            if info.type == pafs.FileType.File
        ]

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        try:
            self.filesystem.delete_file(self.full(path))
        except FileNotFoundError:
            return

    def remove_empty(self, path: str) -> None:
        """Remove a folder that has no files left; object stores have none to remove."""
        info = self.filesystem.get_file_info(self.full(path))
        if info.type == pafs.FileType.Directory and not self.entries(path):
            self.filesystem.delete_dir(self.full(path))

    def local(self, path: str, sha256: str) -> Path:
        """Give a local path of a file: itself, or a copy that this machine keeps.

        Args:
            path: The file.
            sha256: The checksum of its content, in hex; a copy is compared with it.

        Raises:
            FileError: The file is missing, or its content is another.
        """
        if self.is_local:
            return Path(self.full(path))
        cache = cache_folder()
        copy = cache / f"{sha256}{Path(path).suffix}"
        # One worker copies, the others of the machine wait for it.
        with (cache / f"{sha256}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if copy.exists():
                os.utime(copy)
                return copy
            aside = cache / f"{sha256}.{uuid.uuid4().hex[:8]}.tmp"
            try:
                with self.filesystem.open_input_stream(self.full(path)) as source, aside.open("wb") as target:
                    shutil.copyfileobj(source, target, _BLOCK)
                if checksum(aside) != sha256:
                    raise FileError(f"{path} in {self.root} is damaged: its checksum is another", path=path)
                aside.replace(copy)
            except FileNotFoundError as error:
                raise FileError(f"{path} is missing from {self.root}", path=path) from error
            finally:
                aside.unlink(missing_ok=True)
            _forget_unused(cache)
        return copy


def checksum(path: Path) -> str:
    """Compute the sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Give the folder of copies: ``TAMIS_CACHE``, or one for each user among the temporary files."""
    folder = Path(os.environ.get("TAMIS_CACHE") or Path(tempfile.gettempdir()) / f"tamis-cache-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _forget_unused(cache: Path) -> None:
    """Remove what nobody opened for a day. Workers that have it mapped keep it."""
    for file in cache.iterdir():
        try:
            if time.time() - file.stat().st_mtime > _DAY:
                file.unlink()
        except FileNotFoundError:
            # Another worker was faster.
            continue
