"""Drawings: what an engine's structure looks like, as text for Graphviz."""

from __future__ import annotations

import re
from typing import Literal

import pytest

import tamis
from tamis import Index

RULES: dict[str | int, str] = {
    "adults": "age >= 18 and country = 'US'",
    7: "vip or country = 'US'",
    "again": "country = 'US' and not age < 18",
}


def drawn(rules: dict[str | int, str], missing: Literal["unknown", "false"] = "unknown") -> str:
    index = Index(engine="a_tree", missing=missing)
    index.add_many(rules)
    return index.to_dot()


def nodes(dot: str) -> dict[str, tuple[str, str]]:
    """Shape and label of each node, by its name in the drawing."""
    found = re.findall(r'^  (\w+) \[shape=(\w+)(?:, penwidth=2)?, label="(.*)"\];$', dot, re.MULTILINE)
    return {name: (shape, label) for name, shape, label in found}


def links(dot: str) -> set[tuple[str, str]]:
    """The labels at both ends of each arrow."""
    labels = {name: label for name, (_, label) in nodes(dot).items()}
    arrows = re.findall(r"^  (\w+) -> (\w+)(?: \[style=dashed\])?;$", dot, re.MULTILINE)
    return {(labels[child], labels[parent]) for child, parent in arrows}


def test_a_drawing_has_what_expressions_share_once() -> None:
    dot = drawn(RULES)
    assert dot.startswith("digraph a_tree {\n") and dot.endswith("}\n")
    assert sorted(nodes(dot).values()) == [
        ("box", "age >= 18"),
        ("box", "country = 'US'"),
        ("box", "vip = TRUE"),
        ("ellipse", r"and\nid 'adults', 'again'"),
        ("ellipse", r"or\nid 7"),
    ]
    assert links(dot) == {
        ("age >= 18", r"and\nid 'adults', 'again'"),
        ("country = 'US'", r"and\nid 'adults', 'again'"),
        ("country = 'US'", r"or\nid 7"),
        ("vip = TRUE", r"or\nid 7"),
    }


def test_predicates_stand_on_one_level_below_all_else() -> None:
    dot = drawn(RULES)
    boxes = {name for name, (shape, _) in nodes(dot).items() if shape == "box"}
    ranks = re.findall(r"^  \{ rank=same; (.*); \}$", dot, re.MULTILINE)
    assert set(ranks[0].split("; ")) == boxes


def test_a_drawing_follows_the_index() -> None:
    index = Index(engine="a_tree")
    assert nodes(index.to_dot()) == {}
    index.add_many(RULES)
    for id in ("adults", "again"):
        index.remove(id)
    index.replace(7, "any(tags) = 'new'")
    assert list(nodes(index.to_dot()).values()) == [("box", r"any(tags) = 'new'\nid 7")]


def test_constant_expressions_are_shown_too() -> None:
    with pytest.warns(tamis.NeverMatchesWarning):
        dot = drawn({"yes": "TRUE", "no": "a > 3 and a < 1"})
    assert sorted(nodes(dot).values()) == [("plaintext", r"FALSE\nid 'no'"), ("plaintext", r"TRUE\nid 'yes'")]


def test_a_closed_world_names_the_missing_value() -> None:
    assert list(nodes(drawn({1: "a != 3"}, missing="false")).values()) == [
        ("box", r"a != 3 OR a IS NULL\nid 1")
    ]


def test_nothing_in_a_label_means_anything_to_graphviz() -> None:
    dot = drawn({'quo"te\\N\n': """ "my attr" = 'a & "b"\n' """})
    [(_, label)] = nodes(dot).values()
    assert label == r"""\"my attr\" = 'a &amp; \"b\"\\n'\nid 'quo\"te\\N\\n'"""


def test_long_texts_are_cut() -> None:
    [(_, label)] = nodes(drawn({"i" * 100: f"a = '{'x' * 100}'"})).values()
    text, ids = label.split(r"\n")
    assert (len(text), len(ids)) == (60, 60)
    assert text.startswith("a = 'xx") and text.endswith("x...") and ids.endswith("i...")


def test_an_engine_without_a_graph_says_who_has_one() -> None:
    drawing, others = [], []
    for engine in tamis.engines():
        try:
            Index(engine=engine.name).to_dot()
            drawing.append(engine.name)
        except tamis.OptionError as error:
            others.append((engine.name, str(error)))
    *first, last = sorted(drawing)
    names = f"{', '.join(first)} and {last}"
    assert others
    assert others == [(name, f"engine {name} has no graph to draw; {names} have one") for name, _ in others]


def test_a_tree_of_buckets_before_and_after_a_split() -> None:
    index = Index(engine="be_star_tree", options={"leaf_size": 2})
    index.add_many({"a": "age between 18 and 25", "b": "age between 20 and 29"})
    assert list(nodes(index.to_dot()).values()) == [("box", r"root\nid 'a', 'b'")]
    index.add_many({"c": "age between 40 and 50", "d": "age between 45 and 65"})
    assert links(index.to_dot()) == {
        ("root", "age"),
        ("age", "bucket 18 to 65"),
        ("bucket 18 to 65", r"left 18 to 29\nid 'a', 'b'"),
        ("bucket 18 to 65", r"right 40 to 65\nid 'c', 'd'"),
    }
