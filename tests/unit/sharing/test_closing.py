"""A closed index lets go of its file; an index that is not mapped has no need of it."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import tamis
from tamis import ClosedIndex, FileError, Index, Limits


def saved(path: Path, rules: int = 300) -> Path:
    index = Index(engine="compiled")
    index.add_many({n: f"a = {n}" for n in range(rules)})
    index.save(path)
    return path


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()


def test_a_closed_index_raises_and_its_file_is_unmapped(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.tamis")
    index = Index.load(path)
    assert is_mapped(path)
    states = [index.closed]
    index.close()
    index.close()
    assert [*states, index.closed] == [False, True]
    assert not is_mapped(path)
    assert repr(index) == "Index(closed)"
    calls = (
        lambda: index.match({"a": 1}),
        lambda: index.match_many([{"a": 1}]),
        lambda: index.add(1, "a = 1"),
        lambda: index.remove(1),
        lambda: index.save(path),
        lambda: len(index),
        lambda: 1 in index,
        lambda: list(index),
        lambda: index[1],
        lambda: index.explain(1, {"a": 1}),
        lambda: index.compact(),
        lambda: index.stats(),
        lambda: index.engine,
        lambda: pickle.dumps(index),
    )
    for call in calls:
        with pytest.raises(ClosedIndex, match="the index is closed; load or make it again"):
            call()
    assert len(Index.load(path)) == 300


def test_an_index_is_closed_at_the_end_of_a_block(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.tamis")
    with Index.load(path) as index:
        assert index.match({"a": 7}) == [7]
    assert index.closed
    with pytest.raises(ZeroDivisionError), Index() as other:
        raise ZeroDivisionError
    assert other.closed


def test_calls_that_have_begun_end_as_if_the_index_were_open(tmp_path: Path) -> None:
    index = Index.load(saved(tmp_path / "x.tamis"))
    begun, closed = threading.Event(), threading.Event()

    class Slow(Mapping[str, int]):
        """An event whose value is there once the index is closed."""

        def __getitem__(self, key: str) -> int:
            begun.set()
            closed.wait()
            return 5

        def __iter__(self) -> Iterator[str]:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(index.match(Slow())))
    thread.start()
    begun.wait()
    index.close()
    closed.set()
    thread.join()
    assert found == [[5]]
    assert index.closed


def test_an_index_that_is_not_mapped_outlives_its_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.tamis")
    index = Index.load(path, mmap=False)
    assert not is_mapped(path)
    path.write_bytes(b"")
    assert index.match({"a": 7}) == [7]
    index.compact()
    index.validate()
    with pytest.raises(FileError):
        Index.load(path, mmap=False)


def test_the_limits_of_the_reader_rule(tmp_path: Path) -> None:
    path, limits = tmp_path / "x.tamis", Limits(max_depth=900)
    index = Index(limits=limits)
    index.add("deep", "(" * 300 + "a = 1" + ")" * 300)
    index.compact()
    index.save(path)
    with pytest.raises(FileError, match=r"deep.*max_depth.*limits=Limits\(max_depth=\.\.\.\)") as caught:
        Index.load(path)
    assert caught.value.path == path
    loaded = Index.load(path, limits=limits)
    assert loaded.limits == limits
    assert loaded.match({"a": 1}) == ["deep"]
    again = pickle.loads(pickle.dumps(index))
    assert again.limits == limits, "who unpickles trusts the bytes"


def test_a_verified_index_answers_as_its_rules_say(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.tamis")
    index = Index.load(path, verify=True)
    assert not is_mapped(path), "only texts were used"
    assert index.match({"a": 7}) == [7]
    assert list(index) == list(range(300))
    assert tamis.ClosedIndex.__mro__[1:3] == (tamis.TamisError, ValueError)
