"""Observing events: every form is taken, no answer changes, and a refused batch counts for nothing."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import tamis
from tamis import Index

ENGINES = [engine.name for engine in tamis.engines() if engine.exact]
EVENTS: list[dict[str, Any]] = [
    {"a": 5, "n": {"t": "x"}},
    {"a": 9, "unused": object()},
    {},
    {"a": None, "n": {"t": "y"}},
]
# What `filled` answers, observed or not.
EXPECTED = [["one", "always"], ["two", "always"], ["null", "always"], ["null", "always"]]
COLUMNS = {"a": [5, 9, None, None], "n": [{"t": "x"}, None, None, {"t": "y"}]}

FORMS: dict[str, Callable[[], Any]] = {
    "list": lambda: EVENTS,
    "tuple": lambda: tuple(EVENTS),
    "iterator": lambda: iter(EVENTS),
    "generator": lambda: (event for event in EVENTS),
    "other mappings": lambda: [MappingProxyType(event) for event in EVENTS],
    "nothing": lambda: [],
    "pyarrow table": lambda: pa.table(COLUMNS),
    "pyarrow batch": lambda: pa.record_batch(COLUMNS),
    "pyarrow chunks": lambda: pa.concat_tables([pa.table(COLUMNS), pa.table(COLUMNS)]),
    "pyarrow reader": lambda: pa.table(COLUMNS).to_reader(max_chunksize=1),
    "pyarrow array of structs": lambda: pa.array([{"a": 5}, {"a": 9}]),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "duckdb": lambda: duckdb.connect().sql("SELECT 5 AS a, {'t': 'x'} AS n"),
    "Arrow without rows": lambda: pa.table({"a": pa.array([], pa.binary())}),
    "unknown columns": lambda: pa.table({"unused": [b"x"]}),
}


def filled(engine: str) -> Index:
    index = Index(engine=engine)
    index.add_many({"one": "a > 1 and n.t = 'x'", "two": "a > 7", "null": "a is null", "always": "TRUE"})
    return index


def answers(index: Index) -> list[list[str | int]]:
    return [index.match(event) for event in EVENTS]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_observe_takes(form: str, engine: str) -> None:
    index = filled(engine)
    index.observe(FORMS[form]())
    index.validate()
    assert answers(index) == EXPECTED


@pytest.mark.parametrize("engine", ENGINES)
def test_an_index_can_be_observed_at_any_time(engine: str) -> None:
    index = Index(engine=engine)
    index.observe(EVENTS)
    index.add("one", "a > 1")
    index.observe(EVENTS)
    index.replace("one", "a > 5")
    index.add("two", "n.t = 'x'")
    index.observe(EVENTS)
    assert answers(index) == [["two"], ["one"], [], []]
    index.remove("one")
    index.remove("two")
    index.observe(EVENTS)
    assert answers(index) == [[], [], [], []]
    index.validate()


# --- bad input --------------------------------------------------------------------------------------


class Broken(Mapping[str, Any]):
    """Fails while it is read."""

    def __getitem__(self, name: str) -> Any:
        raise RuntimeError("broken")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


def failing() -> Iterator[dict[str, Any]]:
    yield from EVENTS
    raise RuntimeError("broken")


def failing_batches() -> pa.RecordBatchReader:
    batch = pa.record_batch({"a": [5, 9]})

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch
        raise RuntimeError("broken")

    return pa.RecordBatchReader.from_batches(batch.schema, batches())


def late_times() -> pa.Table:
    times = pa.chunked_array([pa.array([1, 2], pa.timestamp("s")), pa.array([3, 2**62], pa.timestamp("s"))])
    return pa.table({"a": times})


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str, int | None]] = {
    "a value": (lambda: [*EVENTS, {"a": 1j}], tamis.EventError, 'attribute "a"', 4),
    "a value in Arrow": (late_times, tamis.EventError, 'attribute "a"', 3),
    "a column": (lambda: pa.table({"a": [datetime.time(1)]}), tamis.EventError, "Arrow type Time", None),
    "no mapping": (lambda: [*EVENTS, 7], tamis.EventError, "an event is a mapping, not int", 4),
    "one mapping": (lambda: {"a": 5}, tamis.EventError, "an event is a mapping, not str", 0),
    "JSON": (lambda: '{"a": 5}', tamis.EventError, "an event is a mapping, not str", 0),
    "one number": (lambda: 7, TypeError, "not iterable", None),
    "Arrow without columns": (lambda: pa.array([5, 9]), TypeError, "a struct of columns is needed", None),
    "a broken mapping": (lambda: [*EVENTS, Broken()], RuntimeError, "broken", None),
    "a broken iterator": (failing, RuntimeError, "broken", None),
    "a broken stream": (failing_batches, TypeError, "cannot be read", None),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_batch_leaves_no_trace(case: str, engine: str) -> None:
    events, error, message, row = REFUSED[case]
    index = filled(engine)
    index.observe(EVENTS)
    # An engine that counts shows it in its figures.
    before = (index.stats(), index.memory_usage(), answers(index))
    with pytest.raises(error, match=message) as caught:
        index.observe(events())
    assert getattr(caught.value, "row", None) == row
    assert (index.stats(), index.memory_usage(), answers(index)) == before
    index.validate()


@pytest.mark.parametrize("case", [case for case in REFUSED if REFUSED[case][1] is tamis.EventError])
def test_the_error_is_that_of_matching(case: str) -> None:
    events = REFUSED[case][0]
    index = filled("auto")
    match = index.match_arrow if isinstance(events(), pa.Table) else index.match_many
    errors = []
    for use in (index.observe, match):
        with pytest.raises(tamis.EventError) as caught:
            use(events())
        errors.append((str(caught.value), vars(caught.value)))
    assert errors[0] == errors[1]
