"""Specs: the parameters of a workload, checked; presets of the papers; parameters given as text."""

from tamis.workloads.specs.expressions import ConjunctionSpec, NormalFormSpec, TreeSpec
from tamis.workloads.specs.spec import LETTERS, Ends, Spec

__all__ = ["LETTERS", "ConjunctionSpec", "Ends", "NormalFormSpec", "Spec", "TreeSpec"]
