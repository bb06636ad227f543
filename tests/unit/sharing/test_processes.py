"""An index crosses into other processes, forked or spawned, and works there."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Mapping

import pytest

from tamis import Index, Limits

EVENTS: list[Mapping[str, object]] = [{"a": 1, "b": "x"}, {"a": 20}, {}]


def filled() -> Index:
    index = Index(missing="false", limits=Limits(max_depth=50))
    index.add_many({"one": "a > 0 and b = 'x'", 2: "a > 10 ^ 0.5", "none": "not b = 'y'"})
    index.remove("one")
    index.add("one", "a = 1")
    return index


def answers(index: Index) -> list[list[str | int]]:
    return [index.match(event) for event in EVENTS]


def work(index: Index) -> tuple[list[list[str | int]], bytes]:
    index.add("child", "a = 1")
    return answers(index), pickle.dumps(index)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pickle_reaches_a_child_and_comes_back(method: str) -> None:
    index = filled()
    with multiprocessing.get_context(method).Pool(1) as pool:
        (there, returned) = pool.apply(work, (index,))
    assert "child" not in index
    back = pickle.loads(returned)
    assert back.match({"a": 1}) == ["none", "one", "child"] == there[0]
    assert (back.missing, back.limits) == ("false", Limits(max_depth=50))


def test_a_forked_child_uses_the_index_it_inherits() -> None:
    index = filled()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(answers(index)))
    child.start()
    assert receiver.recv() == answers(index)
    child.join()
    assert child.exitcode == 0


def test_pickle_keeps_order_settings_and_answers() -> None:
    index = filled()
    copy = pickle.loads(pickle.dumps(index))
    assert list(copy) == list(index) == [2, "none", "one"]
    assert answers(copy) == answers(index)
    copy.validate()
