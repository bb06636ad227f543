"""The files of a store: immutable versions, and a pointer to the current one.

    CURRENT                                               the name of the current version
    versions/<version>/manifest.json                      written last: a version without it does not exist
    versions/<version>/shard-00007-<unique>.tamis         rules, in a file that workers map
    versions/<version>/changed-00007-<unique>.parquet     ids that this version removes from older layers
    versions/<version>/quarantine-00007-<unique>.parquet  rejected rows
    versions/<version>/observed-<unique>.parquet          sample of events that the shards are optimized for

Tasks that fail or run twice leave files that no manifest lists. They are never read, and `sweep` removes
them.
"""

from __future__ import annotations

import re
import time
import uuid

from tamis import FileError
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest import IndexRef, Manifest

CURRENT = "CURRENT"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def fresh_version() -> str:
    """Return an unused version name. Names sort by time."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:8]}"


def folder_of(version: str) -> str:
    """Return the folder of a version, relative to the store.

    Raises:
        ValueError: The name is not allowed for a version.
    """
    if version == "current" or not _NAME.fullmatch(version):
        raise ValueError(
            f"{version!r} is not a version name; accepted are letters, digits, '.', '_' and '-', "
            "beginning with a letter or digit, and not 'current'"
        )
    return f"versions/{version}"


def _manifest_path(version: str) -> str:
    return f"{folder_of(version)}/manifest.json"


def versions(uri: str) -> list[str]:
    """List the versions that have a manifest, sorted by name."""
    paths = (entry.path.split("/") for entry in Folder.at(uri).entries("versions"))
    return sorted(path[1] for path in paths if path[2:] == ["manifest.json"])


def _describe_versions(uri: str) -> str:
    found = versions(uri)
    return f"existing versions: {', '.join(found)}" if found else "it has no versions"


def current_version(uri: str) -> str | None:
    """Return the name of the current version; None if none was published yet."""
    try:
        name = Folder.at(uri).read(CURRENT).decode()
    except FileNotFoundError:
        return None
    if not name.endswith("\n"):
        raise FileError(f"{CURRENT} of {uri} is truncated: {name!r}; publish a version again", path=CURRENT)
    return name.strip()


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
    return Manifest.from_bytes(data, path)


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

    Raises:
        FileError: A version of that name exists.
    """
    name = version if version is not None else fresh_version()
    path = _manifest_path(name)
    if name in versions(uri):
        raise FileError(f"{uri} already has a version {name!r}, and versions are immutable", path=path)
    return name


def commit(uri: str, manifest: Manifest) -> IndexRef:
    """Make a version readable by writing its manifest; all its other files must exist."""
    Folder.at(uri).write(_manifest_path(manifest.version), manifest.to_bytes())
    return IndexRef.to(uri, manifest)


def move_current(uri: str, version: str, expected: str | None = None) -> None:
    """Make a version the current one.

    Args:
        uri: The store.
        version: The version.
        expected: Refuse unless this version is current; None accepts any.

    Raises:
        FileError: The version does not exist, or the current version is not the expected one.
    """
    folder_of(version)
    read_manifest(uri, version)
    if expected is not None and current_version(uri) != expected:
        raise FileError(
            f"version {version!r} was built on {expected!r}, but {current_version(uri)!r} is current now; "
            "apply the changes again",
            path=CURRENT,
        )
    Folder.at(uri).write(CURRENT, f"{version}\n".encode())


def sweep(uri: str, keep: int, grace: float) -> list[str]:
    """Remove old versions, and files that no manifest lists.

    Args:
        uri: The store.
        keep: The number of newest versions to keep. The current version and files that a kept delta refers to
            are kept as well.
        grace: The minimum age in seconds of a file to be removed: a younger one may belong to a build that
            has not written its manifest yet.

    Returns:
        The paths of the removed files, relative to the store.
    """
    folder, current = Folder.at(uri), current_version(uri)
    manifests = sorted(
        (read_manifest(uri, version) for version in versions(uri)),
        key=lambda manifest: (manifest.created, manifest.version),
    )
    horizon = time.time() - grace
    kept = [
        manifest
        for age, manifest in enumerate(reversed(manifests))
        if age < keep or manifest.version == current or manifest.created > horizon
    ]
    needed = {path for manifest in kept for path in manifest.files}
    needed |= {_manifest_path(manifest.version) for manifest in kept}
    # Manifests first: a version with some files removed must not be readable.
    unneeded = sorted(
        (entry for entry in folder.entries("versions") if entry.path not in needed),
        key=lambda entry: (not entry.path.endswith("/manifest.json"), entry.path),
    )
    removed = [entry.path for entry in unneeded if entry.modified <= horizon]
    for path in removed:
        folder.remove(path)
    for version_folder in {"/".join(path.split("/")[:2]) for path in removed}:
        folder.remove_empty(version_folder)
    return removed
