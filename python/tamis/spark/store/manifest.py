"""The manifest of a version: its files, their checksums and the settings it was built with."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from tamis import FileError
from tamis.expression import Missing
from tamis.spark.store.file_cache import checksum
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest_fields import HEADER_BYTES, Fields

FORMAT = 1

IdType = Literal["bigint", "string"]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the store.

    Attributes:
        path: Its path, relative to the store.
        bytes: Its length.
        sha256: The checksum of its content, in hex.
        header: Its first 64 bytes, in hex.
        rows: The number of subscriptions, ids or rows in it.
    """

    path: str
    bytes: int
    sha256: str
    header: str
    rows: int

    @classmethod
    def of(cls, path: str, local: Path, rows: int) -> StoredFile:
        """Describe a local file that is, or will be, stored at `path`."""
        with local.open("rb") as file:
            header = file.read(HEADER_BYTES)
        return cls(path, local.stat().st_size, checksum(local), header.hex(), rows)

    def open(self, folder: Folder) -> Path:
        """Return a local path of the file, after a check of its length and header.

        Raises:
            FileError: It is missing, or is not the file that the manifest describes.
        """
        local = folder.local(self.path, self.sha256)
        try:
            with local.open("rb") as file:
                same = file.read(HEADER_BYTES).hex() == self.header and local.stat().st_size == self.bytes
        except FileNotFoundError as error:
            raise FileError(f"{self.path} is missing from {folder.root}", path=self.path) from error
        if not same:
            raise FileError(
                f"{self.path} in {folder.root} is not the file that the manifest lists", path=self.path
            )
        return local


@dataclass(frozen=True, slots=True)
class Layer:
    """The files that one version added.

    Attributes:
        version: The version's name.
        shards: Files of subscriptions.
        changed: Tables of ids that the version replaced or deleted; older layers no longer count for them.
    """

    version: str
    shards: tuple[StoredFile, ...] = ()
    changed: tuple[StoredFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a version consists of.

    Attributes:
        version: The version's name.
        created: When it was written, in seconds since the epoch.
        id_type: The type of ids in Spark.
        engine: The engine it was built with.
        missing: The truth of a predicate on a missing attribute.
        options: The engine's options.
        subscriptions: The number of subscriptions, deltas applied.
        attributes: Every attribute that an expression refers to, sorted.
        layers: The oldest first, this version's own last. A version without deltas has one.
        quarantine: Tables of rejected rows.
        observed: The sample of events that the shards are optimized for; None if there was none.
        format: The version of the manifest's format.
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
        """All shards, each with the number of its layer; 0 is the oldest."""
        return [(depth, shard) for depth, layer in enumerate(self.layers) for shard in layer.shards]

    @property
    def files(self) -> set[str]:
        """The paths of all files that the version refers to."""
        layered = [file for layer in self.layers for file in (*layer.shards, *layer.changed)]
        observed = [self.observed] if self.observed else []
        return {file.path for file in (*layered, *self.quarantine, *observed)}

    def to_bytes(self) -> bytes:
        """Serialize to JSON; equal manifests give equal bytes."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> Manifest:
        """Parse a manifest.

        Raises:
            FileError: It is damaged, or has a format that this version of tamis does not read.
        """
        try:
            content = Fields.parse(data, "the manifest")
            format = content.count("format")
            if format != FORMAT:
                raise FileError(
                    f"{name} has format {format}; accepted is {FORMAT}, a later version of tamis may read it",
                    path=name,
                )
            version = content.version("version")
            layers = tuple(_layer(layer) for layer in content.objects("layers"))
            built_on = [layer.version for layer in layers]
            if not layers or built_on[-1] != version or len(set(built_on)) < len(layers):
                raise ValueError(f"the layers {built_on} must be distinct, and the last of them {version!r}")
            observed = content.object_or_none("observed")
            manifest = cls(
                version=version,
                created=content.seconds("created"),
                id_type=content.choice("id_type", get_args(IdType)),
                engine=content.text("engine"),
                missing=content.choice("missing", get_args(Missing)),
                options=content.options("options"),
                subscriptions=content.count("subscriptions"),
                attributes=content.texts("attributes"),
                layers=layers,
                quarantine=_files(content, "quarantine", version),
                # A delta refers to the sample of the version that it is built on.
                observed=None if observed is None else _file(observed, built_on),
                format=format,
            )
            content.end()
        except ValueError as error:
            raise FileError(f"{name} is not a manifest: {error}", path=name) from error
        return manifest

    def digest(self) -> str:
        """Return the checksum of the manifest, which identifies the version's content."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _layer(fields: Fields) -> Layer:
    version = fields.version("version")
    layer = Layer(version, _files(fields, "shards", version), _files(fields, "changed", version))
    fields.end()
    return layer


def _files(fields: Fields, name: str, version: str) -> tuple[StoredFile, ...]:
    return tuple(_file(listed, [version]) for listed in fields.objects(name))


def _file(fields: Fields, versions: Collection[str]) -> StoredFile:
    """Read a file that lies in the folder of one of some versions."""
    size = fields.count("bytes")
    file = StoredFile(
        path=fields.path("path", versions),
        bytes=size,
        sha256=fields.sha256("sha256"),
        header=fields.header("header", size),
        rows=fields.count("rows"),
    )
    fields.end()
    return file


@dataclass(frozen=True, slots=True)
class IndexRef:
    """A reference to a version of a stored index: small, immutable, and safe in closures sent to workers.

    Attributes:
        uri: The store.
        version: The version's name.
        digest: The checksum of its manifest.
        id_type: The type of ids in Spark: ``bigint`` or ``string``.
        subscriptions: The number of rules in the version.
        shards: The number of files that hold them.
        quarantined: The number of rows that were rejected when the version was built.
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
        """Make a reference from a version's manifest."""
        return cls(
            uri=uri,
            version=manifest.version,
            digest=manifest.digest(),
            id_type=manifest.id_type,
            subscriptions=manifest.subscriptions,
            shards=len(manifest.shards),
            quarantined=sum(file.rows for file in manifest.quarantine),
        )
