"""A store of index versions: a folder with immutable versions, and a pointer to the one in use.

    CURRENT                                         the name of the version in use
    versions/<version>/manifest.json                written last: without it there is no version
    versions/<version>/shard-00007-<unique>.tamis   subscriptions, a file that workers map
    versions/<version>/changed-00007-<unique>.parquet     ids that older layers lose
    versions/<version>/quarantine-00007-<unique>.parquet  rows that were refused
    versions/<version>/observed-<unique>.parquet          events that the shards were laid out for

Tasks that fail or run twice leave files that no manifest lists; nobody reads them, and `sweep` removes them.
"""

from __future__ import annotations

import re
import time
import uuid

from tamis.errors import FileError
from tamis.spark.files import Folder
from tamis.spark.manifest import IndexRef, Manifest

CURRENT = "CURRENT"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def fresh_version() -> str:
    """Make a name that no other version has; later ones sort behind earlier ones."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:8]}"


def folder_of(version: str) -> str:
    """Give the folder of a version, from the store's root.

    Raises:
        ValueError: The name cannot be one of a folder.
    """
    if version == "current" or not _NAME.fullmatch(version):
        raise ValueError(
            f"{version!r} is no name for a version; "
            "letters, digits, '.', '_' and '-' are, except 'current' and those that begin with a sign"
        )
    return f"versions/{version}"


def _manifest_path(version: str) -> str:
    return f"{folder_of(version)}/manifest.json"


def versions(uri: str) -> list[str]:
    """List the versions that can be read, sorted by name."""
    paths = (entry.path.split("/") for entry in Folder.at(uri).entries("versions"))
    return sorted(path[1] for path in paths if path[2:] == ["manifest.json"])


def _what_is_there(uri: str) -> str:
    found = versions(uri)
    return f"versions there: {', '.join(found)}" if found else "there is no version"


def current_version(uri: str) -> str | None:
    """Read which version is in use; None before the first was published."""
    try:
        name = Folder.at(uri).read(CURRENT).decode()
    except FileNotFoundError:
        return None
    if not name.endswith("\n"):
        raise FileError(f"{CURRENT} of {uri} is cut short: {name!r}; publish a version again", path=CURRENT)
    return name.strip()


def read_manifest(uri: str, version: str = "current") -> Manifest:
    """Read the manifest of a version.

    Raises:
        FileError: The version is not there, or its manifest is damaged.
    """
    if version == "current":
        current = current_version(uri)
        if current is None:
            raise FileError(f"{uri} has no {CURRENT}; {_what_is_there(uri)}", path=CURRENT)
        version = current
    path = _manifest_path(version)
    try:
        data = Folder.at(uri).read(path)
    except FileNotFoundError as error:
        raise FileError(f"{uri} has no version {version!r}; {_what_is_there(uri)}", path=path) from error
    return Manifest.from_bytes(data, path)


def resolve(uri: str, version: str = "current") -> IndexRef:
    """Refer to a version; `current` is the one in use now."""
    return IndexRef.to(uri, read_manifest(uri, version))


def pinned_manifest(ref: IndexRef) -> Manifest:
    """Read the manifest that a reference was made from.

    Raises:
        FileError: The version is gone, or has another content.
    """
    manifest = read_manifest(ref.uri, ref.version)
    if manifest.digest() != ref.digest:
        path = _manifest_path(ref.version)
        raise FileError(f"{path} of {ref.uri} is not the manifest that was opened", path=path)
    return manifest


def reserve(uri: str, version: str | None) -> str:
    """Give the name of a version to write: a fresh one, or the one asked for.

    Raises:
        FileError: There is a version of that name.
    """
    name = version if version is not None else fresh_version()
    path = _manifest_path(name)
    if name in versions(uri):
        raise FileError(f"{uri} has a version {name!r}, and versions never change", path=path)
    return name


def finish(uri: str, manifest: Manifest) -> IndexRef:
    """Make a version readable: all its files are there, now comes its manifest."""
    Folder.at(uri).write(_manifest_path(manifest.version), manifest.to_bytes())
    return IndexRef.to(uri, manifest)


def move_current(uri: str, version: str, expected: str | None = None) -> None:
    """Put a version in use.

    Args:
        uri: The store.
        version: The version.
        expected: The version that must be in use until now, or None if any may be.

    Raises:
        FileError: There is no such version, or another one is in use than expected.
    """
    folder_of(version)
    read_manifest(uri, version)
    if expected is not None and current_version(uri) != expected:
        raise FileError(
            f"version {version!r} was made from {expected!r}, but {current_version(uri)!r} is in use by now; "
            "apply the changes again",
            path=CURRENT,
        )
    Folder.at(uri).write(CURRENT, f"{version}\n".encode())


def sweep(uri: str, keep: int, grace: float) -> list[str]:
    """Remove old versions, and files that no version lists.

    Args:
        uri: The store.
        keep: How many of the youngest versions stay. The one in use and those that a delta builds on stay,
            too.
        grace: Nothing that was written within so many seconds is removed: someone may be about to list it.

    Returns:
        Paths of what was removed.
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
    # The manifest first: a version that is half gone must not be readable.
    doomed = sorted(
        (entry for entry in folder.entries("versions") if entry.path not in needed),
        key=lambda entry: (not entry.path.endswith("/manifest.json"), entry.path),
    )
    removed = [entry.path for entry in doomed if entry.modified <= horizon]
    for path in removed:
        folder.remove(path)
    for version_folder in {"/".join(path.split("/")[:2]) for path in removed}:
        folder.remove_empty(version_folder)
    return removed
