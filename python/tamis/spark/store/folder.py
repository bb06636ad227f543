"""A folder of files, local or behind a URI that pyarrow opens. All access to a store goes through `Folder`.

Local files are used in place. Remote files are copied once per machine (`file_cache`) and then used like
local ones.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

import pyarrow.fs as pafs

from tamis import FileError
from tamis.spark.store.file_cache import cached_copy, copy_stream


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file in a listing: its path below the folder, and its modification time in epoch seconds."""

    path: str
    modified: float


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a filesystem. Paths of files are relative to it and use slashes."""

    filesystem: Any
    root: str

    @classmethod
    def at(cls, uri: str | os.PathLike[str]) -> Folder:
        """Return the folder of a URI or local path, which need not exist.

        Raises:
            ValueError: pyarrow has no filesystem for the URI.
        """
        text = os.fspath(uri)
        if re.match(r"^file:", text):
            text = unquote(urlsplit(text).path)
        if "://" not in text:
            return cls(pafs.LocalFileSystem(), str(Path(text).absolute()))
        try:
            # Hadoop writes s3a where pyarrow writes s3.
            filesystem, root = pafs.FileSystem.from_uri(re.sub(r"^s3[an]://", "s3://", text))
        except (ValueError, OSError) as error:
            raise ValueError(
                f"pyarrow cannot open {text} ({error}); "
                "accepted are a local path and file://, s3://, gs://, abfss:// and hdfs:// URIs"
            ) from error
        return cls(filesystem, root.rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Whether files are on this machine and can be mapped in place."""
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    @property
    def is_file(self) -> bool:
        """Whether the folder's path is a file instead."""
        return bool(self.filesystem.get_file_info(self.root).type == pafs.FileType.File)

    def full(self, path: str) -> str:
        """Return the path of a file within its filesystem."""
        return f"{self.root}/{path}" if path else self.root

    def read(self, path: str) -> bytes:
        """Read a small file.

        Raises:
            FileNotFoundError: It does not exist.
        """
        with self.filesystem.open_input_stream(self.full(path)) as stream:
            return bytes(stream.read())

    def write(self, path: str, data: bytes) -> None:
        """Write a small file atomically: readers see the old content, the new content, or no file."""
        full = self._prepare(path)
        if not self.is_local:
            # Object stores show a file when it is closed.
            with self.filesystem.open_output_stream(full) as stream:
                stream.write(data)
            return
        partial = f"{full}.{uuid.uuid4().hex[:8]}.tmp"
        with Path(partial).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(partial).replace(full)

    @contextmanager
    def writing(self, path: str) -> Iterator[Path]:
        """Yield a local path to write a large file to; at the end of the block the file is in the folder.

        The name must be unique: in a local folder the file has its final name from the start.
        """
        full = self._prepare(path)
        if self.is_local:
            yield Path(full)
            return
        with tempfile.TemporaryDirectory(prefix="tamis-") as scratch:
            local = Path(scratch) / path.rpartition("/")[2]
            yield local
            with local.open("rb") as source, self.filesystem.open_output_stream(full) as target:
                copy_stream(source, target)

    def entries(self, path: str = "") -> list[FileEntry]:
        """List all files below a path, at any depth; an empty list if the path does not exist."""
        selector = pafs.FileSelector(self.full(path), recursive=True, allow_not_found=True)
        return [
            # A file of unknown age counts as written now.
            FileEntry(info.path[len(self.root) + 1 :], info.mtime_ns / 1e9 if info.mtime_ns else time.time())
            for info in self.filesystem.get_file_info(selector)
            if info.type == pafs.FileType.File
        ]

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        try:
            self.filesystem.delete_file(self.full(path))
        except FileNotFoundError:
            return

    def remove_empty(self, path: str) -> None:
        """Remove a folder that holds no files; object stores have no empty folders."""
        info = self.filesystem.get_file_info(self.full(path))
        if info.type == pafs.FileType.Directory and not self.entries(path):
            self.filesystem.delete_dir(self.full(path))

    def local(self, path: str, sha256: str) -> Path:
        """Return a local path of a file: the file itself, or this machine's copy of it.

        Args:
            path: The file.
            sha256: The checksum of its content, in hex; copies are checked against it.

        Raises:
            FileError: The file is missing, or its content has another checksum.
        """
        if self.is_local:
            return Path(self.full(path))

        def download(target: BinaryIO) -> None:
            with self.filesystem.open_input_stream(self.full(path)) as source:
                copy_stream(source, target)

        try:
            return cached_copy(path, self.root, sha256, download)
        except FileNotFoundError as error:
            raise FileError(f"{path} is missing from {self.root}", path=path) from error

    def _prepare(self, path: str) -> str:
        """Create the parent folder of a file; return the file's full path."""
        full = self.full(path)
        self.filesystem.create_dir(full.rpartition("/")[0], recursive=True)
        return full
