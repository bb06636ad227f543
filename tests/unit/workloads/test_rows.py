"""A row depends on the spec, the seed and its number, and on nothing else."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis import workloads
from tamis.workloads import ConjunctionSpec, Layout, NormalFormSpec, Spec, TreeSpec, Workload

ALL = {name: workloads.paper(name) for name in workloads.papers()}
ALL |= {name: workloads.in_the_manner_of(name) for name in workloads.manners()}

# Every operator, kind of value and shape at once, in a space small enough to draw often.
VARIED: dict[str, Spec] = {
    "conjunctions": ConjunctionSpec(
        dimensions=40,
        text_dimensions=10,
        text_share=0.3,
        prefix=0.4,
        cardinality=300_000,
        equality=0.2,
        comparison=0.3,
        membership=0.2,
        size=(1, 9),
        mean_size=3.0,
        event_size=(5, 20),
        alpha=0.7,
        weights="inverse-frequency",
        match_probability=0.05,
    ),
    "trees": TreeSpec(
        dimensions=40,
        membership=0.2,
        comparison=0.2,
        depth=(1, 5),
        early=0.5,
        event_size=(5, 20),
        predicate_pool=500,
        subexpression_pool=500,
        match_probability=0.1,
    ),
    "clauses": NormalFormSpec(dimensions=40, form="cnf", event_size=(5, 20), clusters=3, cardinality=10_000),
}
LAYOUTS: tuple[Layout, ...] = ("json", "columns", "map")


@pytest.mark.parametrize("name", VARIED)
@settings(max_examples=25)
@given(data=st.data())
def test_slices_are_the_whole(name: str, data: st.DataObject) -> None:
    spec = VARIED[name]
    whole = workloads.generate_subscriptions(spec, 0, 300, seed=1)
    start = data.draw(st.integers(0, 300))
    count = data.draw(st.integers(0, 300 - start))
    assert workloads.generate_subscriptions(spec, start, count, seed=1) == whole.slice(start, count)
    layout = data.draw(st.sampled_from(LAYOUTS))
    events = workloads.generate_events(spec, 0, 300, seed=1, layout=layout)
    part = workloads.generate_events(spec, start, count, seed=1, layout=layout)
    assert part.to_pylist() == events.slice(start, count).to_pylist()


@pytest.mark.parametrize("name", VARIED)
def test_rows_in_any_order_and_across_blocks(name: str) -> None:
    workload = Workload.of(VARIED[name], 1)
    rows = np.random.default_rng(1).permutation(9_000)
    order = np.argsort(rows)
    shuffled = workload.subscriptions(rows)
    assert shuffled.take(pa.array(order)) == workload.subscriptions(np.arange(9_000))
    assert workload.events(rows).take(pa.array(order)) == workload.events(np.arange(9_000))


@pytest.mark.parametrize("name", VARIED)
def test_seeds_differ_and_repeat(name: str) -> None:
    spec = VARIED[name]
    first = workloads.generate_subscriptions(spec, 0, 200, seed=1)["expression"].to_pylist()
    assert workloads.generate_subscriptions(spec, 0, 200, seed=1)["expression"].to_pylist() == first
    for seed in (-1, 2**70):
        other = workloads.generate_subscriptions(spec, 0, 200, seed=seed)["expression"].to_pylist()
        assert sum(a == b for a, b in zip(first, other, strict=True)) < 20
    events = workloads.generate_events(spec, 0, 200, seed=1)["event"].to_pylist()
    assert not set(events) & set(workloads.generate_events(spec, 0, 200, seed=-1)["event"].to_pylist())


def test_what_is_drawn_is_pinned() -> None:
    """Figures of others refer to a seed: what it means must not change by accident."""
    spec = workloads.paper("ps-tree")
    rule = workloads.generate_subscriptions(spec, 10**9, 1, seed=1)["expression"][0].as_py()
    assert rule == "a48 = 85 and a58 between 29 and 59 and a36 between 48 and 62"
    event = workloads.generate_events(spec, 0, 1, seed=1)["event"][0].as_py()
    assert event.startswith('{"a6":45,"a49":24,"a87":37,"a16":14,')


@pytest.mark.parametrize("name", ALL)
def test_all_presets_parse_and_match(name: str) -> None:
    spec = ALL[name]
    subscriptions = workloads.generate_subscriptions(spec, 0, 300, seed=1)
    events = workloads.generate_events(spec, 0, 50, seed=1)
    assert subscriptions["id"].to_pylist() == list(range(300))
    assert events["event_id"].to_pylist() == list(range(50))
    index = tamis.Index()
    with warnings.catch_warnings():
        # Operands drawn at random may contradict each other.
        warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
        index.add_many(subscriptions)
    assert len(index) == 300
    assert len(index.match_json_many(events["event"].to_pylist())) == 50


@pytest.mark.parametrize("name", VARIED)
def test_layouts_hold_the_same(name: str) -> None:
    spec = VARIED[name]
    text = workloads.generate_events(spec, 0, 200, seed=1)["event"].to_pylist()
    columns = workloads.generate_events(spec, 0, 200, seed=1, layout="columns").to_pylist()
    maps = workloads.generate_events(spec, 0, 200, seed=1, layout="map")["event"].to_pylist()
    for line, row, pairs in zip(text, columns, maps, strict=True):
        event = json.loads(line)
        assert line.count(":") == len(event) and spec.event_size[0] <= len(event) <= spec.event_size[1]
        del row["event_id"]
        assert {name: value for name, value in row.items() if value is not None} == event
        assert dict(pairs) == {name: str(value) for name, value in event.items()}


@pytest.mark.parametrize("name", VARIED)
def test_conjunctions_and_trees_say_what_the_index_finds(name: str) -> None:
    """The pilot of the calibration matches by numpy; it must agree with the index."""
    from tamis.workloads.calibration.calibrate import subscriptions_of
    from tamis.workloads.events.rows import EventTable, draw_events

    workload = Workload.of(VARIED[name], 1)
    rows, numbers = np.arange(2_000), np.arange(100)
    drawn = subscriptions_of(workload.spec, 1, workload.plan, rows)
    event, row = drawn.matches(EventTable(draw_events(workload.spec, 1, workload.plan, numbers)))
    index = tamis.Index(engine="scan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
        index.add_many(workload.subscriptions(rows))
    found = index.match_json_many(workload.events(numbers)["event"].to_pylist())
    expected = {(number, id) for number, ids in enumerate(found) for id in ids}
    assert expected and set(zip(event.tolist(), row.tolist(), strict=True)) == expected


def test_a_workload_is_small_and_pickles() -> None:
    workload = Workload.of(workloads.paper("ps-tree-sparse"), 1)
    copy = pickle.loads(pickle.dumps(workload))
    assert copy == workload and len(pickle.dumps(workload)) < 2_000
    assert copy.subscriptions(np.arange(5)) == workload.subscriptions(np.arange(5))


def test_no_rows_and_wrong_rows() -> None:
    spec = VARIED["conjunctions"]
    assert workloads.generate_subscriptions(spec, 5, 0, seed=1).num_rows == 0
    for layout in LAYOUTS:
        empty = workloads.generate_events(spec, 5, 0, seed=1, layout=layout)
        assert empty.num_rows == 0 and empty.schema.names[0] == "event_id"
    for start, count in ((-1, 3), (0, -1), (2**60, 1)):
        with pytest.raises(ValueError, match=r"accepted are 0 to 2\*\*60"):
            workloads.generate_subscriptions(spec, start, count, seed=1)


def test_wrong_layouts_are_named() -> None:
    with pytest.raises(ValueError, match="layout is 'rows'"):
        workloads.generate_events(VARIED["trees"], 0, 1, seed=1, layout="rows")  # type: ignore[arg-type]
    wide = replace(VARIED["trees"], dimensions=6_000, match_probability=None)
    with pytest.raises(ValueError, match="each of the 6,000 attributes; accepted are at most 5,000"):
        workloads.generate_events(wide, 0, 1, seed=1, layout="columns")
    with pytest.raises(TypeError, match="a Spec has no subscriptions"):
        workloads.generate_subscriptions(Spec(), 0, 1, seed=1)
