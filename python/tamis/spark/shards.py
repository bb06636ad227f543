"""What one task of a build does: rows of one shard in, files of the store out."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tamis.errors import DuplicateId, InvalidId, NeverMatchesWarning, OptionError, ParseError, TamisError
from tamis.expression import Missing, parse
from tamis.index import Index
from tamis.results import Id
from tamis.spark.files import Folder
from tamis.spark.loading import open_shards
from tamis.spark.manifest import IndexRef, StoredFile
from tamis.spark.sampling import read_sample

Faults = dict[int, TamisError]

UPSERT = "upsert"
DELETE = "delete"

WRITTEN = (
    "kind string, shard int, path string, bytes bigint, sha256 string, header string, rows bigint, "
    "attributes array<string>, replaced bigint, fault string, reason string"
)
_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("shard", pa.int32()),
        ("path", pa.string()),
        ("bytes", pa.int64()),
        ("sha256", pa.string()),
        ("header", pa.string()),
        ("rows", pa.int64()),
        ("attributes", pa.list_(pa.string())),
        ("replaced", pa.int64()),
        ("fault", pa.string()),
        ("reason", pa.string()),
    ]
)


@dataclass(frozen=True)
class ShardBuilder:
    """The task. Its input has the columns `shard`, `id`, `expression` and `op`, all rows of one shard.

    Rows that are refused become a table of their own and never an exception: Spark would try again in vain.

    Attributes:
        uri: The store.
        folder: The version's folder in it.
        engine: As `Index` takes.
        missing: As `Index` takes.
        options: As `Index` takes.
        sample: Events to lay the shard out for.
        parent: The version that changes are applied to; None if the rows are all there is.
    """

    uri: str
    folder: str
    engine: str
    missing: Missing
    options: Mapping[str, bool | int | float | str]
    sample: StoredFile | None
    parent: IndexRef | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Build the shard, save it, and tell what was written."""
        received = list(batches)
        if not sum(batch.num_rows for batch in received):
            return
        table = pa.Table.from_batches(received)
        numbers = pc.unique(table["shard"]).to_pylist()
        if len(numbers) != 1:
            # A file per shard is only right if a task has all of a shard and nothing else.
            raise AssertionError(f"one task got the shards {numbers}")
        rows = table.select(["id", "expression", "op"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeverMatchesWarning)
            index, faults = self._fill(rows)
        written = list(self._write(numbers[0], rows, index, faults))
        yield pa.RecordBatch.from_pylist(written, _SCHEMA)

    def _fill(self, rows: pa.Table) -> tuple[Index, Faults]:
        """Add all rows that can be added to an index, and tell what is wrong with the others.

        That is looked for only when something was refused, first by what is quick.
        """
        faults = _faults_of_ids(rows["id"]) | _faults_of_ops(rows["op"])
        try:
            return self._add(rows, faults), faults
        except TamisError:
            faults |= _faults_of_texts(rows, faults)
        try:
            return self._add(rows, faults), faults
        except TamisError:
            faults |= self._faults_of_engine(rows, faults)
        return self._add(rows, faults), faults

    def _add(self, rows: pa.Table, faults: Faults) -> Index:
        index = Index(self.engine, self.missing, self.options)
        upserts = _without(rows, faults).filter(pc.field("op") == UPSERT)
        index.add_many(upserts.select(["id", "expression"]))
        return index

    def _faults_of_engine(self, rows: pa.Table, known: Faults) -> Faults:
        index = Index(self.engine, self.missing, self.options)
        faults: Faults = {}
        for row, text in enumerate(rows["expression"].to_pylist()):
            if row in known or text is None:
                continue
            try:
                index.add(0, text)
                index.remove(0)
            except TamisError as error:
                faults[row] = error
        return faults

    def _lay_out(self, index: Index) -> None:
        if self.sample is not None:
            index.observe(read_sample(self.sample.open(Folder.at(self.uri))))
        index.compact()

    def _write(self, shard: int, rows: pa.Table, index: Index, faults: Faults) -> Iterator[dict[str, object]]:
        changed = _without(rows, faults)["id"]
        if len(index) > 0:
            self._lay_out(index)
            written = self._save("shard", shard, ".tamis", len(index), index.save)
            yield written | {"attributes": sorted(index.attributes())}
        if self.parent is not None and len(changed) > 0:
            replaced = _count_known(self.parent, changed.to_pylist())
            table = pa.table({"id": changed})
            written = self._save("changed", shard, ".parquet", len(changed), partial(pq.write_table, table))
            yield written | {"replaced": replaced}
        if faults:
            table = _refused(rows, faults)
            written = self._save("quarantine", shard, ".parquet", len(faults), partial(pq.write_table, table))
            first = min(faults)
            yield written | {
                "fault": type(faults[first]).__name__,
                "reason": f"subscription {rows['id'][first].as_py()!r}: {faults[first]}",
            }

    def _save(
        self, kind: str, shard: int, suffix: str, rows: int, write: Callable[[Path], None]
    ) -> dict[str, object]:
        """Write a file under a name that no other attempt of the task has."""
        path = f"{self.folder}/{kind}-{shard:05d}-{uuid.uuid4().hex[:12]}{suffix}"
        with Folder.at(self.uri).writing(path) as local:
            write(local)
            return {"kind": kind, "shard": shard, **asdict(StoredFile.of(path, local, rows))}


def _faults_of_ids(ids: pa.ChunkedArray) -> Faults:
    """Find ids that are null, and all rows of an id that is there twice: none is better than another."""
    encoded = pc.dictionary_encode(ids.combine_chunks())
    counts = pc.value_counts(encoded.indices)
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    doubtful = pc.or_(pc.is_null(encoded.indices), pc.is_in(encoded.indices, repeated))
    faults: Faults = {}
    for row in pc.indices_nonzero(pc.fill_null(doubtful, True)).to_pylist():
        id = ids[row].as_py()
        faults[row] = (
            InvalidId("the id is null")
            if id is None
            else DuplicateId(f"the id {id!r} is there more than once", id=id)
        )
    return faults


def _faults_of_ops(ops: pa.ChunkedArray) -> Faults:
    known = pc.is_in(ops, value_set=pa.array([UPSERT, DELETE]))
    return {
        row: OptionError(f"op is {ops[row].as_py()!r}, must be {UPSERT!r} or {DELETE!r}")
        for row in pc.indices_nonzero(pc.invert(known)).to_pylist()
    }


def _faults_of_texts(rows: pa.Table, known: Faults) -> Faults:
    faults: Faults = {}
    for row, (op, text) in enumerate(
        zip(rows["op"].to_pylist(), rows["expression"].to_pylist(), strict=True)
    ):
        if row in known or op != UPSERT:
            continue
        try:
            if text is None:
                raise ParseError("the expression is null")
            parse(text)
        except TamisError as error:
            faults[row] = error
    return faults


def _without(rows: pa.Table, faults: Faults) -> pa.Table:
    if not faults:
        return rows
    good = np.ones(rows.num_rows, dtype=bool)
    good[list(faults)] = False
    return rows.filter(pa.array(good))


def _refused(rows: pa.Table, faults: Faults) -> pa.Table:
    bad = rows.take(pa.array(sorted(faults), pa.int64()))
    reasons = pa.array([str(faults[row]) for row in sorted(faults)], pa.string())
    return pa.table({"id": bad["id"].cast(pa.string()), "expression": bad["expression"], "reason": reasons})


def _count_known(parent: IndexRef, ids: list[Id]) -> int:
    """Count the ids that a version holds."""
    shards = open_shards(parent)
    return sum(any(id in shard for shard in shards) for id in ids)
