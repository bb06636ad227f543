"""Specs refuse what makes no sense, and say what would."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from tamis import workloads
from tamis.workloads import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec
from tamis.workloads.specs.parameters import with_parameters

ALL = [*map(workloads.paper, workloads.papers()), *map(workloads.in_the_manner_of, workloads.manners())]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dimensions": 0}, "dimensions is 0; accepted is a whole number from 1"),
        ({"dimensions": 2.5}, "dimensions is 2.5"),
        ({"dimensions": True}, "dimensions is True"),
        ({"cardinality": -1}, "cardinality is -1"),
        ({"event_size": (5, 3)}, r"event_size is \(5, 3\); accepted is two whole numbers from 1 to 100"),
        ({"event_size": (5, 101)}, "from 1 to 100"),
        ({"event_size": 5}, "event_size is 5"),
        ({"size": (0, 3)}, r"size is \(0, 3\)"),
        ({"mean_size": 8.0}, "mean_size is 8.0; accepted is None or a number between the sizes 3 and 7"),
        ({"alpha": -0.5}, "alpha is -0.5; accepted is a number from 0"),
        ({"equality": 1.5}, "equality is 1.5; accepted is a share from 0 to 1"),
        ({"equality": 0.6, "comparison": 0.6}, "equality 0.6, comparison 0.6, membership 0.0 add up"),
        ({"range_width": (0.5, 0.1)}, "range_width is"),
        ({"range_width": 0.5}, "range_width is 0.5"),
        ({"widest": 0}, "widest is 0"),
        ({"weights": "random"}, 'accepted is "none" or "inverse-frequency"'),
        ({"match_probability": 0.0}, "match_probability is 0.0; accepted is None or a share above 0"),
        ({"match_probability": 1.1}, "match_probability is 1.1"),
        ({"value_alpha": 1.0, "clusters": 3}, "exclude each other"),
        ({"value_alpha": 1.0, "cardinality": 10**9}, "at most 10,000,000 values"),
        ({"text_share": 0.5}, "text_share is 0.5; accepted is 0 where text_dimensions is 0"),
        ({"text_dimensions": 100}, "text_share is 0.0; accepted is 1 where all dimensions hold words"),
        ({"text_dimensions": 5, "text_share": 1.0}, "event_size is .* from 1 to 5"),
        ({"text_dimensions": 50, "text_share": 0.5, "prefix": 1.0, "prefix_length": (1, 9)}, "prefix_length"),
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConjunctionSpec(**wrong)


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(ValueError, match="depth is"):
        TreeSpec(depth=(0, 3))
    with pytest.raises(ValueError, match=r"and_share 0\.9, or_share 0\.4"):
        TreeSpec(and_share=0.9)
    with pytest.raises(ValueError, match="form is 'xnf'; accepted is"):
        NormalFormSpec(form="xnf")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cardinality is 1; accepted is 2 or more"):
        TreeSpec(cardinality=1, match_probability=0.1)


def test_specs_are_values() -> None:
    assert workloads.paper("ps-tree") == workloads.paper("ps-tree")
    assert len({*ALL, *ALL}) == len(ALL)
    with pytest.raises(AttributeError):
        workloads.paper("ps-tree").dimensions = 3  # type: ignore[misc]


def test_every_parameter_is_documented() -> None:
    for kind in (Spec, ConjunctionSpec, TreeSpec, NormalFormSpec):
        for field in fields(kind):
            documented = (kind.__doc__ or "") + (Spec.__doc__ or "")
            assert f"\n        {field.name}: " in documented, field.name


def test_presets_have_the_figures_of_the_papers() -> None:
    dense, sparse = workloads.paper("ps-tree"), workloads.paper("ps-tree-sparse")
    assert (dense.dimensions, sparse.dimensions) == (100, 30_000)
    assert dense == replace(sparse, dimensions=100)
    gem = workloads.paper("gem-tree")
    assert (gem.dimensions, gem.cardinality, gem.equality, gem.match_probability) == (50, 32, 0.3, 0.01)
    star = workloads.paper("be-star-tree")
    assert (star.dimensions, star.cardinality, star.clusters, star.cluster_size) == (400, 250_000_000, 4, 100)
    tree = workloads.paper("a-tree")
    assert (tree.depth, tree.children, tree.sharing, tree.dimensions) == ((3, 3), (2, 6), 0.6, 1_000)
    ads = workloads.in_the_manner_of("ads")
    assert (ads.dimensions, ads.size, ads.mean_size) == (122, (1, 56), 8.0)
    assert workloads.in_the_manner_of("query-log").dimensions == 17_577


def test_unknown_presets_are_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="paper is 'r-tree'; accepted is one of ps-tree, ps-tree-sparse"):
        workloads.paper("r-tree")
    with pytest.raises(ValueError, match="manner is 'blogs'; accepted is one of query-log"):
        workloads.in_the_manner_of("blogs")


def test_parameters_as_text() -> None:
    texts = {
        "dimensions": "300",
        "size": "4",
        "event_size": "10..20",
        "alpha": "1.5",
        "range_width": "0.1..0.2",
        "widest": "none",
        "mean_size": "none",
        "weights": "inverse-frequency",
        "match_probability": "0.02",
    }
    assert with_parameters(ConjunctionSpec(), texts) == ConjunctionSpec(
        dimensions=300,
        size=(4, 4),
        event_size=(10, 20),
        alpha=1.5,
        range_width=(0.1, 0.2),
        weights="inverse-frequency",
        match_probability=0.02,
    )
    assert with_parameters(workloads.paper("be-star-tree"), {"widest": "12"}).widest == 12
    form = with_parameters(NormalFormSpec(), {"form": "cnf"})
    assert isinstance(form, NormalFormSpec) and form.form == "cnf"
    with pytest.raises(
        ValueError, match="sizes is not a parameter of a ConjunctionSpec; accepted are dimensions"
    ):
        with_parameters(ConjunctionSpec(), {"sizes": "3"})
    with pytest.raises(
        ValueError, match=r"size is 'a\.\.b'; accepted is a whole number, or two as in 3\.\.7"
    ):
        with_parameters(ConjunctionSpec(), {"size": "a..b"})
