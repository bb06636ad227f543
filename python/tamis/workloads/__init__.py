"""Synthetic workloads for benchmarks: millions of subscriptions and events, reproducible from a seed.

A spec holds the parameters of a workload; `paper` and `in_the_manner_of` return those of the publications. A
row is drawn from its number, so any part of a workload can be generated anywhere. Needs numpy.

| module | contents |
| --- | --- |
| `generation` | public functions: rows of a workload as Arrow data |
| `specs/` | parameters, presets |
| `sampling/` | random numbers, distributions, attributes and values |
| `calibration/` | reaches the match probability |
| `subscriptions/`, `events/` | rows as arrays, then as text |
| `text_cells` | text of millions of rows without Python strings |
"""

from tamis.workloads.calibration.plan import Plan
from tamis.workloads.events.layouts import Layout
from tamis.workloads.generation import Workload, generate_events, generate_subscriptions
from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec
from tamis.workloads.specs.presets import in_the_manner_of, manners, paper, papers

__all__ = [
    "ConjunctionSpec",
    "Layout",
    "NormalFormSpec",
    "Plan",
    "Spec",
    "TreeSpec",
    "Workload",
    "generate_events",
    "generate_subscriptions",
    "in_the_manner_of",
    "manners",
    "paper",
    "papers",
]
