"""Ctrl-C ends a long call; the index then answers as before the call, or as after it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest
from tests.support import interrupted_call

from tamis import Index

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

CALLS = [
    ("compiled", "add_many"),
    ("compiled", "compact"),
    ("compiled", "match_many"),
    ("compiled", "match_many with threads"),
    ("compiled", "match_json_many"),
    ("compiled", "match_arrow"),
    ("compiled", "top_k_many"),
    ("scan", "match_many"),
    ("a_tree", "add_many"),
    ("a_tree", "match_arrow"),
]


@pytest.mark.parametrize(("engine", "call"), CALLS)
def test_a_long_call_is_interrupted_and_the_index_is_whole(engine: str, call: str) -> None:
    program = [sys.executable, interrupted_call.__file__, engine, call]
    run = subprocess.run(program, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    outcome = {"outcome": "interrupted", "whole": True, "handled": True, "same": True, "goes on": True}
    assert json.loads(run.stdout) == outcome


def test_calls_of_other_threads_are_not_interrupted() -> None:
    """Python runs handlers on the main thread only."""
    index = Index()
    added = threading.Event()

    def add() -> None:
        index.add_many({n: f"a = {n}" for n in range(5_000)})
        added.set()

    thread = threading.Thread(target=add)
    thread.start()
    thread.join()
    assert added.is_set() and index.match({"a": 77}) == [77]
