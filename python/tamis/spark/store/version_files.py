"""The files of a store: immutable versions, and a pointer to the current one.

    CURRENT                                               the name of the current version
    versions/<version>/manifest.json                      written last: a version without it does not exist
    versions/<version>/shard-00007-<unique>.tamis         rules, in a file that workers map
    versions/<version>/changed-00007-<unique>.parquet     ids that this version removes from older layers
    versions/<version>/quarantine-00007-<unique>.parquet  rejected rows
    versions/<version>/observed-<unique>.parquet          sample of events that the shards are optimized for
    locks/                                                the lock of the store, see `store_lock`

Tasks that fail or run twice leave files that no manifest lists. They are never read, and `sweep` removes
them. Manifests and the pointer are written under the lock of the store: a name has one manifest, and the
pointer is replaced only if it is as expected.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable

from tamis import FileError, PublishConflict
from tamis.spark.store.folder import FileEntry, Folder
from tamis.spark.store.manifest import IndexRef, Manifest
from tamis.spark.store.manifest_fields import is_version_name
from tamis.spark.store.store_lock import HeldLock, store_lock

CURRENT = "CURRENT"
_MANIFEST = "manifest.json"
_READ_AGAIN_SECONDS = (0.01, 0.03, 0.1, 0.3, 0.6)
# Maximum difference between the clocks of machines that write one version.
_CLOCK_SKEW_SECONDS = 3600.0


class RemovedFiles(list[str]):
    """The paths of removed files, relative to the store.

    Attributes:
        damaged: Manifests that cannot be read, each with the reason. They were kept, and so was all that they
            may refer to.
    """

    def __init__(self, paths: Iterable[str] = (), damaged: Iterable[str] = ()) -> None:
        super().__init__(paths)
        self.damaged = list(damaged)


def fresh_version() -> str:
    """Return an unused version name. Names sort by time."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:8]}"


def folder_of(version: str) -> str:
    """Return the folder of a version, relative to the store.

    Raises:
        ValueError: The name is not allowed for a version.
    """
    if not is_version_name(version):
        raise ValueError(
            f"{version!r} is not a version name; accepted are letters, digits, '.', '_' and '-', "
            "beginning with a letter or digit, and not 'current'"
        )
    return f"versions/{version}"


def _manifest_path(version: str) -> str:
    return f"{folder_of(version)}/{_MANIFEST}"


def versions(uri: str) -> list[str]:
    """List the versions that have a manifest, sorted by name."""
    paths = (entry.path.split("/") for entry in Folder.at(uri).entries("versions"))
    return sorted(path[1] for path in paths if path[2:] == [_MANIFEST])


def _describe_versions(uri: str) -> str:
    found = versions(uri)
    return f"existing versions: {', '.join(found)}" if found else "it has no versions"


def current_version(uri: str) -> str | None:
    """Return the name of the current version; None if none was published yet.

    Raises:
        FileError: The pointer is damaged.
    """
    folder = Folder.at(uri)
    try:
        text = _read_pointer(folder)
    except FileNotFoundError:
        return None
    name, line_break, rest = text.partition("\n")
    if not line_break or rest or not is_version_name(name):
        state = "damaged" if line_break else "truncated"
        raise FileError(
            f"{CURRENT} of {uri} is {state}: {text[:80]!r}; publish a version again", path=CURRENT
        )
    return name


def _read_pointer(folder: Folder) -> str:
    """Read the pointer. Where it is written in place, as in HDFS, a truncated one is read again."""
    pauses = () if folder.is_local else _READ_AGAIN_SECONDS
    for pause in pauses:
        if (text := folder.read(CURRENT).decode(errors="replace")).endswith("\n"):
            return text
        time.sleep(pause)
    return folder.read(CURRENT).decode(errors="replace")


def read_manifest(uri: str, version: str = "current") -> Manifest:
    """Read the manifest of a version.

    Raises:
        FileError: The version does not exist, or its manifest is damaged.
    """
    if version == "current":
        current = current_version(uri)
        if current is None:
            raise FileError(f"{uri} has no current version; {_describe_versions(uri)}", path=CURRENT)
        version = current
    path = _manifest_path(version)
    try:
        data = Folder.at(uri).read(path)
    except FileNotFoundError as error:
        raise FileError(f"{uri} has no version {version!r}; {_describe_versions(uri)}", path=path) from error
    manifest = Manifest.from_bytes(data, path)
    if manifest.version != version:
        raise FileError(
            f"{path} of {uri} is the manifest of another version, {manifest.version!r}", path=path
        )
    return manifest


def resolve(uri: str, version: str = "current") -> IndexRef:
    """Return a reference to a version; `current` is resolved to the current version's name."""
    return IndexRef.to(uri, read_manifest(uri, version))


def pinned_manifest(ref: IndexRef) -> Manifest:
    """Read the manifest that a reference was made from.

    Raises:
        FileError: The version was removed, or its manifest has changed.
    """
    manifest = read_manifest(ref.uri, ref.version)
    if manifest.digest() != ref.digest:
        path = _manifest_path(ref.version)
        raise FileError(f"{path} of {ref.uri} has changed since the index was opened", path=path)
    return manifest


def reserve(uri: str, version: str | None) -> str:
    """Return the name of a version to write: the given one, or an unused one.

    This refuses an existing name before the work. Of two builds of one name the second to commit is refused.

    Raises:
        FileError: A version of that name exists.
    """
    name = version if version is not None else fresh_version()
    path = _manifest_path(name)
    if name in versions(uri):
        raise _name_taken(uri, name, path)
    return name


def _name_taken(uri: str, version: str, path: str) -> FileError:
    return FileError(f"{uri} already has a version {version!r}, and versions are immutable", path=path)


def commit(uri: str, manifest: Manifest) -> IndexRef:
    """Make a version readable by writing its manifest; all its other files must exist.

    Raises:
        FileError: A version of that name exists.
    """
    folder = Folder.at(uri)
    with store_lock(folder) as lock:
        _write_manifest(folder, uri, manifest, lock)
    return IndexRef.to(uri, manifest)


def commit_as_current(uri: str, manifest: Manifest, expected: str | None) -> IndexRef:
    """Make a version readable and the current one, in one step: both or nothing.

    Args:
        uri: The store.
        manifest: The version.
        expected: Refuse unless this version is current; None accepts any.

    Raises:
        PublishConflict: Another version is current. The version was not written, so its name is free.
        FileError: A version of that name exists.
    """
    folder, ref = Folder.at(uri), IndexRef.to(uri, manifest)
    with store_lock(folder) as lock:
        current = None if expected is None else current_version(uri)
        if current != expected:
            if current is not None and _is_built_on(uri, current, ref):
                return ref  # by an earlier attempt of this call: Spark may repeat a task
            raise _conflict(manifest.version, expected, current)
        _write_manifest(folder, uri, manifest, lock)
        _write_current(folder, manifest.version, lock)
    return ref


def move_current(uri: str, version: str, expected: str | None = None) -> None:
    """Make a version the current one.

    Args:
        uri: The store.
        version: The version.
        expected: Refuse unless this version is current; None accepts any.

    Raises:
        PublishConflict: Another version than the expected one is current.
        FileError: The version does not exist.
    """
    folder = Folder.at(uri)
    read_manifest(uri, version)  # before the lock, which creates a folder
    with store_lock(folder) as lock:
        read_manifest(uri, version)
        if expected is not None and (current := current_version(uri)) not in (expected, version):
            raise _conflict(version, expected, current)
        _write_current(folder, version, lock)


def _conflict(version: str, expected: str | None, current: str | None) -> PublishConflict:
    return PublishConflict(
        f"version {version!r} was built on {expected!r}, but {current!r} is current now; nothing was "
        "published: apply the changes again",
        version=version,
        expected=expected,
        current=current,
        path=CURRENT,
    )


def _is_built_on(uri: str, current: str, ref: IndexRef) -> bool:
    layers = read_manifest(uri, current).layers
    return any(layer.version == ref.version for layer in layers) and resolve(uri, ref.version) == ref


def _write_manifest(folder: Folder, uri: str, manifest: Manifest, lock: HeldLock) -> None:
    path, content = _manifest_path(manifest.version), manifest.to_bytes()
    try:
        existing = folder.read(path)
    except FileNotFoundError:
        lock.confirm()
        folder.write(path, content)
        return
    # Spark may repeat a task: then the manifest is there, and is the same.
    if existing != content:
        raise _name_taken(uri, manifest.version, path)


def _write_current(folder: Folder, version: str, lock: HeldLock) -> None:
    lock.confirm()
    folder.write(CURRENT, f"{version}\n".encode())


def sweep(uri: str, keep: int, grace: float) -> RemovedFiles:
    """Remove old versions, and files that no manifest lists.

    A manifest that cannot be read is kept, with all that it may refer to: the files of its version, and all
    files that existed when it was written.

    Args:
        uri: The store.
        keep: The number of newest versions to keep. The current version and files that a kept delta refers to
            are kept as well.
        grace: The minimum age in seconds of a file to be removed: a younger one may belong to a build that
            has not written its manifest yet.

    Returns:
        The paths of the removed files, relative to the store.
    """
    folder, horizon = Folder.at(uri), time.time() - grace
    if not folder.entries("versions"):
        return RemovedFiles()
    with store_lock(folder) as lock:
        current, entries = current_version(uri), folder.entries("versions")
        manifests, damaged = _read_manifests(uri, entries)
        kept = [
            manifest
            for age, manifest in enumerate(reversed(manifests))
            if age < keep or manifest.version == current or manifest.created > horizon
        ]
        needed = {path for manifest in kept for path in manifest.files}
        needed |= {_manifest_path(manifest.version) for manifest in kept}
        unreadable = {path: entry for path, (entry, _) in damaged.items()}
        unneeded = sorted(
            entry.path
            for entry in entries
            if entry.path not in needed
            and entry.modified <= horizon
            and not _may_be_listed(entry, unreadable)
        )
        # Manifests first, and under the lock: a version with some files removed must not be readable, and
        # none of these can become current meanwhile.
        first = [path for path in unneeded if path.endswith(f"/{_MANIFEST}")]
        for path in first:
            lock.confirm()
            folder.remove(path)
    rest = [path for path in unneeded if not path.endswith(f"/{_MANIFEST}")]
    for path in rest:
        folder.remove(path)
    removed = RemovedFiles(
        [*first, *rest], (f"{path}: {reason}" for path, (_, reason) in sorted(damaged.items()))
    )
    for version_folder in {"/".join(path.split("/")[:2]) for path in removed}:
        folder.remove_empty(version_folder)
    return removed


def _read_manifests(
    uri: str, entries: list[FileEntry]
) -> tuple[list[Manifest], dict[str, tuple[FileEntry, str]]]:
    """Read all manifests, the oldest first; return those that cannot be read with the reason."""
    manifests, damaged = [], {}
    for entry in entries:
        _, version, *name = entry.path.split("/")
        if name != [_MANIFEST]:
            continue
        try:
            manifests.append(read_manifest(uri, version))
        except (FileError, OSError, ValueError) as error:
            damaged[entry.path] = (entry, str(error))
    manifests.sort(key=lambda manifest: (manifest.created, manifest.version))
    return manifests, damaged


def _may_be_listed(entry: FileEntry, unreadable: dict[str, FileEntry]) -> bool:
    """Return whether a manifest that cannot be read may refer to a file, or is the file."""
    if entry.path.endswith(f"/{_MANIFEST}"):
        return entry.path in unreadable
    own_folder = entry.path.rpartition("/")[0]
    return any(
        path.rpartition("/")[0] == own_folder or entry.modified <= manifest.modified + _CLOCK_SKEW_SECONDS
        for path, manifest in unreadable.items()
    )
