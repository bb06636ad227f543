"""Threads with a small stack, and systems that refuse threads."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import tamis

ENGINES = [engine.name for engine in tamis.engines() if engine.exact]

NESTED = """
import pickle, sys, threading
import tamis

def forms(depth):
    yield "(" * (depth - 1) + "a = 1" + ")" * (depth - 1)
    yield "not " * (depth - 2) + "a = 1"
    text = "a = 1"
    for n in range(depth // 2 - 1):
        text = f"(b{n} = 1 and (c{n} = 1 or {text}))"
    yield text
    text = "a = 1"
    for n in range(depth - 3):
        text = f"(x{n} = 2 xor {text})"
    yield text

def use(text):
    expression = tamis.parse(text)
    assert pickle.loads(pickle.dumps(expression)) == expression == tamis.parse(str(expression))
    hash(expression), repr(expression), ~expression
    index = tamis.Index(engine=sys.argv[1])
    try:
        index.add(1, text)
    except tamis.TooComplex:
        return
    index.add_many({n: text for n in range(2, 80)})
    event = {"a": 1, "b1": 1}
    index.observe([event])
    index.compact()
    matched = index.match(event)
    assert list(index.match_many([event] * 3, ordered=True)) == [matched] * 3
    index.explain(1, event), index.near_misses(event), index.top_k(event, k=2), str(index[2])
    index.validate()
    copy = pickle.loads(pickle.dumps(index))
    assert copy.match(event) == matched
    index.replace(1, "a = 2")
    index.remove(2)

def work():
    for text in forms(200):
        use(text)
    try:
        tamis.parse("(" * 100_000 + "a = 1" + ")" * 100_000)
    except tamis.ParseError:
        print("done")

threading.stack_size(256 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def output(program: str, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    run = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("engine", ENGINES)
def test_200_levels_of_nesting_fit_a_stack_of_256_kib(engine: str) -> None:
    assert output(NESTED, engine) == "done"


WITHOUT_THREADS = """
import sys
import tamis

options = {"recent": 4, "fanout": 2} if sys.argv[1] == "compiled" else {}
index = tamis.Index(engine=sys.argv[1], options=options)
index.add_many({n: f"a = {n % 10}" for n in range(2_000)})
for n in range(2_000, 2_500):
    index.add(n, f"a = {n % 10}")
expected = [n for n in range(2_500) if n % 10 == 3]
events = [{"a": 3}] * 5_000
assert all(matches == expected for matches in index.match_many(events, threads=8, ordered=True))
assert index.match_json_many('{"a": 3}\\n' * 1_000, threads=8)[999] is not None
index.observe([{"a": 3}])
index.compact()
assert index.match({"a": 3}) == expected
index.near_misses({"a": 3})
index.validate()
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="how large a stack may be")
@pytest.mark.parametrize("engine", ENGINES)
def test_without_threads_everything_is_done_by_the_caller(engine: str) -> None:
    # Rust reads the size of the stacks of its threads from there; no system has as much.
    assert output(WITHOUT_THREADS, engine, RUST_MIN_STACK=str(2**46)) == "done"
