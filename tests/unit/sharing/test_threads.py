"""Threads that match see whole states of the index, and do not stop each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from tamis import Index

ROUNDS = 400


def run_together(*works: Callable[[], None]) -> None:
    """Run each in a thread of its own; the first error of any is raised here."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_batches_appear_and_replacements_change_as_a_whole() -> None:
    index = Index()
    index.add("switch", "a = 1")
    done = threading.Event()
    batch = [f"pair-{i}" for i in range(20)]

    def update() -> None:
        try:
            for round in range(ROUNDS):
                # Each round brings an attribute that is new to the index, so that events must be read anew.
                index.add_many(batch, [f"a = 1 and (b{round} is null or c = {i})" for i in range(20)])
                index.replace("switch", "a = 1 and not a = 2" if round % 2 else "a = 1")
                for id in batch:
                    index.remove(id)
        finally:
            done.set()

    def check(found: list[str | int]) -> None:
        assert found[0] == "switch", found
        # Removal goes one by one from the front: what is left is always an unbroken tail of the batch.
        assert found[1:] == batch[len(batch) - len(found) + 1 :], found

    def match_one() -> None:
        while not done.is_set():
            check(index.match({"a": 1}))

    def match_many() -> None:
        while not done.is_set():
            matches = index.match_many([{"a": 1}] * 3, threads=2, ordered=True)
            first, second, third = matches
            assert first == second == third, "one call speaks of one state"
            check(first)

    run_together(update, match_one, match_many)
    assert list(index) == ["switch"]
    index.validate()


def test_an_attribute_added_meanwhile_is_not_lost() -> None:
    """An event is read before the index is locked: a new attribute in between must not go unseen."""
    index = Index()
    index.add(0, "x0 = 1")
    event = {f"x{round}": 1 for round in range(ROUNDS)}
    done = threading.Event()

    def update() -> None:
        try:
            for round in range(1, ROUNDS):
                # The new one comes before the old one goes: at every moment one or two are there.
                index.add(round, f"x{round} = 1")
                index.remove(round - 1)
        finally:
            done.set()

    def match() -> None:
        while not done.is_set():
            found = index.match(event)
            assert found and found == list(range(int(found[0]), int(found[0]) + len(found))), found
            assert len(found) <= 2, found

    run_together(update, match, match)
    assert index.match(event) == [ROUNDS - 1]


def test_observing_beside_matching_and_updates() -> None:
    index = Index()
    index.add_many({"left": "side = 'left'", "right": "side = 'right'", "old": "side = 'left' and age > 99"})
    events: list[dict[str, Any]] = [
        {"side": "left", "age": 20},
        {"side": "right"},
        {"side": "left", "age": 100},
    ]
    expected = [index.match(event) for event in events]
    table = pa.table({"side": ["left", "right", "left"], "age": [20, None, 100]})
    done = threading.Event()

    def update() -> None:
        try:
            for round in range(ROUNDS):
                # Each round brings an attribute that is new to the index, so that events must be read anew.
                index.add("passing", f"side = 'none' and b{round} = 1")
                index.remove("passing")
        finally:
            done.set()

    def observe() -> None:
        while not done.is_set():
            index.observe(events * 20)
            index.observe(table)

    def match() -> None:
        while not done.is_set():
            assert [index.match(event) for event in events] == expected
            assert index.match_many(events, threads=2, ordered=True) == expected

    run_together(update, observe, observe, match, match)
    index.validate()


def test_matching_lets_other_threads_run() -> None:
    """While one long call matches, another thread gets through Python code of its own."""
    # The slowest engine, so that the call is a long one.
    index = Index(engine="scan")
    index.add_many(list(range(20_000)), [f"a{i % 10} = {i} and b = {i}" for i in range(20_000)])
    events = [{f"a{i % 10}": i, "b": i} for i in range(400)]
    began, progress, finished = threading.Event(), [0], threading.Event()

    def long_call() -> None:
        began.set()
        index.match_many(events, threads=1)
        finished.set()

    def count() -> None:
        began.wait()
        while not finished.is_set():
            progress[0] += 1

    run_together(long_call, count)
    assert progress[0] > 0
