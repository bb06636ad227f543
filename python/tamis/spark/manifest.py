"""What a version of a stored index consists of."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tamis.errors import FileError
from tamis.expression import Missing
from tamis.spark.files import Folder, checksum

FORMAT = 1

IdType = Literal["bigint", "string"]

# The header of a saved index is under the checksums of all that follows, so it identifies the file.
_HEADER_BYTES = 64


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the store.

    Attributes:
        path: Where it is, from the store's root.
        bytes: Its length.
        sha256: The checksum of its content, in hex.
        header: Its first 64 bytes, in hex.
        rows: How many subscriptions, ids or rows it holds.
    """

    path: str
    bytes: int
    sha256: str
    header: str
    rows: int

    @classmethod
    def of(cls, path: str, local: Path, rows: int) -> StoredFile:
        """Describe a file that was just written and will be at `path`."""
        with local.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        return cls(path, local.stat().st_size, checksum(local), header.hex(), rows)

    def open(self, folder: Folder) -> Path:
        """Give a local path of the file, after a look at its length and header.

        Raises:
            FileError: It is missing, or it is another file.
        """
        local = folder.local(self.path, self.sha256)
        try:
            with local.open("rb") as file:
                same = file.read(_HEADER_BYTES).hex() == self.header and local.stat().st_size == self.bytes
        except FileNotFoundError as error:
            raise FileError(f"{self.path} is missing from {folder.root}", path=self.path) from error
        if not same:
            raise FileError(
                f"{self.path} in {folder.root} is not the file that the manifest lists", path=self.path
            )
        return local


@dataclass(frozen=True, slots=True)
class Layer:
    """What one version added: shards of subscriptions, and the ids that older layers lose by it."""

    version: str
    shards: tuple[StoredFile, ...] = ()
    changed: tuple[StoredFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that a reader of a version needs to know.

    Attributes:
        version: The version's name.
        created: When it was written: seconds of the epoch.
        id_type: The type of ids in Spark.
        engine: The engine that was asked for.
        missing: What a predicate on a missing attribute is.
        options: The engine's options.
        subscriptions: How many there are, deltas taken into account.
        attributes: Every attribute that an expression refers to.
        layers: The oldest first, this version's own last. More than one in a delta version.
        quarantine: Tables of rows that were refused.
        observed: A sample of events that the shards were laid out for.
    """

    version: str
    created: float
    id_type: IdType
    engine: str
    missing: Missing
    options: dict[str, bool | int | float | str]
    subscriptions: int
    attributes: tuple[str, ...]
    layers: tuple[Layer, ...]
    quarantine: tuple[StoredFile, ...] = ()
    observed: StoredFile | None = None
    format: int = field(default=FORMAT)

    @property
    def shards(self) -> list[tuple[int, StoredFile]]:
        """All shards, each with the number of its layer."""
        return [(depth, shard) for depth, layer in enumerate(self.layers) for shard in layer.shards]

    @property
    def files(self) -> set[str]:
        """Paths of all files that the version needs."""
        layered = [file for layer in self.layers for file in (*layer.shards, *layer.changed)]
        observed = [self.observed] if self.observed else []
        return {file.path for file in (*layered, *self.quarantine, *observed)}

    def to_bytes(self) -> bytes:
        """Give the manifest as JSON, always the same for the same content."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> Manifest:
        """Read a manifest.

        Raises:
            FileError: It is damaged, or of a format that is not known here.
        """
        try:
            content: dict[str, Any] = json.loads(data)
            if content["format"] != FORMAT:
                raise FileError(f"{name} has format {content['format']}; {FORMAT} is read here", path=name)
            layers = tuple(
                Layer(layer["version"], _files(layer["shards"]), _files(layer["changed"]))
                for layer in content.pop("layers")
            )
            quarantine, observed = _files(content.pop("quarantine")), content.pop("observed")
            return cls(
                layers=layers,
                quarantine=quarantine,
                observed=StoredFile(**observed) if observed else None,
                attributes=tuple(content.pop("attributes")),
                **content,
            )
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"{name} is no manifest: {error}", path=name) from error

    def digest(self) -> str:
        """Give what identifies the version's content."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _files(listed: list[dict[str, Any]]) -> tuple[StoredFile, ...]:
    return tuple(StoredFile(**file) for file in listed)


@dataclass(frozen=True, slots=True)
class IndexRef:
    """A version of a stored index: small, immutable, and safe to send to workers.

    Attributes:
        uri: The store.
        version: The version's name.
        digest: What identifies its content.
        id_type: The type of ids in Spark: ``bigint`` or ``string``.
        subscriptions: How many there are.
        shards: In how many files they are.
        quarantined: How many rows were refused when the version was written.
    """

    uri: str
    version: str
    digest: str
    id_type: IdType
    subscriptions: int
    shards: int
    quarantined: int

    @classmethod
    def to(cls, uri: str, manifest: Manifest) -> IndexRef:
        """Refer to a version by its manifest."""
        return cls(
            uri=uri,
            version=manifest.version,
            digest=manifest.digest(),
            id_type=manifest.id_type,
            subscriptions=manifest.subscriptions,
            shards=len(manifest.shards),
            quarantined=sum(file.rows for file in manifest.quarantine),
        )
