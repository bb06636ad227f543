"""Refuses output that would destroy input, before anything is removed or written.

Two locations overlap if they are the same, or if one lies inside the other. They are compared after resolving
what a name may hide: relative paths, ``.`` and ``..``, doubled and trailing slashes, symbolic links, mounts
and case (by device and inode number), ``file:`` URIs, percent-encoding. Where a text has two readings, such
as a percent sign that may be an escape, both count: a needless refusal costs a rename, a missed one costs the
data.

Locations behind other URIs are compared as text: scheme, authority and normalized path. Two schemes or two
host names for one storage are not recognized, but for those in ``_ALIKE``.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tamis.errors import FileError
from tamis.files.events import STANDARD_INPUT

# Schemes that name the same storage.
_ALIKE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "swebhdfs": "webhdfs"}
_DEFAULT_PORTS = {"hdfs": ":8020"}
_REMOTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL)
# Options of pyarrow at the end of a URI, such as `?region=eu-west-1`.
_OPTIONS = re.compile(r"\?\w+=.*$", re.DOTALL)
# The characters that make Spark expand a path.
_WILDCARD = re.compile(r"[*?\[{\\]" if os.sep == "/" else r"[*?\[{]")


@dataclass(frozen=True, slots=True)
class _Location:
    """One reading of a path or URI.

    Attributes:
        storage: Scheme and authority; empty for files of this machine.
        path: The normalized absolute path.
        prefix: For a path with wildcards, how the names inside `path` begin that it may stand for; else None.
    """

    storage: str
    path: str
    prefix: str | None = None

    @property
    def parts(self) -> list[str]:
        """The components of the path."""
        return [part for part in self.path.replace(os.sep, "/").split("/") if part]


def refuse_overlap(
    out: str | os.PathLike[str],
    read: Iterable[str | os.PathLike[str]],
    literal: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Refuse an output that is an input, contains one or lies inside one.

    Args:
        out: The path or URI to write to.
        read: Paths and URIs that are read. Of a path with wildcards the part before the first one counts,
            unless a file or folder of exactly this name exists.
        literal: The same without wildcards: stores, and other outputs.

    Raises:
        FileError: There is such an input; the message names both.

    >>> refuse_overlap("matches", ["events", "index"])
    >>> refuse_overlap("s3a://Bucket/a//b/", ["s3://bucket/a/b/c"])
    Traceback (most recent call last):
    ...
    tamis.errors.FileError: the output s3a://Bucket/a//b/ contains the input s3://bucket/a/b/c: writing it ...
    """
    outputs = _readings(os.fspath(out), wildcards=False)
    inputs = [(os.fspath(path), True) for path in read] + [(os.fspath(path), False) for path in literal]
    for text, wildcards in inputs:
        for source in _readings(text, wildcards=wildcards):
            for output in outputs:
                if relation := _relation(output, source):
                    raise _overlap_error(os.fspath(out), text, relation)


def refuse_output_stream(stream: Any, read: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse a stream that writes to one of the files that are read, as ``>>`` in a shell does.

    Args:
        stream: An open text stream; one that is no regular file is accepted.
        read: Paths of files; ``-`` is standard input.

    Raises:
        FileError: The stream writes to one of them.
    """
    try:
        written = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return
    if not stat.S_ISREG(written.st_mode):
        return
    for path in read:
        try:
            found = os.fstat(0) if os.fspath(path) == STANDARD_INPUT else Path(path).stat()
        except OSError:
            continue
        if os.path.samestat(written, found):
            name = "standard input" if os.fspath(path) == STANDARD_INPUT else os.fspath(path)
            raise FileError(
                f"{name} is input and output of this command; write the output elsewhere",
                path=os.fspath(path),
            )


def _readings(text: str, *, wildcards: bool) -> list[_Location]:
    """Return every location that a text may stand for."""
    if text[:5].lower() == "file:":
        rest = text[5:]
        if rest.startswith("//"):
            rest = "/" + rest[2:].partition("/")[2]
        return [_local(path, wildcards) for path in dict.fromkeys((rest, unquote(rest)))]
    remote = _REMOTE.fullmatch(text)
    if remote is None:
        return [_local(text, wildcards)]
    scheme, authority, rest = remote[1].lower(), remote[2].lower(), _OPTIONS.sub("", remote[3])
    scheme = _ALIKE.get(scheme, scheme)
    storage = f"{scheme}://{authority.removesuffix(_DEFAULT_PORTS.get(scheme, ':'))}"
    return [_remote(storage, path, wildcards) for path in dict.fromkeys((rest, unquote(rest)))]


def _local(path: str, wildcards: bool) -> _Location:
    for found in _WILDCARD.finditer(path) if wildcards else ():
        end = path.find("/", found.start())
        # A file or folder of this very name is meant literally.
        if not os.path.lexists(path if end < 0 else path[:end]):
            folder, prefix = _before(path, found.start())
            return _Location("", os.path.realpath(folder or "."), prefix)
    return _Location("", os.path.realpath(path))


def _remote(storage: str, path: str, wildcards: bool) -> _Location:
    if wildcards and (found := _WILDCARD.search(path)):
        folder, prefix = _before(path, found.start())
        return _Location(storage, posixpath.normpath(f"/{folder}"), prefix)
    return _Location(storage, posixpath.normpath(f"/{path}"))


def _before(path: str, wildcard: int) -> tuple[str, str]:
    """Split what stands before a wildcard into a folder and the beginning of a name."""
    folder, slash, prefix = path[:wildcard].rpartition("/")
    return folder + slash, prefix


def _relation(output: _Location, source: _Location) -> str | None:
    """Say how an output overlaps an input; None if it does not."""
    if not _same_storage(output.storage, source.storage):
        return None
    if relation := _relation_of_paths(output.parts, source.parts, source.prefix):
        return relation
    if output.storage:
        return None
    return _relation_of_files(output.path, source)


def _same_storage(one: str, other: str) -> bool:
    """Compare scheme and authority. Without an authority it is Hadoop's default, which may be any."""
    if one == other:
        return True
    (scheme, _, authority), (other_scheme, _, other_authority) = one.partition("://"), other.partition("://")
    return scheme == other_scheme and not (authority and other_authority)


def _relation_of_paths(output: list[str], source: list[str], prefix: str | None) -> str | None:
    shared = min(len(output), len(source))
    if output[:shared] != source[:shared]:
        return None
    if len(output) > len(source):
        return "lies inside" if output[len(source)].startswith(prefix or "") else None
    return "is" if len(output) == len(source) and prefix is None else "contains"


def _relation_of_files(output: str, source: _Location) -> str | None:
    """Compare by device and inode number, which mounts and case do not change; follow links in the input."""
    above_output, above_source = _identities(output), _identities(source.path)
    written, found = above_output.get(Path(output)), above_source.get(Path(source.path))
    if written is not None and written in above_source.values():
        return "is" if written == found and source.prefix is None else "contains"
    if found is not None and not source.prefix and found in above_output.values():
        return "lies inside"
    for target in _linked(source):
        if _relation_of_paths(_Location("", output).parts, _Location("", target).parts, None):
            return f"overlaps {target}, to which a link leads from"
    return None


def _identities(path: str) -> dict[Path, tuple[int, int]]:
    """Return the device and inode number of a path and of each folder above it, as far as they exist."""
    found = {}
    for place in (Path(path), *Path(path).parents):
        try:
            status = place.stat()
        except OSError:
            continue
        if status.st_ino:  # some network filesystems have no inode numbers
            found[place] = (status.st_dev, status.st_ino)
    return found


def _linked(source: _Location) -> Iterator[str]:
    """Follow the symbolic links inside an input, and inside the folders that they lead to."""
    pending, seen = [source.path], {source.path}
    while pending:
        for inside, folders, files in os.walk(pending.pop()):
            if inside == source.path and source.prefix:
                folders[:] = [name for name in folders if name.startswith(source.prefix)]
                files = [name for name in files if name.startswith(source.prefix)]
            for path in (os.path.join(inside, name) for name in (*folders, *files)):  # noqa: PTH118
                if os.path.islink(path) and (target := os.path.realpath(path)) not in seen:  # noqa: PTH114
                    seen.add(target)
                    pending.append(target)
                    yield target


def _overlap_error(out: str, read: str, relation: str) -> FileError:
    return FileError(
        f"the output {out} {relation} the input {read}: writing it would destroy what is read. Nothing was "
        f"changed; name an output that is neither {read}, nor above it, nor inside it",
        path=out,
    )
