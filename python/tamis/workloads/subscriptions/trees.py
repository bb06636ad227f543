"""Draws nested expressions level by level, for many rows at once.

Every node has a key that determines everything about it. A child's key is derived from its parent's; with
sharing, it is derived from a rank in a pool instead, drawn by popularity, so that equal ranks are equal
subexpressions.

An expression drawn around a topic must be TRUE for the topic's events. Each node has a target truth and
derives those of its operands: all operands of an AND, one of an OR, the opposite for a NOT. The target of a
leaf decides whether its predicate must hold for the topic's value, must fail, or is free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.workloads.calibration.plan import Plan
from tamis.workloads.calibration.topics import Topics, topics_of
from tamis.workloads.events.rows import EventTable
from tamis.workloads.sampling.counters import Bits, Draws, Numbers, Purpose, keys, stream
from tamis.workloads.sampling.domain import Domain, domain_of
from tamis.workloads.sampling.popularity import zipf
from tamis.workloads.specs import Ends, NormalFormSpec, TreeSpec
from tamis.workloads.subscriptions.predicate_text import predicate_cells
from tamis.workloads.subscriptions.predicates import Predicates, draw_predicates
from tamis.workloads.text_cells import cells, join_cells


class Connective(IntEnum):
    """The connective of a node; PASS has one operand and no text, and extends a leaf to the last level."""

    AND = 0
    OR = 1
    NOT = 2
    XOR = 3
    XNOR = 4
    PASS = 5


# Text before an operand: by connective, for the first operand, then for the others.
_BEFORE = cells(["(", "(", "not (", "(", "(", "", " and (", " or (", "", " xor (", " xnor (", ""])
_BEHIND = cells(["", ")"])
# With TRUE = 1, UNKNOWN = 0, FALSE = -1; XOR is a negated XNOR.
_COMBINED: dict[Connective, Callable[..., NDArray[np.int8]]] = {
    Connective.AND: np.minimum,
    Connective.OR: np.maximum,
    Connective.XOR: np.multiply,
    Connective.XNOR: np.multiply,
}


@dataclass(frozen=True)
class Level:
    """The connectives of one level.

    Attributes:
        edges: The cumulated shares of AND, OR, NOT and XOR.
        children: The number of operands of an AND or an OR.
    """

    edges: tuple[float, float, float, float]
    children: Ends


@dataclass(frozen=True)
class Nodes:
    """All nodes of a level, as parallel arrays.

    Attributes:
        keys: The key of each node.
        target: 1 if the node must be TRUE for its topic, -1 if FALSE, 0 if it is free.
        topics: Its topic, -1 for none.
        depth: The levels from the node down; 1 is a predicate.
    """

    keys: Bits
    target: Numbers
    topics: Numbers
    depth: Numbers


@dataclass(frozen=True)
class ParentLinks:
    """The links from a level to the level above.

    Attributes:
        connectives: The connective of each node above.
        starts: The number, in this level, of the first operand of each node above.
        place: For each node of this level, its position among its parent's operands.
        parent: For each node of this level, the node above.
    """

    connectives: Numbers
    starts: Numbers
    place: Numbers
    parent: Numbers


@dataclass(frozen=True)
class Trees:
    """Nested expressions of a workload, as arrays.

    Attributes:
        domain: Attributes and values.
        links: One per level, from the roots downwards.
        leaves: The predicates of the last level.
        topics: The topic each expression was drawn around, -1 for none.
    """

    domain: Domain
    links: list[ParentLinks]
    leaves: Predicates
    topics: Numbers

    def texts(self) -> pa.StringArray:
        """Return the expressions as text."""
        count = len(self.leaves.attributes)
        before, behind = [], []
        # From the leaves upwards: the operands that a leaf is the first or last leaf of.
        node, first, last = np.arange(count), np.ones(count, np.bool_), np.ones(count, np.bool_)
        for link in reversed(self.links):
            connective = link.connectives[link.parent][node]
            place = link.place[node]
            form = connective + len(Connective) * (place > 0)
            nothing = np.int64(Connective.PASS)
            before.append(np.take(_BEFORE, np.where(first, form, nothing)))
            behind.append(np.take(_BEHIND, (last & (connective != Connective.PASS)).astype(np.int64)))
            ends = np.append(link.starts[1:], len(link.place)) - 1
            first = first & (place == 0)
            last = last & (node == ends[link.parent[node]])
            node = link.parent[node]
        ends = np.cumsum(np.bincount(node, minlength=len(self.topics)))
        pieces = [*reversed(before), *predicate_cells(self.domain, self.leaves), *behind]
        return join_cells(pieces, count, ends)

    def sizes(self) -> Numbers:
        """Return the number of predicates of each expression."""
        node = np.arange(len(self.leaves.attributes))
        for link in reversed(self.links):
            node = link.parent[node]
        return np.bincount(node, minlength=len(self.topics))

    def matches(self, events: EventTable) -> tuple[Numbers, Numbers]:
        """Return all matching pairs, as event numbers and row numbers."""
        found: list[tuple[Numbers, Numbers]] = []
        for first, values in events.chunks(len(self.leaves.attributes)):
            row, event = np.nonzero(self._truths(values) > 0)
            found.append((event + first, row))
        events_found, rows_found = zip(*found, strict=True)
        return np.concatenate(events_found), np.concatenate(rows_found)

    def _truths(self, values: Numbers) -> NDArray[np.int8]:
        """Return truths by expression and event: TRUE = 1, UNKNOWN = 0, FALSE = -1, so AND is a minimum."""
        leaf_values = values[:, self.leaves.attributes]
        held = self.leaves.hold(np.arange(len(self.leaves.attributes)), leaf_values)
        # Events on the last axis, so that operands are combined for whole rows of events.
        truth = np.ascontiguousarray(np.where(leaf_values < 0, 0, np.where(held, 1, -1)).astype(np.int8).T)
        for link in reversed(self.links):
            truth = _node_truths(truth, link)
        return truth


def _node_truths(operands: NDArray[np.int8], link: ParentLinks) -> NDArray[np.int8]:
    """Combine the truths of operands to those of their nodes."""
    truth = operands[link.starts]
    counts = np.bincount(link.parent, minlength=len(link.starts))
    for connective, combine in _COMBINED.items():
        nodes = np.flatnonzero(link.connectives == connective)
        for place in range(1, int(counts[nodes].max(initial=0))):
            nodes = nodes[counts[nodes] > place]
            truth[nodes] = combine(truth[nodes], operands[link.starts[nodes] + place])
    negated = np.isin(link.connectives, (Connective.NOT, Connective.XOR))
    np.negative(truth, out=truth, where=negated[:, None])
    return truth


def levels(spec: TreeSpec | NormalFormSpec) -> list[Level]:
    """Return the levels of connectives, from the root downwards."""
    if isinstance(spec, NormalFormSpec):
        conjunction, disjunction = (1.0, 1.0, 1.0, 1.0), (0.0, 1.0, 1.0, 1.0)
        outer, inner = (disjunction, conjunction) if spec.form == "dnf" else (conjunction, disjunction)
        return [Level(outer, spec.clauses), Level(inner, spec.clause_size)]
    edges = np.cumsum([spec.and_share, spec.or_share, spec.not_share, spec.xor_share]).tolist()
    # Shares that sum to 1 up to rounding leave nothing to XNOR.
    exact = [1.0 if abs(edge - 1) < 1e-9 else edge for edge in edges]
    return [Level((exact[0], exact[1], exact[2], exact[3]), spec.children)] * (spec.depth[1] - 1)


def draw_trees(spec: TreeSpec | NormalFormSpec, seed: int, plan: Plan, rows: Numbers) -> Trees:
    """Draw the subscriptions with the given row numbers."""
    builder = _TreeBuilder(spec, seed, plan)
    draws = Draws(keys(stream(seed, "subscriptions"), rows))
    around = draws.unit(Purpose.ORIGIN) < plan.hits
    topics = np.where(around, draws.below(max(plan.topics, 1), Purpose.TOPIC), -1)
    depth = draws.between(builder.depth, Purpose.DEPTH)
    nodes = Nodes(draws.keys, around.astype(np.int64), topics, depth)
    links = []
    for number, level in enumerate(builder.levels):
        # Only roots are made ANDs.
        conjoined = plan.conjoined if number == 0 else 0.0
        link, nodes = builder.draw_level(nodes, level, conjoined)
        links.append(link)
    return Trees(builder.domain, links, builder.predicates(nodes), topics)


class _TreeBuilder:
    def __init__(self, spec: TreeSpec | NormalFormSpec, seed: int, plan: Plan) -> None:
        self.levels = levels(spec)
        self.domain = domain_of(spec, seed)
        self.depth = (3, 3) if isinstance(spec, NormalFormSpec) else spec.depth
        self._early = 0.0 if isinstance(spec, NormalFormSpec) else spec.early
        self._sharing = spec if isinstance(spec, TreeSpec) and spec.sharing else None
        self._plan = plan
        self._topics: Topics = topics_of(spec, seed, plan.topics)
        self._pool = stream(seed, "pool")

    def draw_level(self, nodes: Nodes, level: Level, conjoined: float) -> tuple[ParentLinks, Nodes]:
        """Draw the connective and the operands of each node."""
        draws = Draws(nodes.keys)
        connectives = np.searchsorted(level.edges, draws.unit(Purpose.CONNECTIVE), side="right")
        if conjoined:
            connectives[draws.unit(Purpose.CONNECTIVE, 1) < conjoined] = Connective.AND
        connectives[nodes.depth == 1] = Connective.PASS
        counts = draws.between(level.children, Purpose.CHILDREN)
        counts = np.choose(connectives, [counts, counts, 1, 2, 2, 1])
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        parent = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(parent)) - starts[parent]
        link = ParentLinks(connectives, starts, place, parent)
        depth = self._depths(nodes, link, counts, draws)
        children = Nodes(
            Draws(nodes.keys[parent]).bits(Purpose.CHILD, place),
            _operand_targets(nodes, link, counts, draws),
            nodes.topics[parent],
            depth,
        )
        passed = connectives[parent] == Connective.PASS
        shared = replace(children, keys=self._shared(children))
        return link, replace(shared, keys=np.where(passed, nodes.keys[parent], shared.keys))

    def _depths(self, nodes: Nodes, link: ParentLinks, counts: Numbers, draws: Draws) -> Numbers:
        """Draw the depths of operands: one reaches the node's depth, the others may end early."""
        deepest = draws.below(counts, Purpose.DEPTH)
        full = np.maximum(nodes.depth - 1, 1)[link.parent]
        if not self._early:
            return full
        early = Draws(nodes.keys[link.parent]).unit(Purpose.EARLY, link.place) < self._early
        return np.where(early & (link.place != deepest[link.parent]), 1, full)

    def _shared(self, nodes: Nodes) -> Bits:
        """Return shared keys: equal for equal rank, topic, target and depth."""
        if self._sharing is None:
            return nodes.keys
        spec = self._sharing
        unit = Draws(nodes.keys).unit(Purpose.POPULARITY)
        rank, leaf = np.empty(len(unit), np.int64), nodes.depth == 1
        rank[leaf] = zipf(spec.predicate_pool, spec.sharing).pick(unit[leaf])
        rank[~leaf] = zipf(spec.subexpression_pool, spec.sharing).pick(unit[~leaf])
        # The pool of topics is as large as the pool without topic, so each topic gets a part of it.
        rank = np.where(nodes.target == 0, rank, rank // max(1, self._plan.topics))
        topic = np.where(nodes.target == 0, 0, nodes.topics + 1)
        variant = (topic * 3 + nodes.target + 1) * 16 + nodes.depth
        return Draws(keys(self._pool, rank)).bits(Purpose.POPULARITY, variant)

    def predicates(self, nodes: Nodes) -> Predicates:
        """Draw the predicates of the last level."""
        draws = Draws(nodes.keys)
        attributes = self.domain.popularity.pick(draws.unit(Purpose.ATTRIBUTE))
        anchors = np.zeros(len(attributes), np.int64)
        if len(self._topics):
            core = draws.below(self._topics.size, Purpose.CHOICE)
            matters = nodes.target != 0
            attributes = np.where(matters, self._topics.attributes[nodes.topics, core], attributes)
            anchors = np.where(matters, self._topics.values[nodes.topics, core], anchors)
        return draw_predicates(self.domain, attributes, anchors, nodes.target, draws, self._plan.narrowing)


def _operand_targets(nodes: Nodes, link: ParentLinks, counts: Numbers, draws: Draws) -> Numbers:
    """Derive the targets of operands from those of their nodes."""
    target, connective = nodes.target[link.parent], link.connectives[link.parent]
    # One witness decides a TRUE OR and a FALSE AND; the other operands are free.
    witness = link.place == draws.below(counts, Purpose.WITNESS)[link.parent]
    decided = np.where(witness, target, 0)
    # The first operand of XOR and XNOR is drawn, the second follows from it.
    either = np.where(draws.unit(Purpose.WITNESS, 1) < 0.5, 1, -1)[link.parent] * np.abs(target)
    second = link.place == 1
    return np.choose(
        connective,
        [
            np.where(target > 0, target, decided),
            np.where(target < 0, target, decided),
            -target,
            np.where(second, -target * either, either),
            np.where(second, target * either, either),
            target,
        ],
    )
