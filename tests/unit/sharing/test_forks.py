"""A process forks while its threads update, match and merge: the child has a whole index of its own."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import pytest

import tamis
from tamis import Index

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="forks"),
    # From Python 3.12 on: a fork of a process with several threads.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

ENGINES = [engine.name for engine in tamis.engines() if engine.exact]
KEPT = 300
EVENT = {"a": 3, "b": 1}
EVENTS = [{"a": n % 10, "b": 1} for n in range(700)]
FORKS = 8
# For a machine under load. A child that waits for a lock waits for ever.
PATIENCE_S = 60.0


def filled(engine: str) -> Index:
    options = {"recent": 4, "fanout": 2} if engine in ("auto", "compiled") else {}
    index = Index(engine=engine, options=options)
    index.add_many({n: f"a = {n % 10} and b = 1" for n in range(KEPT)})
    return index


def expected(value: int) -> list[int]:
    return [n for n in range(KEPT) if n % 10 == value]


def fork(work: Callable[[], None]) -> None:
    """Run in a forked child; its error, or that it does not end, is an error here."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    give_up = time.monotonic() + PATIENCE_S
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0
            return
        if time.monotonic() > give_up:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child waits for a thread that it does not have")
        time.sleep(0.002)


@contextmanager
def beside(*works: Callable[[int], None]) -> Iterator[None]:
    """Repeat each in a thread of its own meanwhile; the first error of any is raised at the end."""
    over = threading.Event()
    errors: list[BaseException] = []

    def repeat(work: Callable[[int], None]) -> None:
        round = 0
        try:
            while not over.is_set():
                work(round)
                round += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def use(index: Index) -> None:
    """Everything that takes a lock."""
    index.validate()
    kept = [id for id in index.match(EVENT) if isinstance(id, int)]
    assert kept == expected(3), kept
    index.add("child", "a = 3 and b = 1")
    assert index.match(EVENT)[-1] == "child"
    index.replace("child", "a = 4 and b = 1")
    index.add_many({f"child-{n}": "a = 5 and b = 1" for n in range(20)})
    several = index.match_many(EVENTS, threads=3, ordered=True)
    assert [id for id in several[3] if isinstance(id, int)] == expected(3)
    index.observe([EVENT])
    index.compact()
    index.remove("child")
    index.validate()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_child_forked_at_any_moment_matches_and_updates_its_copy(engine: str, random_seed: int) -> None:
    index = filled(engine)

    def add_and_remove(round: int) -> None:
        index.add(f"one-{round}", f"a = {round % 10} and b = 2")
        index.remove(f"one-{round}")

    def add_batches(round: int) -> None:
        batch = [f"batch-{n}" for n in range(40)]
        index.add_many(batch, [f"a = {n} and b = 2" for n in range(40)])
        for id in batch:
            index.remove(id)

    def match(_round: int) -> None:
        index.match(EVENT)
        index.match_many(EVENTS[:200], threads=2)

    def compact(_round: int) -> None:
        index.compact()
        index.observe([EVENT])

    moments = random.Random(f"{random_seed} {engine}")
    with beside(add_and_remove, add_batches, match, compact):
        for _ in range(FORKS):
            time.sleep(moments.uniform(0, 0.01))
            fork(lambda: use(index))
    assert [id for id in index.match(EVENT) if isinstance(id, int)] == expected(3)
    index.validate()


def test_a_child_forks_in_turn_and_two_threads_fork_at_once() -> None:
    index = filled("auto")

    def add_and_remove(round: int) -> None:
        index.add(f"one-{round}", "a = 1")
        index.remove(f"one-{round}")

    def grandchild() -> None:
        use(index)
        fork(lambda: index.compact())

    with beside(add_and_remove, lambda _: fork(lambda: use(index))):
        for _ in range(3):
            fork(grandchild)


def test_a_hook_of_another_library_may_use_the_index_around_a_fork() -> None:
    index = filled("auto")
    seen: list[int] = []
    active = [True]

    def hook() -> None:
        if active:
            seen.append(len(index.match(EVENT)))

    # Hooks that run before a fork run in reverse order, so this one runs before other threads are kept out.
    os.register_at_fork(before=hook, after_in_parent=hook, after_in_child=hook)
    try:
        fork(lambda: use(index))
    finally:
        active.clear()
    assert seen == [len(expected(3))] * 2


def _answers(event: dict[str, Any]) -> list[str | int]:
    assert SERVED is not None
    SERVED.add(f"{os.getpid()}-{event['n']}", "a = 3")
    return [id for id in SERVED.match(event) if isinstance(id, int)]


SERVED: Index | None = None


def test_workers_forked_from_a_server_match_and_update_the_index_it_has_loaded() -> None:
    """What servers do that load everything before they fork their workers."""
    global SERVED
    SERVED = filled("auto")
    try:
        with get_context("fork").Pool(2) as pool:
            answers = pool.map(_answers, [{**EVENT, "n": n} for n in range(40)], chunksize=1)
        assert answers == [expected(3)] * 40
        assert list(SERVED) == list(range(KEPT))
    finally:
        SERVED = None
