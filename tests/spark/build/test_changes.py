"""`apply_changes` and `compact`: deltas give the matches of the changed rules."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.support.frames import frame_rows
from tests.spark.support.versions import empty_delta
from tests.spark.support.workload import (
    as_json,
    as_rules,
    attributes_of,
    events,
    plain_index,
    plain_matches,
    subscriptions,
)

import tamis
from tamis.spark import (
    apply_changes,
    build_index,
    compact,
    match,
    open_index,
    publish,
    read_quarantine,
    vacuum,
)
from tamis.spark.store import version_files
from tamis.spark.store.manifest import IndexRef, Manifest

EVENTS = events(120)
CHANGES = "id bigint, expression string, op string"


def changes_of(spark: SparkSession, rows: list[tuple[Any, ...]]) -> DataFrame:
    return spark.createDataFrame(rows, CHANGES)


def found(spark: SparkSession, uri: Path, version: str = "current", **kw: Any) -> list[tuple[Any, ...]]:
    table = spark.createDataFrame(as_json(EVENTS))
    return frame_rows(match(table, open_index(spark, uri, version), **kw))


def test_a_history_of_changes(spark: SparkSession, tmp_path: Path, random_seed: int) -> None:
    draw = random.Random(random_seed)
    rules: dict[Any, str] = dict(subscriptions(120))
    build_index(spark.createDataFrame(as_rules(rules)), tmp_path, version="v0", shards=2)
    fresh = subscriptions(400, seed=random_seed)
    states = {"v0": dict(rules)}
    for step in (1, 2, 3):
        touched = draw.sample(range(200), 40)
        rows: list[tuple[Any, ...]] = []
        for id in touched:
            if draw.random() < 0.4:
                rows.append((id, None, "delete"))
                rules.pop(id, None)
            else:
                rows.append((id, fresh[id + step], "upsert"))
                rules[id] = fresh[id + step]
        ref = apply_changes(changes_of(spark, rows), tmp_path, version=f"v{step}", shards=step)
        assert ref.subscriptions == len(rules)
        states[f"v{step}"] = dict(rules)
        assert found(spark, tmp_path) == sorted(plain_matches(rules, EVENTS))
    # Versions before it answer as they did.
    for version, state in states.items():
        assert found(spark, tmp_path, version) == sorted(plain_matches(state, EVENTS))
    # What was replaced does not take the place of others among the best.
    plain = plain_index(dict(sorted(rules.items())))
    best = [(e["event_id"], *pair) for e in EVENTS for pair in plain.top_k(attributes_of(e), 4)]
    assert found(spark, tmp_path, top_k=4) == sorted(best)

    folded = compact(spark, tmp_path, version="folded", shards=2)
    assert (folded.subscriptions, folded.shards) == (len(rules), 2)
    assert open_index(spark, tmp_path) == folded
    assert found(spark, tmp_path) == sorted(plain_matches(rules, EVENTS))
    assert found(spark, tmp_path, top_k=4) == sorted(best)
    assert compact(spark, tmp_path) == folded

    removed = vacuum(spark, tmp_path, keep=1, grace=timedelta())
    assert version_files.versions(str(tmp_path)) == ["folded"] and len(removed) > 8
    assert found(spark, tmp_path) == sorted(plain_matches(rules, EVENTS))


def test_only_removals_and_of_everything(spark: SparkSession, tmp_path: Path) -> None:
    build_index(spark.createDataFrame(as_rules({1: "a = 1", 2: "true"})), tmp_path)
    removals = changes_of(
        spark, [(1, "is not looked at >", "delete"), (2, None, "delete"), (9, None, "delete")]
    )
    ref = apply_changes(removals, tmp_path)
    assert (ref.subscriptions, ref.shards) == (0, 1)
    assert found(spark, tmp_path) == []
    assert compact(spark, tmp_path).shards == 0
    assert found(spark, tmp_path) == []
    ref = apply_changes(changes_of(spark, [(1, "true", "upsert")]), tmp_path)
    assert (ref.subscriptions, len(found(spark, tmp_path))) == (1, len(EVENTS))


def test_no_changes(spark: SparkSession, tmp_path: Path) -> None:
    before = build_index(spark.createDataFrame(as_rules({1: "true"})), tmp_path)
    ref = apply_changes(changes_of(spark, []), tmp_path)
    assert ref.subscriptions == before.subscriptions and ref.version != before.version
    assert len(found(spark, tmp_path)) == len(EVENTS)


def test_failed_changes_leave_the_version_in_use(spark: SparkSession, tmp_path: Path) -> None:
    before = build_index(spark.createDataFrame(as_rules({1: "true", 2: "false"})), tmp_path)
    bad = changes_of(spark, [(1, None, "delete"), (2, "a >", "upsert"), (3, "a", "replace"), (4, "a", None)])
    with pytest.raises(tamis.ParseError, match="rule 2: line 1"):
        apply_changes(bad.where("id < 3"), tmp_path)
    with pytest.raises(tamis.OptionError, match="rule 3: op is 'replace', must be"):
        apply_changes(bad.where("id > 2"), tmp_path, shards=1)
    with pytest.raises(tamis.DuplicateId):
        apply_changes(bad.where("id = 1").union(bad.where("id = 1")), tmp_path)
    assert open_index(spark, tmp_path) == before and version_files.versions(str(tmp_path)) == [before.version]

    after = apply_changes(bad, tmp_path, on_error="quarantine")
    assert (after.subscriptions, after.quarantined) == (1, 3)
    assert {row["id"] for row in read_quarantine(spark, after).collect()} == {"2", "3", "4"}
    assert found(spark, tmp_path) == []


def test_wrong_arguments(spark: SparkSession, tmp_path: Path) -> None:
    rows = changes_of(spark, [(1, "true", "upsert")])
    with pytest.raises(tamis.FileError, match="has no current version"):
        apply_changes(rows, tmp_path)
    with pytest.raises(tamis.FileError, match="has no current version"):
        compact(spark, tmp_path)
    build_index(spark.createDataFrame(as_rules({1: "true"})), tmp_path, version="v")
    with pytest.raises(TypeError, match="'id' must be bigint, the type of ids of version 'v'"):
        apply_changes(rows.withColumn("id", rows["id"].cast("string")), tmp_path)
    with pytest.raises(ValueError, match="no column 'what'"):
        apply_changes(rows, tmp_path, op_col="what")
    with pytest.raises(TypeError, match="'id' is bigint; accepted are the strings 'upsert' and 'delete'"):
        apply_changes(rows, tmp_path, op_col="id")
    with pytest.raises(ValueError, match="keep is 0"):
        vacuum(spark, tmp_path, 0)
    with pytest.raises(ValueError, match="grace is"):
        vacuum(spark, tmp_path, grace=-timedelta(1))


class Rival:
    """Publishes another delta whenever a version is about to be published, a number of times."""

    def __init__(self, uri: Path, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self._uri, self._left = str(uri), times
        self._commit = version_files.commit_as_current
        self.published: list[str] = []
        monkeypatch.setattr(version_files, "commit_as_current", self)

    def __call__(self, uri: str, manifest: Manifest, expected: str | None) -> IndexRef:
        if self._left:
            self._left -= 1
            parent = version_files.read_manifest(self._uri)
            self.published.append(f"rival-{self._left}")
            self._commit(self._uri, empty_delta(self.published[-1], parent), parent.version)
        return self._commit(uri, manifest, expected)


def test_changes_are_built_again_upon_what_others_published(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_index(spark.createDataFrame(as_rules({1: "true", 2: "true"})), tmp_path, version="v1")
    rival = Rival(tmp_path, monkeypatch, times=1)
    ref = apply_changes(changes_of(spark, [(1, None, "delete")]), tmp_path, version="mine")
    assert ref.version == "mine" and open_index(spark, tmp_path) == ref
    layers = version_files.read_manifest(str(tmp_path)).layers
    assert [layer.version for layer in layers] == ["v1", *rival.published, "mine"]
    assert {id for _, id in found(spark, tmp_path)} == {2}


def test_changes_that_are_always_late(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_index(spark.createDataFrame(as_rules({1: "true", 2: "true"})), tmp_path, version="v1")
    rows = changes_of(spark, [(1, None, "delete")])
    delta = apply_changes(rows, tmp_path, version="delta", publish=False)
    rival = Rival(tmp_path, monkeypatch, times=9)
    with pytest.raises(
        tamis.PublishConflict, match="was built on 'rival-8', but 'rival-7' is current"
    ) as caught:
        apply_changes(rows, tmp_path, version="mine", attempts=2)
    conflict = caught.value
    assert (conflict.version, conflict.expected, conflict.current) == ("mine", "rival-8", "rival-7")
    with pytest.raises(tamis.PublishConflict):
        compact(spark, tmp_path, version="whole")
    with pytest.raises(
        tamis.PublishConflict, match="'delta' was built on 'v1', but 'rival-6' is current now"
    ):
        publish(spark, tmp_path, delta.version, expected="v1")
    assert open_index(spark, tmp_path).version == rival.published[-1] == "rival-6"
    # Their names are free.
    assert set(version_files.versions(str(tmp_path))) == {"v1", "delta", *rival.published}
    with pytest.raises(ValueError, match="attempts is 0, must be at least 1"):
        apply_changes(rows, tmp_path, attempts=0)


def test_a_sample_of_events_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    rules = subscriptions(60)
    stats = spark.createDataFrame(as_json(EVENTS))
    build_index(spark.createDataFrame(as_rules(rules)), tmp_path, stats=stats)
    apply_changes(changes_of(spark, [(1, "true", "upsert")]), tmp_path)
    ref = compact(spark, tmp_path)
    vacuum(spark, tmp_path, keep=1, grace=timedelta())
    observed = version_files.pinned_manifest(ref).observed
    assert observed is not None and (tmp_path / observed.path).exists() and ref.version in observed.path
    assert found(spark, tmp_path) == sorted(plain_matches({**rules, 1: "true"}, EVENTS))


def test_other_names_of_columns(spark: SparkSession, tmp_path: Path) -> None:
    build_index(spark.createDataFrame(as_rules({1: "true"})), tmp_path)
    rows = spark.createDataFrame([(2, "true", "upsert", "x")], "key int, rule string, what string, op string")
    ref = apply_changes(rows, tmp_path, id_col="key", expr_col="rule", op_col="what")
    assert ref.subscriptions == 2
