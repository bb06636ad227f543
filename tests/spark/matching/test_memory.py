"""Workers of one machine share the memory of an index: its file is mapped, not read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.spark import IndexRef, build_index
from tamis.spark.store.shard_cache import open_shards

RULES = 120_000


def private_bytes() -> int:
    """Memory that this process shares with no other."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    fields = dict(line.split(":") for line in lines if line.endswith("kB"))
    return sum(int(fields[name].split()[0]) for name in ("Private_Clean", "Private_Dirty")) * 1024


@dataclass(frozen=True)
class Measure:
    """Opens a small index and then a large one, and measures the private memory of the large one."""

    small: IndexRef
    large: IndexRef
    rendezvous: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (me,) = (number for batch in batches for number in batch.column(0).to_pylist())
        lines = [f'{{"a{n % 40}": {n}, "b{n % 7}": {n % 90}}}' for n in range(4000)]
        self.match(self.small, lines)
        before = private_bytes()
        self.wait_for_both(f"before-{me}")
        found = self.match(self.large, lines)
        # Pages count as shared as soon as both have them.
        self.wait_for_both(f"after-{me}")
        grown = private_bytes() - before
        self.wait_for_both(f"measured-{me}")
        yield pa.RecordBatch.from_pydict({"me": [me], "grown": [grown], "found": [found]})

    def match(self, ref: IndexRef, lines: list[str]) -> int:
        return sum(len(shard.match_json_many(lines, threads=1).ids) for shard in open_shards(ref))

    def wait_for_both(self, name: str) -> None:
        """Wait until the other worker reaches the same point."""
        (self.rendezvous / name).touch()
        deadline = time.monotonic() + 300
        while len(list(self.rendezvous.glob(name.split("-")[0] + "-*"))) < 2:
            assert time.monotonic() < deadline, "the other worker did not reach it"
            time.sleep(0.01)


def test_two_workers_share_an_index(spark: SparkSession, tmp_path: Path, summary: list[str]) -> None:
    def rules(count: int) -> pa.Table:
        texts = [f"a{n % 40} = {n} and b{n % 7} between {n % 50} and {n % 50 + 30}" for n in range(count)]
        return pa.table({"id": pa.array(range(count)), "expression": texts})

    small = build_index(spark.createDataFrame(rules(100)), tmp_path / "small")
    large = build_index(spark.createDataFrame(rules(RULES)), tmp_path / "large")
    size = next(tmp_path.glob("large/versions/*/shard-*")).stat().st_size
    (tmp_path / "rendezvous").mkdir()
    measure = Measure(small, large, tmp_path / "rendezvous")
    rows = spark.range(0, 2, 1, 2).mapInArrow(measure, "me bigint, grown bigint, found bigint").collect()
    assert len(rows) == 2 and all(row["found"] > 0 for row in rows)
    assert size > 10_000_000
    grown = " and ".join(f"{row['grown'] / 1e6:.1f}" for row in rows)
    summary.append(f"two workers: {grown} MB of private memory for an index of {size / 1e6:.1f} MB")
    for row in rows:
        assert row["grown"] < 0.2 * size, f"{row['grown']:,} bytes of an index of {size:,}"
