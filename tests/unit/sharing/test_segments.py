"""The engine `compiled` from Python: compaction, mapped files, threads, processes that share memory."""

from __future__ import annotations

import multiprocessing
import pickle
import re
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tamis
from tamis import Index


def filled(count: int = 500, **options: int) -> Index:
    index = Index(engine="compiled", options=options)
    index.add_many({n: f"a = {n % 10} and not b = 'x{n}'" for n in range(count)})
    for n in range(0, count, 7):
        index.remove(n)
    index.replace(1, "a = 3")
    index.add("text", "a >= 0")
    return index


def expected(value: int, count: int = 500) -> list[int | str]:
    kept = [n for n in range(count) if n % 7]
    return [n for n in kept if (3 if n == 1 else n % 10) == value] + ["text"]


EVENT = {"a": 3, "b": "y"}


def test_the_engine_is_listed() -> None:
    (engine,) = [engine for engine in tamis.engines() if engine.name == "compiled"]
    assert engine.takes == "all" and "segments" in engine.description


@pytest.mark.parametrize("options", [{}, {"recent": 2, "fanout": 2}])
def test_compaction_changes_no_answer(options: dict[str, int]) -> None:
    index = filled(**options)
    before = index.match(EVENT)
    index.compact()
    assert index.match(EVENT) == before == expected(3)
    stats = index.stats()
    assert (stats["segments"], stats["recent"], stats["dead"]) == (1, 0, 0)
    index.validate()


def test_compaction_of_other_engines_is_no_error() -> None:
    index = Index(engine="scan")
    index.add(1, "a = 1")
    index.compact()
    assert index.match({"a": 1}) == [1]


def test_observed_events_change_no_answer() -> None:
    index = filled()
    index.observe([{"a": n % 3, "b": "y"} for n in range(2_000)])
    index.compact()
    assert index.match(EVENT) == expected(3)
    table = index.match_arrow(pa.table({"a": [3, 4], "b": ["y", "y"]}), ordered=True)
    assert table.num_rows == len(expected(3)) + len(expected(4))
    index.validate()


def test_a_loaded_index_is_updated_and_saved_over_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tamis"
    filled().save(path)
    for round in range(5):
        index = Index.load(path)
        assert index.match(EVENT) == expected(3) + [f"round-{n}" for n in range(round)]
        index.add(f"round-{round}", "a = 3")
        index.save(path)
        # What is mapped is the file that was replaced.
        assert index.match(EVENT) == expected(3) + [f"round-{n}" for n in range(round + 1)]
        index.validate()
    assert [file.name for file in tmp_path.iterdir()] == ["x.tamis"]


def test_damage_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.tamis"
    filled().save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(tamis.FileError, match="damaged") as caught:
        Index.load(path)
    assert str(path) in str(caught.value)


def test_pickle_keeps_everything() -> None:
    index = filled(recent=5, fanout=3)
    copy = pickle.loads(pickle.dumps(index))
    assert list(copy) == list(index)
    assert copy.match(EVENT) == expected(3)
    assert (copy.engine, copy.options) == ("compiled", {"recent": 5, "fanout": 3})
    copy.validate()


def test_readers_go_on_while_others_compact_and_add() -> None:
    index = filled(recent=4, fanout=2)
    over = threading.Event()
    errors: list[BaseException] = []

    def guarded(work: Any) -> None:
        try:
            while not over.is_set():
                work()
        except BaseException as error:
            errors.append(error)
            over.set()

    def write() -> None:
        index.add_many({f"w{n}": "a = 4" for n in range(30)})
        index.compact()
        for n in range(30):
            index.remove(f"w{n}")

    def read() -> None:
        assert index.match(EVENT) == expected(3)
        extra = len(index.match({"a": 4, "b": "y"})) - len(expected(4))
        assert 0 <= extra <= 30

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (write, read, read)]
    for thread in threads:
        thread.start()
    over.wait(1.5)
    over.set()
    for thread in threads:
        thread.join()
    assert errors == []
    index.validate()


def _use(index: Index, pipe: Connection) -> None:
    index.add("child", "a = 3")
    index.compact()
    index.validate()
    pipe.send((index.match(EVENT), index.stats()["segments"]))


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_child_forked_during_a_merge_uses_its_copy() -> None:
    index = filled(20_000)
    # Has everything built anew in the background.
    index.observe([EVENT])
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_use, args=(index, there))
    child.start()
    try:
        assert here.poll(60), "the child waits for somebody who is not there"
        assert here.recv() == ([*expected(3, 20_000), "child"], 1)
    finally:
        child.kill()
        child.join()
    assert index.match(EVENT) == expected(3, 20_000)


def _mapped(path: str) -> dict[str, int]:
    """The figures of this process's mappings of a file, in KiB."""
    figures: dict[str, int] = {}
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            inside = line.endswith(path)
        elif inside and (found := re.match(r"(\w+): +(\d+) kB", line)):
            figures[found[1]] = figures.get(found[1], 0) + int(found[2])
    return figures


def _open_and_report(path: str, pipe: Connection) -> None:
    index = Index.load(path)
    matched = len(index.match(EVENT))
    pipe.send("open")
    pipe.recv()
    pipe.send((matched, _mapped(path)))
    pipe.recv()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_processes_that_open_one_file_share_its_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "shared.tamis")
    filled(20_000).save(path)
    size = Path(path).stat().st_size // 1024
    context = multiprocessing.get_context("spawn")
    children = []
    for _ in range(2):
        here, there = context.Pipe()
        child = context.Process(target=_open_and_report, args=(path, there))
        child.start()
        children.append((child, here))
    for _, pipe in children:
        assert pipe.recv() == "open"
    for _, pipe in children:
        pipe.send("both are open")
    for _, pipe in children:
        matched, figures = pipe.recv()
        assert matched == len(expected(3, 20_000))
        # Nothing of it belongs to one process alone; all of it that is in memory is there once.
        assert figures["Private_Dirty"] == 0
        assert figures["Rss"] > size // 2
        assert figures["Shared_Clean"] == figures["Rss"]
    for child, pipe in children:
        pipe.send("done")
        child.join()
        assert child.exitcode == 0
