"""Presets: the workloads of the five papers, and imitations of data that is not public.

Where a table gives an average, sizes are drawn evenly around it. Parameters that a paper does not give are
listed in docs/workloads.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, overload

from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec

# PS-Tree, Table 1: 100 and 30,000 dimensions.
_PS_TREE = ConjunctionSpec(
    dimensions=100,
    cardinality=100,
    size=(3, 7),
    event_size=(24, 36),
    equality=0.2,
    range_width=(0.01, 0.5),
    match_probability=0.001,
)

# GEM-Tree, Table 1 and section V: M = 50, cardinality 32, 7 attributes, match rate 1%, single value rate 30%.
_GEM_TREE = ConjunctionSpec(
    dimensions=50,
    cardinality=32,
    size=(5, 9),
    event_size=(50, 50),
    equality=0.3,
    range_width=(0.03, 0.6),
    match_probability=0.01,
)

# OpIndex, Table 3 and section 7.1: =, <= and >=, everything at random; the middle of each range of
# parameters.
_OPINDEX = ConjunctionSpec(
    dimensions=20_000,
    cardinality=800,
    size=(1, 12),
    event_size=(20, 60),
    equality=0.6,
    comparison=0.4,
)
_OPINDEX_CLAUSES = NormalFormSpec(
    dimensions=20_000,
    cardinality=800,
    clauses=(1, 5),
    clause_size=(1, 4),
    event_size=(20, 60),
    equality=0.6,
    comparison=0.4,
)

# BE*-Tree, Table III: ranges of a handful of values around four points of a vast domain.
_BE_STAR_TREE = ConjunctionSpec(
    dimensions=400,
    cardinality=250_000_000,
    size=(6, 10),
    event_size=(12, 18),
    equality=0.0,
    range_width=(0.0, 1.0),
    widest=8,
    clusters=4,
    cluster_size=100,
    weights="inverse-frequency",
    match_probability=0.001,
)

_PAPERS: dict[str, Spec] = {
    "ps-tree": _PS_TREE,
    "ps-tree-sparse": replace(_PS_TREE, dimensions=30_000),
    "gem-tree": _GEM_TREE,
    "gem-tree-zipf": replace(_GEM_TREE, alpha=1.0, event_size=(20, 40)),
    "opindex": _OPINDEX,
    "opindex-zipf": replace(_OPINDEX, alpha=1.0, value_alpha=1.0),
    # Section 7.7: 100 of 10,100 attributes hold words; = and prefixes.
    "opindex-prefix": replace(
        _OPINDEX,
        dimensions=10_100,
        text_dimensions=100,
        text_share=0.5,
        prefix=1.0,
        equality=1.0,
        comparison=0.0,
    ),
    # Section 7.6: up to five clauses.
    "opindex-dnf": _OPINDEX_CLAUSES,
    "opindex-cnf": replace(_OPINDEX_CLAUSES, form="cnf"),
    "be-star-tree": _BE_STAR_TREE,
    "be-star-tree-zipf": replace(_BE_STAR_TREE, alpha=1.0),
    # A-Tree, Table 3.
    "a-tree": TreeSpec(),
}

_QUERIES = ConjunctionSpec(
    dimensions=50_000,
    cardinality=1,
    size=(1, 8),
    mean_size=2.8,
    event_size=(3, 8),
    equality=1.0,
    alpha=1.0,
)
_BIBLIOGRAPHY = ConjunctionSpec(
    dimensions=677,
    text_dimensions=677,
    text_share=1.0,
    word_length=3,
    size=(5, 11),
    event_size=(11, 21),
    alpha=0.5,
    weights="inverse-frequency",
    match_probability=0.001,
)

_MANNERS: dict[str, Spec] = {
    # PS-Tree, section 7.3: keywords as attribute and value, 2.78 of them a query, 93 pairs a document.
    "query-log": ConjunctionSpec(
        dimensions=17_577,
        text_dimensions=17_577,
        text_share=1.0,
        word_length=3,
        size=(1, 8),
        mean_size=2.78,
        event_size=(80, 106),
        alpha=1.0,
        value_alpha=1.0,
    ),
    # OpIndex, section 7.4: keywords as attributes, 5.4 a tweet and 123 an article; how often, as ranges.
    "tweets": _QUERIES,
    "articles": replace(_QUERIES, event_size=(90, 156)),
    "tweets-ranges": replace(_QUERIES, cardinality=20, equality=0.0, range_width=(0.1, 0.8)),
    "articles-ranges": replace(
        _QUERIES, cardinality=20, equality=0.0, range_width=(0.1, 0.8), event_size=(90, 156)
    ),
    # OpIndex, section 7.5: 10,204 attributes of products; = and lists of values.
    "products": ConjunctionSpec(
        dimensions=10_204,
        cardinality=50,
        size=(1, 12),
        event_size=(5, 25),
        alpha=0.3,
        value_alpha=1.0,
        equality=0.5,
        membership=0.5,
    ),
    # BE*-Tree, Table III: two letters as attribute, three as value.
    "authors": _BIBLIOGRAPHY,
    "titles": replace(_BIBLIOGRAPHY, size=(20, 40), event_size=(40, 46)),
    # PS-Tree, section 7.4: 122 dimensions, 1 to 56 predicates, 8 on average, 20 pairs an event.
    "ads": ConjunctionSpec(
        dimensions=122,
        cardinality=100,
        size=(1, 56),
        mean_size=8.0,
        event_size=(14, 26),
        alpha=0.5,
        equality=0.3,
        membership=0.3,
        match_probability=0.01,
    ),
    # A-Tree, section 6.2: the same as nested expressions, of 1 to 9 levels, whose parts are shared.
    "ads-trees": TreeSpec(
        dimensions=122,
        cardinality=100,
        event_size=(14, 26),
        alpha=0.5,
        equality=0.3,
        membership=0.3,
        depth=(1, 9),
        children=(2, 4),
        early=0.97,
        sharing=0.8,
        predicate_pool=1_000_000,
        subexpression_pool=1_000_000,
    ),
}


def papers() -> list[str]:
    """The names that `paper` takes."""
    return list(_PAPERS)


def manners() -> list[str]:
    """The names that `in_the_manner_of` takes."""
    return list(_MANNERS)


@overload
def paper(
    name: Literal[
        "ps-tree",
        "ps-tree-sparse",
        "gem-tree",
        "gem-tree-zipf",
        "opindex",
        "opindex-zipf",
        "opindex-prefix",
        "be-star-tree",
        "be-star-tree-zipf",
    ],
) -> ConjunctionSpec: ...
@overload
def paper(name: Literal["opindex-dnf", "opindex-cnf"]) -> NormalFormSpec: ...
@overload
def paper(name: Literal["a-tree"]) -> TreeSpec: ...
@overload
def paper(name: str) -> Spec: ...
def paper(name: str) -> Spec:
    """Return the workload of a paper, with the defaults of its table.

    Change a parameter with `dataclasses.replace`. The number of rows is an argument of the functions that
    draw them.

    Args:
        name: One of `papers()`.

    Raises:
        ValueError: There is no such workload.

    Example:
        >>> from tamis import workloads
        >>> workloads.paper("ps-tree-sparse").dimensions
        30000
    """
    return _named(name, _PAPERS, "paper")


@overload
def in_the_manner_of(
    name: Literal[
        "query-log",
        "tweets",
        "articles",
        "tweets-ranges",
        "articles-ranges",
        "products",
        "authors",
        "titles",
        "ads",
    ],
) -> ConjunctionSpec: ...
@overload
def in_the_manner_of(name: Literal["ads-trees"]) -> TreeSpec: ...
@overload
def in_the_manner_of(name: str) -> Spec: ...
def in_the_manner_of(name: str) -> Spec:
    """Return a workload that imitates the published figures of private data: sizes, dimensions, averages.

    Args:
        name: One of `manners()`.

    Raises:
        ValueError: There is no such workload.

    Example:
        >>> from tamis import workloads
        >>> workloads.in_the_manner_of("ads").dimensions
        122
    """
    return _named(name, _MANNERS, "manner")


def _named(name: str, specs: dict[str, Spec], what: str) -> Spec:
    try:
        return specs[name]
    except KeyError:
        raise ValueError(f"{what} is {name!r}; accepted is one of {', '.join(specs)}") from None
