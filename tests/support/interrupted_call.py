"""A program that presses Ctrl-C during a long call: `interrupted_call.py ENGINE CALL`.

Python runs handlers of signals when a native call returns. So a handler that runs three times at one
instruction has run within its native call. Calls that end before that are repeated with twice the work.
Prints what became of the last call as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa

from tamis import Index

EVENT = {"a": 3, "b": 5, "c": "x1"}
TOO_LONG_S = 30.0


def rules(count: int) -> dict[str | int, str]:
    """Rules that all are candidates for the event; one in 77 matches."""
    return {f"m{n}": f"a = 3 and (b > {n % 7} or c = 'y') and c = 'x{n % 11}'" for n in range(count)}


def call_of(name: str, index: Index, size: int) -> Callable[[], Any]:
    """The call, of some size, on an index that is filled."""
    match name:
        case "add_many":
            batch = rules(10 * size)
            # Arrow data is not looked at in Python.
            table = pa.table({"id": list(batch), "expression": list(batch.values())})
            return lambda: index.add_many(table)
        case "compact":
            index.add_many(rules(10 * size))
            index.remove("m0")
            return index.compact
        case "match_many":
            return lambda: index.match_many([EVENT] * size, threads=1)
        case "match_many with threads":
            return lambda: index.match_many([EVENT] * size, threads=2)
        case "match_json_many":
            return lambda: index.match_json_many("\n".join([json.dumps(EVENT)] * size))
        case "match_arrow":
            table = pa.Table.from_pylist([EVENT] * size)
            return lambda: index.match_arrow(table)
        case "top_k_many":
            return lambda: index.top_k_many([EVENT] * size, k=2)
        case _:
            raise ValueError(name)


class Presses:
    """Sends SIGINT again whenever its handler has run; the third within a call raises."""

    def __init__(self, handle: Callable[[], None]) -> None:
        self.handle = handle
        self.place: object = None
        self.runs = 0
        self.has_run = threading.Event()
        self.over = threading.Event()
        signal.signal(signal.SIGINT, self.run)

    def run(self, _signal: int, frame: FrameType | None) -> None:
        """Handle the signal; count those at one instruction of tamis, which is a native call."""
        if self.over.is_set() or frame is None or "tamis" not in Path(frame.f_code.co_filename).parts:
            self.has_run.set()
            return
        place = (id(frame), frame.f_lasti)
        self.runs = self.runs + 1 if self.place == place else 1
        self.place = place
        if self.runs == 3:
            self.over.set()
            raise KeyboardInterrupt
        self.handle()
        self.has_run.set()

    def press(self) -> None:
        """Send signals until the call is over."""
        while not self.over.is_set():
            self.has_run.clear()
            os.kill(os.getpid(), signal.SIGINT)
            while not self.has_run.wait(0.01) and not self.over.is_set():
                pass


def interrupted(call: Callable[[], Any], handle: Callable[[], None]) -> bool:
    """Whether the call was interrupted; False if it ended before the handler had run three times."""
    presses = Presses(handle)
    thread = threading.Thread(target=presses.press)
    thread.start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        presses.over.set()
        thread.join()
    return False


def main(engine: str, name: str) -> None:
    """Repeat the call with more and more work until it is interrupted or takes too long."""
    size = 2_000
    while True:
        index = Index(engine=engine)
        index.add_many({n: f"a = 3 and b = {n}" for n in range(2_000)})
        call = call_of(name, index, size)
        present, matches = set(index), index.match(EVENT)
        uses = [0]

        def use(index: Index = index, uses: list[int] = uses) -> None:
            # Nothing of an index that changes in place can be used while it changes.
            if name.startswith("match") and engine == "compiled":
                index.add(f"handler-{uses[0]}", "a = 4")
                uses[0] += 1

        begin = time.monotonic()
        if interrupted(call, use):
            break
        if time.monotonic() - begin > TOO_LONG_S:
            print(json.dumps({"outcome": "not interrupted"}))
            return
        size *= 2
    index.validate()
    added = set(index) - present
    same = [id for id in index.match(EVENT) if id in present] == matches
    index.add("later", "a = 3")
    handled = {id for id in added if str(id).startswith("handler-")}
    print(
        json.dumps(
            {
                "outcome": "interrupted",
                "whole": added == handled or added - handled == set(rules(10 * size)),
                "handled": len(handled) == uses[0],
                "same": same,
                "goes on": index.match(EVENT)[-1] == "later",
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
