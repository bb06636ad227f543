"""The task of a build: the rows of one shard in, files of the store out."""

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

from tamis import (
    DuplicateId,
    Index,
    InvalidId,
    NeverMatchesWarning,
    OptionError,
    ParseError,
    TamisError,
    parse,
)
from tamis.expression import Missing
from tamis.spark.build.event_sample import read_sample
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest import IndexRef, StoredFile
from tamis.spark.store.shard_cache import open_shards

RowErrors = dict[int, TamisError]
"""The errors of rejected rows, by row number."""

UPSERT = "upsert"
DELETE = "delete"

# One row per file that a task wrote.
RESULT_COLUMNS = (
    "kind string, shard int, path string, bytes bigint, sha256 string, header string, rows bigint, "
    "attributes array<string>, replaced bigint, fault string, reason string"
)
_RESULT_SCHEMA = pa.schema(
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
    """The task. Its input are all rows of one shard, with the columns `shard`, `id`, `expression` and `op`.

    Rejected rows become a quarantine table, never an exception: Spark would repeat the task, which would fail
    again.

    Attributes:
        uri: The store.
        folder: The version's folder, relative to the store.
        engine: As in `Index`.
        missing: As in `Index`.
        options: As in `Index`.
        sample: The events to optimize the shard for; None if there are none.
        parent: The version that a delta is built upon; None for a version without deltas.
    """

    uri: str
    folder: str
    engine: str
    missing: Missing
    options: Mapping[str, bool | int | float | str]
    sample: StoredFile | None
    parent: IndexRef | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Build and save the shard; yield a row per file."""
        received = list(batches)
        if not sum(batch.num_rows for batch in received):
            return
        table = pa.Table.from_batches(received)
        numbers = pc.unique(table["shard"]).to_pylist()
        if len(numbers) != 1:
            # One file per shard requires that a task has all rows of one shard and no others.
            raise AssertionError(f"one task got the shards {numbers}")
        rows = table.select(["id", "expression", "op"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeverMatchesWarning)
            index, errors = self._build(rows)
        files = list(self._write(numbers[0], rows, index, errors))
        yield pa.RecordBatch.from_pylist(files, _RESULT_SCHEMA)

    def _build(self, rows: pa.Table) -> tuple[Index, RowErrors]:
        """Add all valid rows to an index; return it with the errors of the other rows.

        Bulk adding comes first. Only if it fails are rows checked one by one: by parsing, then, for what
        parses but the engine does not take, by adding.
        """
        errors = _id_errors(rows["id"]) | _op_errors(rows["op"])
        try:
            return self._add(rows, errors), errors
        except TamisError:
            errors |= _parse_errors(rows, errors)
        try:
            return self._add(rows, errors), errors
        except TamisError:
            errors |= self._engine_errors(rows, errors)
        return self._add(rows, errors), errors

    def _add(self, rows: pa.Table, errors: RowErrors) -> Index:
        index = Index(self.engine, self.missing, self.options)
        upserts = _valid_rows(rows, errors).filter(pc.field("op") == UPSERT)
        index.add_many(upserts.select(["id", "expression"]))
        return index

    def _engine_errors(self, rows: pa.Table, known: RowErrors) -> RowErrors:
        index = Index(self.engine, self.missing, self.options)
        errors: RowErrors = {}
        for row, text in enumerate(rows["expression"].to_pylist()):
            if row in known or text is None:
                continue
            try:
                index.add(0, text)
                index.remove(0)
            except TamisError as error:
                errors[row] = error
        return errors

    def _optimize(self, index: Index) -> None:
        if self.sample is not None:
            index.observe(read_sample(self.sample.open(Folder.at(self.uri))))
        index.compact()

    def _write(
        self, shard: int, rows: pa.Table, index: Index, errors: RowErrors
    ) -> Iterator[dict[str, object]]:
        changed = _valid_rows(rows, errors)["id"]
        if len(index) > 0:
            self._optimize(index)
            file = self._save("shard", shard, ".tamis", len(index), index.save)
            yield file | {"attributes": sorted(index.attributes())}
        if self.parent is not None and len(changed) > 0:
            replaced = _count_existing(self.parent, changed.to_pylist())
            table = pa.table({"id": changed})
            file = self._save("changed", shard, ".parquet", len(changed), partial(pq.write_table, table))
            yield file | {"replaced": replaced}
        if errors:
            table = _rejected_rows(rows, errors)
            file = self._save("quarantine", shard, ".parquet", len(errors), partial(pq.write_table, table))
            first = min(errors)
            yield file | {
                "fault": type(errors[first]).__name__,
                "reason": f"rule {rows['id'][first].as_py()!r}: {errors[first]}",
            }

    def _save(
        self, kind: str, shard: int, suffix: str, rows: int, write: Callable[[Path], None]
    ) -> dict[str, object]:
        """Write a file whose name is unique to this attempt of the task."""
        path = f"{self.folder}/{kind}-{shard:05d}-{uuid.uuid4().hex[:12]}{suffix}"
        with Folder.at(self.uri).writing(path) as local:
            write(local)
            return {"kind": kind, "shard": shard, **asdict(StoredFile.of(path, local, rows))}


def _id_errors(ids: pa.ChunkedArray) -> RowErrors:
    """Reject null ids, and all rows of a repeated id: no row has precedence in a distributed table."""
    encoded = pc.dictionary_encode(ids.combine_chunks())
    counts = pc.value_counts(encoded.indices)
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    invalid = pc.or_(pc.is_null(encoded.indices), pc.is_in(encoded.indices, repeated))
    errors: RowErrors = {}
    for row in pc.indices_nonzero(pc.fill_null(invalid, True)).to_pylist():
        id = ids[row].as_py()
        errors[row] = (
            InvalidId("the id is null")
            if id is None
            else DuplicateId(f"the id {id!r} occurs more than once", id=id)
        )
    return errors


def _op_errors(ops: pa.ChunkedArray) -> RowErrors:
    known = pc.is_in(ops, value_set=pa.array([UPSERT, DELETE]))
    return {
        row: OptionError(f"op is {ops[row].as_py()!r}, must be {UPSERT!r} or {DELETE!r}")
        for row in pc.indices_nonzero(pc.invert(known)).to_pylist()
    }


def _parse_errors(rows: pa.Table, known: RowErrors) -> RowErrors:
    errors: RowErrors = {}
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
            errors[row] = error
    return errors


def _valid_rows(rows: pa.Table, errors: RowErrors) -> pa.Table:
    if not errors:
        return rows
    valid = np.ones(rows.num_rows, dtype=bool)
    valid[list(errors)] = False
    return rows.filter(pa.array(valid))


def _rejected_rows(rows: pa.Table, errors: RowErrors) -> pa.Table:
    rejected = rows.take(pa.array(sorted(errors), pa.int64()))
    reasons = pa.array([str(errors[row]) for row in sorted(errors)], pa.string())
    return pa.table(
        {"id": rejected["id"].cast(pa.string()), "expression": rejected["expression"], "reason": reasons}
    )


def _count_existing(parent: IndexRef, ids: list[str | int]) -> int:
    """Count the ids that a version holds."""
    shards = open_shards(parent)
    return sum(any(id in shard for shard in shards) for id in ids)
