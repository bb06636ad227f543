"""Workloads to measure with: subscriptions and events by the million, the same for the same seed.

A spec says what a workload is made of; `paper` and `in_the_manner_of` give those of the publications. Rows
are drawn by number, so any part of a workload can be made anywhere. Needs numpy.
"""

from tamis.workloads.generation import Workload, generate_events, generate_subscriptions
from tamis.workloads.layouts import Layout
from tamis.workloads.plan import Plan
from tamis.workloads.presets import in_the_manner_of, manners, paper, papers
from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec

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
