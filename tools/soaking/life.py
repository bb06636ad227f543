"""A random history of one index through every entry point, compared with its reference on the way."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from random import Random

import tamis
from soaking import drawing
from soaking.reference import MISSING, Reference, require

SIZES = [4, 30, 120]


class Life:
    """An index, its reference, and the operations that both go through.

    `folder` is where the index is saved; `operations` counts updates, matched events and files.
    """

    def __init__(self, seed: str, folder: Path) -> None:
        self.draw = Random(seed)
        self.folder = folder
        self.engine = self.draw.choice([info.name for info in tamis.engines() if info.exact])
        missing = self.draw.choice(MISSING)
        options = {"recent": 4, "fanout": 2} if self.engine == "compiled" and self.draw.random() < 0.7 else {}
        self.index = tamis.Index(engine=self.engine, missing=missing, options=options)
        self.reference = Reference(missing)
        self.ids = self.draw.choice(SIZES)
        self.operations = 0

    def run(self, rounds: int) -> None:
        operations, weights = zip(*self.operations_by_weight(), strict=True)
        for round in range(rounds):
            self.draw.choices(operations, weights)[0]()
            if round % 40 == 0:
                self.reference.check_contents(self.index)
        self.reference.check_contents(self.index)

    def operations_by_weight(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.add, 10),
            (self.add_many, 3),
            (self.replace, 4),
            (self.remove, 6),
            (self.match_one, 6),
            (self.match_batch, 6),
            (self.rank, 3),
            (self.explain, 2),
            (self.observe, 1),
            (self.compact, 1),
            (self.save_and_load, 1),
            (self.pickle, 1),
            (self.inspect, 1),
        ]

    # --- updates ---------------------------------------------------------------------------------------

    def id(self) -> int | str:
        number = self.draw.randrange(self.ids)
        return number if self.draw.random() < 0.5 else str(number)

    def rule(self) -> tamis.Expression:
        return tamis.parse(drawing.rule(self.draw))

    def add(self) -> None:
        id, rule = self.id(), self.rule()
        try:
            self.index.add(id, rule if self.draw.random() < 0.5 else str(rule))
        except tamis.DuplicateId:
            require(id in self.reference.rules, f"{id!r} was refused as a duplicate")
        except tamis.TooComplex:
            pass
        else:
            require(id not in self.reference.rules, f"{id!r} was added twice")
            self.reference.rules[id] = rule
        self.operations += 1

    def add_many(self) -> None:
        batch = [(self.id(), self.rule()) for _ in range(self.draw.randrange(12))]
        known = {*self.reference.rules}
        is_good = len({id for id, _ in batch}) == len(batch) and not known & {id for id, _ in batch}
        try:
            if self.draw.random() < 0.2 and batch:
                is_good = False
                self.index.add_many([(id, str(rule)) for id, rule in batch] + [("broken", "a = ")])
            else:
                self.index.add_many([(id, str(rule)) for id, rule in batch])
        except (tamis.DuplicateId, tamis.ParseError):
            require(not is_good, f"{batch} was refused")
        except tamis.TooComplex:
            pass
        else:
            require(is_good, f"{batch} was accepted")
            self.reference.rules.update(batch)
        self.operations += len(batch)
        require(list(self.index) == list(self.reference.rules), "a batch is in the index as a whole or not")

    def replace(self) -> None:
        id, rule = self.id(), self.rule()
        try:
            self.index.replace(id, str(rule))
        except tamis.UnknownId:
            require(id not in self.reference.rules, f"{id!r} was not found")
        except tamis.TooComplex:
            pass
        else:
            require(id in self.reference.rules, f"{id!r} was replaced, but is unknown")
            self.reference.rules[id] = rule
        self.operations += 1

    def remove(self) -> None:
        id = self.id()
        try:
            self.index.remove(id)
        except tamis.UnknownId:
            require(id not in self.reference.rules, f"{id!r} was not found")
        else:
            require(self.reference.rules.pop(id, None) is not None, f"{id!r} was removed, but is unknown")
        self.operations += 1

    # --- matches ---------------------------------------------------------------------------------------

    def match_one(self) -> None:
        event = drawing.event(self.draw)
        self.reference.check_event(self.index, event)
        text = drawing.as_json(event)
        found = self.index.match_json(text if self.draw.random() < 0.5 else text.encode())
        require(found == self.index.match(event), f"{text}: {found} as JSON")
        self.operations += 2

    def match_batch(self) -> None:
        events = [drawing.event(self.draw) for _ in range(self.draw.choice([0, 1, 3, 20, 70]))]
        expected = [self.reference.matches(event) for event in events]
        threads, ordered = self.draw.choice([None, 1, 2]), self.draw.random() < 0.5
        entry = self.draw.randrange(3)
        if entry == 0:
            found = self.index.match_many(events, threads=threads, ordered=ordered)
        elif entry == 1:
            found = self.index.match_json_many([*map(drawing.as_json, events)], threads, ordered)
        else:
            found = self.index.match_batches(drawing.as_arrow(events), threads, ordered)
        require(len(found) == len(events), f"{len(found)} answers for {len(events)} events")
        for event, got, wanted in zip(events, found, expected, strict=True):
            got = got if ordered else sorted(got, key=list(self.reference.rules).index)
            require(
                got == wanted, f"{['mapping', 'JSON', 'Arrow'][entry]} {event}: {got} instead of {wanted}"
            )
        self.operations += len(events)

    def rank(self) -> None:
        event, k = drawing.event(self.draw), self.draw.choice([1, 3, 1000])
        best = self.index.top_k(event, k, weights={"n": 0.5})
        expected = self.reference.matches(event)
        require(len(best) == min(k, len(expected)), f"{event}: {len(best)} of {len(expected)} ranked")
        require({id for id, _ in best} <= {*expected}, f"{event}: {best} are not all matches")
        scores = [score for _, score in best]
        require(scores == sorted(scores, reverse=True), f"{event}: scores are not sorted: {best}")
        many = self.index.top_k_many([event], k, weights={"n": 0.5})
        require(list(many) == [best], f"{event}: {list(many)} in a batch, {best} alone")
        self.operations += 2

    def explain(self) -> None:
        event = drawing.event(self.draw)
        expected = {*self.reference.matches(event)}
        for id in self.draw.sample(list(self.reference.rules), min(2, len(self.reference.rules))):
            truth = self.index.explain(id, event).truth
            require((truth == "TRUE") == (id in expected), f"{id!r} is explained as {truth} for {event}")
            if self.engine == "compiled":
                self.index.explain_plan(id)
        missed = {miss.id for miss in self.index.near_misses(event, limit=5)}
        require(not missed & expected, f"{missed & expected} match {event}, and are called near misses")
        self.operations += 1

    # --- everything else -------------------------------------------------------------------------------

    def observe(self) -> None:
        self.index.observe([drawing.event(self.draw) for _ in range(20)])
        self.operations += 1

    def compact(self) -> None:
        self.index.compact()
        self.operations += 1

    def save_and_load(self) -> None:
        path = self.folder / "life.tamis"
        self.index.save(path)
        self.index = tamis.Index.load(path)
        self.reference.check_contents(self.index)
        self.operations += 2

    def pickle(self) -> None:
        copy = pickle.loads(pickle.dumps(self.index))
        self.reference.check_contents(copy)
        if self.draw.random() < 0.5:
            self.index = copy
        self.operations += 1

    def inspect(self) -> None:
        self.index.stats()
        total = self.index.memory_usage()["total"]
        require(total > 0 or not self.reference.rules, "rules take memory")
        named = {name for rule in self.reference.rules.values() for name in rule.attributes()}
        require(named <= self.index.attributes(), f"{self.index.attributes()} instead of {named}")
        self.operations += 1
