"""What is drawn has the shares, sizes and skews asked for. Seeds are fixed: nothing fails by chance."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from tamis import workloads
from tamis.workloads import ConjunctionSpec, NormalFormSpec, Plan, TreeSpec
from tamis.workloads.events.rows import draw_events
from tamis.workloads.sampling.counters import Draws, Purpose, keys, stream
from tamis.workloads.sampling.popularity import Popularity, zipf, zipf_weights
from tamis.workloads.subscriptions.trees import draw_trees

ROWS = 20_000
FREE = ConjunctionSpec(match_probability=None)


def rules(spec: workloads.Spec, rows: int = ROWS) -> list[str]:
    texts: list[str] = workloads.generate_subscriptions(spec, 0, rows, seed=1)["expression"].to_pylist()
    return texts


def attributes(texts: list[str]) -> Counter[int]:
    return Counter(int(number) for text in texts for number in re.findall(r"\ba(\d+)", text))


def test_draws_are_uniform_and_independent() -> None:
    draws = Draws(keys(stream(1, "test"), np.arange(100_000)))
    drawn = [draws.unit(purpose) for purpose in (Purpose.KIND, Purpose.EXTENT, Purpose.VALUE)]
    drawn += [
        draws.unit(Purpose.VALUE, 1),
        Draws(keys(stream(1, "other"), np.arange(100_000))).unit(Purpose.KIND),
    ]
    for first in range(len(drawn)):
        counts, _ = np.histogram(drawn[first], bins=100, range=(0, 1))
        assert ((counts - 1_000) ** 2 / 1_000).sum() < 150
        for second in range(first):
            grid, _, _ = np.histogram2d(drawn[first], drawn[second], bins=10)
            assert ((grid - 1_000) ** 2 / 1_000).sum() < 150
    rows, after = drawn[0][:-1], drawn[0][1:]
    assert abs(np.corrcoef(rows, after)[0, 1]) < 0.01


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0])
def test_picks_follow_zipf(alpha: float) -> None:
    unit = Draws(keys(stream(2, "test"), np.arange(200_000))).unit(Purpose.VALUE)
    counts = np.bincount(zipf(50, alpha).pick(unit), minlength=50)
    expected = zipf_weights(50, alpha) * 200_000
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 1).all()


def test_a_pick_is_what_a_search_finds() -> None:
    weights = np.concatenate([np.zeros(5), zipf_weights(3_000, 3.0), np.zeros(5)])
    unit = np.concatenate([np.linspace(0, 1, 10_001)[:-1], [1 - 2.0**-53]])
    found = Popularity(weights).pick(unit)
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    assert (weights[found] > 0).all()
    assert (ends[found] <= unit * ends[-1]).all() and (unit * ends[-1] <= ends[found + 1]).all()


@pytest.mark.parametrize(("count", "alpha"), [(60, 0.0), (60, 1.0), (60, 5.0), (5_000, 0.0), (5_000, 2.0)])
def test_distinct_things_are_distinct(count: int, alpha: float) -> None:
    draws = Draws(keys(stream(3, "test"), np.arange(2_000)))
    sizes = draws.between((0, 40), Purpose.SIZE)
    taken = np.tile(np.arange(7, 17), (2_000, 1))
    drawn = zipf(count, alpha).distinct(draws, sizes, 40, taken)
    for row, size in zip(drawn.tolist(), sizes.tolist(), strict=True):
        there = row[:size]
        assert len(set(there)) == size and not set(there) & set(range(7, 17))
        assert all(0 <= thing < count for thing in there) and row[size:] == [count] * (40 - size)


def test_distinct_things_are_drawn_by_weight() -> None:
    """The first two of three: with weights a, b, c the second is b after a with probability b / (b + c)."""
    weights = np.array([0.6, 0.3, 0.1])
    draws = Draws(keys(stream(4, "test"), np.arange(100_000)))
    drawn = Popularity(weights).distinct(draws, np.full(100_000, 2), 2)
    pairs = Counter(map(tuple, drawn.tolist()))
    for first in range(3):
        for second in {0, 1, 2} - {first}:
            expected = weights[first] * weights[second] / (1 - weights[first])
            assert pairs[first, second] / 100_000 == pytest.approx(expected, abs=0.006)


def test_few_of_many_are_drawn_evenly() -> None:
    draws = Draws(keys(stream(5, "test"), np.arange(50_000)))
    drawn = zipf(100, 0.0).distinct(draws, np.full(50_000, 8), 8)
    counts = np.bincount(drawn.ravel(), minlength=100)
    assert ((counts - 4_000) ** 2 / 4_000).sum() < 150


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_attributes_have_their_skew(alpha: float) -> None:
    counts = attributes(rules(replace(FREE, alpha=alpha, size=(1, 1))))
    expected = zipf_weights(100, alpha) * ROWS
    assert all(abs(counts[n] - expected[n]) < 5 * np.sqrt(expected[n]) for n in range(100))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_values_have_their_skew(alpha: float) -> None:
    texts = rules(replace(FREE, value_alpha=alpha, equality=1.0, cardinality=30))
    counts = Counter(int(value) for text in texts for value in re.findall(r"= (\d+)", text))
    expected = zipf_weights(30, alpha) * counts.total()
    assert all(abs(counts[n] - expected[n]) < 5 * np.sqrt(expected[n]) for n in range(30))


@pytest.mark.parametrize("matching", [None, 0.001])
def test_operators_have_their_shares(matching: float | None) -> None:
    texts = rules(
        replace(FREE, equality=0.3, comparison=0.2, membership=0.1, listed=(2, 4), match_probability=matching)
    )
    text = " and ".join(texts)
    total = len(re.findall(r"\ba\d+", text))
    shares = {
        operator: text.count(f" {operator} ") / total for operator in ("=", "<=", ">=", "between", "in")
    }
    assert shares == pytest.approx({"=": 0.3, "<=": 0.1, ">=": 0.1, "between": 0.4, "in": 0.1}, abs=0.01)
    lists = [found.count(",") + 1 for found in re.findall(r"in \((.*?)\)", text)]
    assert set(lists) == {2, 3, 4} and np.mean(lists) == pytest.approx(3, abs=0.05)


def test_words_and_prefixes() -> None:
    spec = workloads.paper("opindex-prefix")
    text = " and ".join(rules(replace(spec, prefix=0.5)))
    total = len(re.findall(r"\ba\d+", text))
    prefixes = re.findall(r"a(\d+) like '([a-z]+)%'", text)
    assert len(prefixes) / total == pytest.approx(0.25, abs=0.02)
    assert all(int(attribute) >= 10_000 for attribute, _ in prefixes)
    lengths = Counter(len(letters) for _, letters in prefixes)
    assert set(lengths) == {1, 2, 3} and min(lengths.values()) / len(prefixes) > 0.3
    equal = re.findall(r"a(\d+) = '([a-z]+)'", text)
    assert equal and all(int(attribute) >= 10_000 and len(word) == 4 for attribute, word in equal)


@pytest.mark.parametrize("matching", [None, 0.001])
def test_ranges_have_their_width(matching: float | None) -> None:
    spec = replace(
        FREE, equality=0.0, cardinality=1_000_000, range_width=(0.1, 0.2), match_probability=matching
    )
    ends = re.findall(r"between (\d+) and (\d+)", " ".join(rules(spec)))
    widths = np.array([int(high) - int(low) + 1 for low, high in ends]) / 1_000_000
    # Ranges end where the domain ends, so some are cut.
    assert widths.max() <= 0.2 + 1e-6 and np.median(widths) == pytest.approx(0.145, abs=0.01)
    assert all(0 <= int(low) <= int(high) < 1_000_000 for low, high in ends)
    narrow = replace(spec, range_width=(0.0, 1.0), widest=8)
    ends = re.findall(r"between (\d+) and (\d+)", " ".join(rules(narrow)))
    counts = Counter(int(high) - int(low) + 1 for low, high in ends)
    assert set(counts) == set(range(1, 9)) and min(counts.values()) > 0.1 * len(ends)


@pytest.mark.parametrize("matching", [None, 0.001])
def test_subscriptions_have_their_sizes(matching: float | None) -> None:
    counts = Counter(
        text.count(" = ") for text in rules(replace(FREE, equality=1.0, match_probability=matching))
    )
    assert set(counts) == {3, 4, 5, 6, 7}
    assert all(count / ROWS == pytest.approx(0.2, abs=0.015) for count in counts.values())


def test_sizes_have_their_mean() -> None:
    ads = replace(workloads.in_the_manner_of("ads"), match_probability=None, equality=1.0, membership=0.0)
    sizes = [text.count(" = ") for text in rules(ads)]
    assert np.mean(sizes) == pytest.approx(8, abs=0.15)
    assert min(sizes) == 1 and 45 < max(sizes) <= 56


def test_events_have_their_sizes_and_attributes() -> None:
    for spec in (FREE, replace(FREE, match_probability=0.001)):
        events = draw_events(spec, 1, workloads.Workload.of(spec, 1).plan, np.arange(ROWS))
        assert set(events.sizes.tolist()) == set(range(24, 37))
        counts = np.bincount(events.attributes, minlength=100)
        assert counts.min() > 0.8 * counts.mean() and counts.max() < 1.2 * counts.mean()
        starts = np.cumsum(events.sizes) - events.sizes
        some = [events.attributes[a : a + n] for a, n in zip(starts[:500], events.sizes[:500], strict=True)]
        assert all(len(set(row.tolist())) == len(row) for row in some)


def test_values_lie_in_clusters() -> None:
    spec = replace(
        workloads.paper("be-star-tree"), match_probability=None, dimensions=20, event_size=(20, 20)
    )
    events = draw_events(spec, 1, Plan(), np.arange(2_000))
    for attribute in range(20):
        values = np.sort(events.values[events.attributes == attribute])
        gaps = np.flatnonzero(np.diff(values) > 1_000)
        groups = np.split(values, gaps + 1)
        assert len(groups) <= 4 and all(group[-1] - group[0] <= 200 for group in groups)


def test_weights_are_greater_for_rare_attributes() -> None:
    text = " ".join(rules(workloads.paper("be-star-tree-zipf"), 5_000))
    weights: dict[int, list[float]] = {}
    for attribute, weight in re.findall(r"a(\d+) between \d+ and \d+ \^ (\d\.\d{6})", text):
        weights.setdefault(int(attribute), []).append(float(weight))
    for attribute in (0, 9, 99):
        inverse = (attribute + 1) / 400
        assert np.mean(weights[attribute]) == pytest.approx(0.8 * inverse, rel=0.05)
        assert max(weights[attribute]) <= inverse + 1e-6


def test_trees_have_their_connectives_and_depth() -> None:
    spec = replace(workloads.paper("a-tree"), sharing=0.0)
    trees = draw_trees(spec, 1, Plan(), np.arange(ROWS))
    assert len(trees.links) == 2
    for link in trees.links:
        shares = np.bincount(link.connectives, minlength=6) / len(link.connectives)
        assert shares.tolist() == pytest.approx([0.4, 0.4, 0.1, 0.05, 0.05, 0.0], abs=0.01)
        counts = np.bincount(link.parent)
        many = counts[link.connectives < 2]
        assert set(many.tolist()) == {2, 3, 4, 5, 6} and many.mean() == pytest.approx(4, abs=0.05)
        assert set(counts[link.connectives == 2].tolist()) == {1}
        assert set(counts[link.connectives >= 3].tolist()) == {2}
    assert max(depth(text) for text in trees.texts().to_pylist()[:2_000]) == 2


def depth(text: str) -> int:
    steps = np.cumsum([(letter == "(") - (letter == ")") for letter in text])
    assert steps[-1] == 0 and (steps >= 0).all()
    return int(steps.max())


def test_ads_trees_have_the_figures_of_the_paper() -> None:
    trees = draw_trees(workloads.in_the_manner_of("ads-trees"), 1, Plan(), np.arange(ROWS))
    sizes = trees.sizes()
    assert sizes.min() == 1 and (sizes > 56).mean() < 0.001
    assert len(trees.links) == 8


def test_parts_are_shared_as_in_the_paper() -> None:
    """A predicate stands in about 18 places, of a million expressions; here all is fifty times smaller."""
    spec = workloads.paper("a-tree")
    spec = replace(
        spec, predicate_pool=spec.predicate_pool // 50, subexpression_pool=spec.subexpression_pool // 50
    )
    leaves = list(chain.from_iterable(re.findall(r"a\d+ [^()]*", text) for text in rules(spec)))
    assert len(leaves) / len(set(leaves)) == pytest.approx(18.35, rel=0.05)


def test_sharing_makes_parts_equal() -> None:
    def distinct(sharing: float) -> float:
        spec = TreeSpec(depth=(2, 2), sharing=sharing, predicate_pool=10_000, subexpression_pool=10_000)
        leaves = list(chain.from_iterable(re.findall(r"a\d+ [^()]*", text) for text in rules(spec, 5_000)))
        return len(set(leaves)) / len(leaves)

    assert distinct(0.0) > 0.9 > 0.5 > distinct(0.6) > distinct(1.0)


@pytest.mark.parametrize("form", ["dnf", "cnf"])
def test_normal_forms(form: str) -> None:
    spec = NormalFormSpec(form=form, clauses=(1, 5), clause_size=(1, 3))  # type: ignore[arg-type]
    outer, inner = (" or ", " and ") if form == "dnf" else (" and ", " or ")
    clauses: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for text in rules(replace(spec, equality=1.0), 4_000):
        parts = text.split(f"){outer}((")
        clauses[len(parts)] += 1
        sizes.update(part.count(inner) + 1 for part in parts)
    assert set(clauses) == {1, 2, 3, 4, 5} and set(sizes) == {1, 2, 3}
    assert min(sizes.values()) / sizes.total() == pytest.approx(1 / 3, abs=0.02)
