"""Nested expressions, grown level by level for many rows at once.

Every node has a key, and everything about it follows from its key. A child's key follows from its parent's;
where expressions share their parts, it follows instead from a rank in a pool, drawn by popularity, so that
equal ranks are equal subexpressions wherever they stand.

An expression drawn around a topic is wanted TRUE there, and each node hands on what is wanted of its
children: all operands of an AND, one of an OR, the opposite of a NOT. At the leaves that decides whether a
predicate holds for the value of the topic, fails, or may be any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.workloads.cells import cells, joined
from tamis.workloads.counters import Bits, Draws, Numbers, Purpose, keys, stream
from tamis.workloads.domain import Domain, domain_of
from tamis.workloads.events import EventTable
from tamis.workloads.plan import Plan
from tamis.workloads.popularity import zipf
from tamis.workloads.predicates import Predicates, draw_predicates
from tamis.workloads.specs import Ends, NormalFormSpec, TreeSpec
from tamis.workloads.topics import Topics, topics_of
from tamis.workloads.wording import predicate_cells


class Connective(IntEnum):
    """What a node does with its operands; PASS hands on its only one, to bring it to the last level."""

    AND = 0
    OR = 1
    NOT = 2
    XOR = 3
    XNOR = 4
    PASS = 5


# What stands in front of an operand: by connective, for the first and for the others.
_BEFORE = cells(["(", "(", "not (", "(", "(", "", " and (", " or (", "", " xor (", " xnor (", ""])
_BEHIND = cells(["", ")"])
# On 1 for TRUE, 0 for UNKNOWN and -1 for FALSE; XOR is a negated XNOR.
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
        edges: Upper ends of the shares of AND, OR, NOT and XOR, one behind the other.
        children: Operands of an AND or an OR.
    """

    edges: tuple[float, float, float, float]
    children: Ends


@dataclass(frozen=True)
class Nodes:
    """All nodes of a level.

    Attributes:
        keys: What everything about a node follows from.
        wanted: 1 if it shall be TRUE for its topic, -1 if FALSE, 0 if it does not matter.
        topics: Its topic, -1 for none.
        depth: Levels from here down; 1 is a predicate.
    """

    keys: Bits
    wanted: Numbers
    topics: Numbers
    depth: Numbers


@dataclass(frozen=True)
class Joint:
    """How a level hangs on the one above.

    Attributes:
        connectives: By node above.
        starts: Where, in this level, its operands begin.
        place: By node of this level, which operand it is.
        parent: The node above.
    """

    connectives: Numbers
    starts: Numbers
    place: Numbers
    parent: Numbers


@dataclass(frozen=True)
class Trees:
    """Some rows of a workload of nested expressions.

    Attributes:
        domain: Attributes and values.
        joints: From the roots downwards.
        leaves: The predicates of the last level.
        topics: The topic each expression was drawn around, -1 for none.
    """

    domain: Domain
    joints: list[Joint]
    leaves: Predicates
    topics: Numbers

    def texts(self) -> pa.StringArray:
        """The expressions."""
        count = len(self.leaves.attributes)
        before, behind = [], []
        # From the leaves upwards: the operand that a leaf begins or ends, if any.
        node, first, last = np.arange(count), np.ones(count, np.bool_), np.ones(count, np.bool_)
        for joint in reversed(self.joints):
            connective = joint.connectives[joint.parent][node]
            place = joint.place[node]
            form = connective + len(Connective) * (place > 0)
            nothing = np.int64(Connective.PASS)
            before.append(np.take(_BEFORE, np.where(first, form, nothing)))
            behind.append(np.take(_BEHIND, (last & (connective != Connective.PASS)).astype(np.int64)))
            ends = np.append(joint.starts[1:], len(joint.place)) - 1
            first = first & (place == 0)
            last = last & (node == ends[joint.parent[node]])
            node = joint.parent[node]
        ends = np.cumsum(np.bincount(node, minlength=len(self.topics)))
        pieces = [*reversed(before), *predicate_cells(self.domain, self.leaves), *behind]
        return joined(pieces, count, ends)

    def sizes(self) -> Numbers:
        """How many predicates each expression has."""
        node = np.arange(len(self.leaves.attributes))
        for joint in reversed(self.joints):
            node = joint.parent[node]
        return np.bincount(node, minlength=len(self.topics))

    def matches(self, events: EventTable) -> tuple[Numbers, Numbers]:
        """Which event, which subscription: all pairs that match."""
        found: list[tuple[Numbers, Numbers]] = []
        for first, values in events.chunks(len(self.leaves.attributes)):
            row, event = np.nonzero(self._truths(values) > 0)
            found.append((event + first, row))
        events_found, rows_found = zip(*found, strict=True)
        return np.concatenate(events_found), np.concatenate(rows_found)

    def _truths(self, values: Numbers) -> NDArray[np.int8]:
        """By expression and event: 1 for TRUE, -1 for FALSE, 0 for UNKNOWN, which makes AND a minimum."""
        seen = values[:, self.leaves.attributes]
        held = self.leaves.hold(np.arange(len(self.leaves.attributes)), seen)
        # Events last, so that operands are joined a whole row of events at a time.
        truth = np.ascontiguousarray(np.where(seen < 0, 0, np.where(held, 1, -1)).astype(np.int8).T)
        for joint in reversed(self.joints):
            truth = _joined_truths(truth, joint)
        return truth


def _joined_truths(operands: NDArray[np.int8], joint: Joint) -> NDArray[np.int8]:
    """The truth of nodes from that of their operands."""
    truth = operands[joint.starts]
    counts = np.bincount(joint.parent, minlength=len(joint.starts))
    for connective, combine in _COMBINED.items():
        nodes = np.flatnonzero(joint.connectives == connective)
        for place in range(1, int(counts[nodes].max(initial=0))):
            nodes = nodes[counts[nodes] > place]
            truth[nodes] = combine(truth[nodes], operands[joint.starts[nodes] + place])
    negated = np.isin(joint.connectives, (Connective.NOT, Connective.XOR))
    np.negative(truth, out=truth, where=negated[:, None])
    return truth


def levels(spec: TreeSpec | NormalFormSpec) -> list[Level]:
    """The levels of connectives, from the root downwards."""
    if isinstance(spec, NormalFormSpec):
        conjunction, disjunction = (1.0, 1.0, 1.0, 1.0), (0.0, 1.0, 1.0, 1.0)
        outer, inner = (disjunction, conjunction) if spec.form == "dnf" else (conjunction, disjunction)
        return [Level(outer, spec.clauses), Level(inner, spec.clause_size)]
    edges = np.cumsum([spec.and_share, spec.or_share, spec.not_share, spec.xor_share]).tolist()
    # Shares that add up to one leave nothing to XNOR, whatever rounding says.
    exact = [1.0 if abs(edge - 1) < 1e-9 else edge for edge in edges]
    return [Level((exact[0], exact[1], exact[2], exact[3]), spec.children)] * (spec.depth[1] - 1)


def draw_trees(spec: TreeSpec | NormalFormSpec, seed: int, plan: Plan, rows: Numbers) -> Trees:
    """Draw the subscriptions with the given numbers."""
    grower = _Grower(spec, seed, plan)
    draws = Draws(keys(stream(seed, "subscriptions"), rows))
    around = draws.unit(Purpose.ORIGIN) < plan.hits
    topics = np.where(around, draws.below(max(plan.topics, 1), Purpose.TOPIC), -1)
    depth = draws.between(grower.depth, Purpose.DEPTH)
    nodes = Nodes(draws.keys, around.astype(np.int64), topics, depth)
    joints = []
    for number, level in enumerate(grower.levels):
        # The outermost connective may have to be an AND.
        conjoined = plan.conjoined if number == 0 else 0.0
        joint, nodes = grower.grow(nodes, level, conjoined)
        joints.append(joint)
    return Trees(grower.domain, joints, grower.predicates(nodes), topics)


class _Grower:
    def __init__(self, spec: TreeSpec | NormalFormSpec, seed: int, plan: Plan) -> None:
        self.levels = levels(spec)
        self.domain = domain_of(spec, seed)
        self.depth = (3, 3) if isinstance(spec, NormalFormSpec) else spec.depth
        self._early = 0.0 if isinstance(spec, NormalFormSpec) else spec.early
        self._sharing = spec if isinstance(spec, TreeSpec) and spec.sharing else None
        self._plan = plan
        self._topics: Topics = topics_of(spec, seed, plan.topics)
        self._pool = stream(seed, "pool")

    def grow(self, nodes: Nodes, level: Level, conjoined: float) -> tuple[Joint, Nodes]:
        """Give each node its connective and its operands."""
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
        joint = Joint(connectives, starts, place, parent)
        depth = self._depths(nodes, joint, counts, draws)
        children = Nodes(
            Draws(nodes.keys[parent]).bits(Purpose.CHILD, place),
            _wanted(nodes, joint, counts, draws),
            nodes.topics[parent],
            depth,
        )
        passed = connectives[parent] == Connective.PASS
        shared = replace(children, keys=self._shared(children))
        return joint, replace(shared, keys=np.where(passed, nodes.keys[parent], shared.keys))

    def _depths(self, nodes: Nodes, joint: Joint, counts: Numbers, draws: Draws) -> Numbers:
        """One operand goes as deep as the node shall; the others may end early."""
        deepest = draws.below(counts, Purpose.DEPTH)
        full = np.maximum(nodes.depth - 1, 1)[joint.parent]
        if not self._early:
            return full
        early = Draws(nodes.keys[joint.parent]).unit(Purpose.EARLY, joint.place) < self._early
        return np.where(early & (joint.place != deepest[joint.parent]), 1, full)

    def _shared(self, nodes: Nodes) -> Bits:
        """Keys of the same subexpression for the same rank, topic, wish and depth."""
        if self._sharing is None:
            return nodes.keys
        spec = self._sharing
        unit = Draws(nodes.keys).unit(Purpose.POPULARITY)
        rank, leaf = np.empty(len(unit), np.int64), nodes.depth == 1
        rank[leaf] = zipf(spec.predicate_pool, spec.sharing).pick(unit[leaf])
        rank[~leaf] = zipf(spec.subexpression_pool, spec.sharing).pick(unit[~leaf])
        # Around topics there are as many in all as elsewhere, so each topic has its part.
        rank = np.where(nodes.wanted == 0, rank, rank // max(1, self._plan.topics))
        topic = np.where(nodes.wanted == 0, 0, nodes.topics + 1)
        variant = (topic * 3 + nodes.wanted + 1) * 16 + nodes.depth
        return Draws(keys(self._pool, rank)).bits(Purpose.POPULARITY, variant)

    def predicates(self, nodes: Nodes) -> Predicates:
        """The predicates of the last level."""
        draws = Draws(nodes.keys)
        attributes = self.domain.popularity.pick(draws.unit(Purpose.ATTRIBUTE))
        anchors = np.zeros(len(attributes), np.int64)
        if len(self._topics):
            core = draws.below(self._topics.size, Purpose.CHOICE)
            matters = nodes.wanted != 0
            attributes = np.where(matters, self._topics.attributes[nodes.topics, core], attributes)
            anchors = np.where(matters, self._topics.values[nodes.topics, core], anchors)
        return draw_predicates(self.domain, attributes, anchors, nodes.wanted, draws, self._plan.narrowing)


def _wanted(nodes: Nodes, joint: Joint, counts: Numbers, draws: Draws) -> Numbers:
    """What each operand must be so that its node is what is wanted of it."""
    wanted, connective = nodes.wanted[joint.parent], joint.connectives[joint.parent]
    # One operand decides an OR that shall be TRUE and an AND that shall be FALSE; the others may be any.
    witness = joint.place == draws.below(counts, Purpose.WITNESS)[joint.parent]
    decided = np.where(witness, wanted, 0)
    # The first operand of XOR and XNOR may be either, the second follows.
    either = np.where(draws.unit(Purpose.WITNESS, 1) < 0.5, 1, -1)[joint.parent] * np.abs(wanted)
    second = joint.place == 1
    return np.choose(
        connective,
        [
            np.where(wanted > 0, wanted, decided),
            np.where(wanted < 0, wanted, decided),
            -wanted,
            np.where(second, -wanted * either, either),
            np.where(second, wanted * either, either),
            wanted,
        ],
    )
