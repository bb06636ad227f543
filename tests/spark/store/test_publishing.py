"""Publishing at the same moment: one winner per parent, no change lost, every name once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.spark.support.versions import as_remote, empty_delta

import tamis
from tamis.spark.store import store_lock, version_files
from tamis.spark.store.folder import Folder

ROOT = Path(__file__).parents[3]
THREADS = 12
ROUNDS = 3

# Run as `python -c PROGRAM KIND FOLDER NAME START`: once the file START exists, three threads publish six
# deltas, and build each again upon the version that is current when they were late.
PUBLISHER = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.spark.support.versions import as_remote, empty_delta

import tamis
from tamis.spark.store import version_files
from tamis.spark.store.folder import Folder

kind, uri, name, start = sys.argv[1:]
if kind == "remote":
    Folder.at = as_remote


def publish(version):
    while True:
        parent = version_files.read_manifest(uri)
        try:
            version_files.commit_as_current(uri, empty_delta(version, parent), parent.version)
            return
        except tamis.PublishConflict:
            continue


print("ready", flush=True)
while not Path(start).exists():
    time.sleep(0.001)
with ThreadPoolExecutor(3) as pool:
    list(pool.map(publish, [f"{name}-{number}" for number in range(6)]))
"""


@pytest.fixture(params=["local", "remote"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind of the store."""
    if request.param == "remote":
        monkeypatch.setattr(Folder, "at", as_remote)
    return str(request.param)


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Call functions at the same moment, each in a thread; return results and errors."""
    barrier = threading.Barrier(len(calls))

    def call(function: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return function()
        except tamis.FileError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, calls))


def test_one_winner_per_parent(kind: str, tmp_path: Path) -> None:
    uri = str(tmp_path)
    version_files.commit_as_current(uri, empty_delta("v0"), None)
    published = ["v0"]
    for number in range(1, ROUNDS + 1):
        parent = version_files.read_manifest(uri)
        deltas = [empty_delta(f"v{number}-{thread}", parent) for thread in range(THREADS)]

        def publish(delta: Any, expected: str = parent.version) -> Any:
            return version_files.commit_as_current(uri, delta, expected)

        outcomes = at_once([lambda delta=delta: publish(delta) for delta in deltas])  # type: ignore[misc]
        late = [error for error in outcomes if isinstance(error, tamis.PublishConflict)]
        (winner,) = [outcome.version for outcome in outcomes if outcome not in late]
        assert len(late) == THREADS - 1
        assert {(error.expected, error.current) for error in late} == {(published[-1], winner)}
        published.append(winner)
    # Those who were late have written nothing.
    assert version_files.versions(uri) == sorted(published)
    layers = version_files.read_manifest(uri).layers
    assert [layer.version for layer in layers] == published


def test_moving_the_pointer(kind: str, tmp_path: Path) -> None:
    uri = str(tmp_path)
    version_files.commit_as_current(uri, empty_delta("v0"), None)
    names = [f"v1-{number}" for number in range(THREADS)]
    for name in names:
        version_files.commit(uri, empty_delta(name))
    outcomes = at_once([lambda name=name: version_files.move_current(uri, name, "v0") for name in names])  # type: ignore[misc]
    assert outcomes.count(None) == 1
    assert version_files.current_version(uri) == names[outcomes.index(None)]


def test_a_name_is_given_once(kind: str, tmp_path: Path) -> None:
    uri = str(tmp_path)
    manifests = [empty_delta("v") for _ in range(THREADS)]
    assert len({manifest.digest() for manifest in manifests}) == THREADS
    outcomes = at_once(
        [lambda manifest=manifest: version_files.commit(uri, manifest) for manifest in manifests]  # type: ignore[misc]
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, tamis.FileError)]
    assert len(refused) == THREADS - 1 and "already has a version 'v'" in str(refused[0])
    (ref,) = [outcome for outcome in outcomes if outcome not in refused]
    assert version_files.resolve(uri, "v") == ref
    assert len({version_files.fresh_version() for _ in range(1_000)}) == 1_000


def test_processes_lose_no_change(kind: str, tmp_path: Path) -> None:
    uri, start = str(tmp_path / "store"), tmp_path / "start"
    version_files.commit_as_current(uri, empty_delta("v0"), None)
    path = os.pathsep.join([str(ROOT), *sys.path])
    commands = [[sys.executable, "-c", PUBLISHER, kind, uri, f"p{n}", str(start)] for n in range(3)]
    running = [
        subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE)
        for command in commands
    ]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    start.touch()
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], outputs
    layers = [layer.version for layer in version_files.read_manifest(uri).layers]
    names = {f"p{process}-{number}" for process in range(3) for number in range(6)}
    assert layers[0] == "v0" and len(layers) == 19 and set(layers[1:]) == names


def test_a_repeated_task_publishes_once(kind: str, tmp_path: Path) -> None:
    """With Spark Connect the call is a task, which Spark may run twice."""
    uri = str(tmp_path)
    version_files.commit_as_current(uri, empty_delta("v0"), None)
    base = version_files.read_manifest(uri)
    first = empty_delta("v1", base)
    refs = {version_files.commit_as_current(uri, first, "v0") for _ in range(2)}
    assert len(refs) == 1 and version_files.commit(uri, first) in refs
    version_files.commit_as_current(uri, empty_delta("v2", first), "v1")
    assert version_files.commit_as_current(uri, first, "v0") in refs
    assert version_files.current_version(uri) == "v2"
    with pytest.raises(tamis.PublishConflict):
        version_files.commit_as_current(uri, empty_delta("v1", base), "v0")


def claims(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "store/locks").iterdir())


def test_a_claim_that_its_holder_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Folder, "at", as_remote)
    uri, locks = str(tmp_path), tmp_path / "store/locks"
    locks.mkdir(parents=True)
    left, foreign = locks / f"{1:020d}-{'a' * 32}.claim", locks / "notes.txt"
    for path in (left, foreign):
        path.touch()
        os.utime(path, (time.time() - store_lock.LEASE_SECONDS - 60,) * 2)
    version_files.commit_as_current(uri, empty_delta("v0"), None)
    assert claims(tmp_path) == ["notes.txt"]
    # A younger one is respected.
    left.touch()
    monkeypatch.setattr(store_lock, "WAIT_SECONDS", 0.0)
    with pytest.raises(
        tamis.FileError, match=f"is not free after 0 s: locks/{left.name}; if no other process"
    ):
        version_files.move_current(uri, "v0")
    assert claims(tmp_path) == sorted([left.name, "notes.txt"])


def test_a_holder_that_was_stopped_for_long_writes_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(tmp_path)
    version_files.commit_as_current(uri, empty_delta("v0"), None)
    version_files.commit(uri, empty_delta("v1"))
    monkeypatch.setattr(store_lock, "LEASE_SECONDS", -1.0)
    with pytest.raises(tamis.PublishConflict, match="others may have it; try again"):
        version_files.move_current(uri, "v1")
    with pytest.raises(tamis.PublishConflict):
        version_files.commit(uri, empty_delta("v2"))
    assert version_files.current_version(uri) == "v0" and version_files.versions(uri) == ["v0", "v1"]
