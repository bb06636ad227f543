"""Profiles: attribute frequencies of events, operator mix of rules, selectivities of predicates.

| function | measures | one row per |
| --- | --- | --- |
| `profile_events` | what events contain | attribute |
| `profile_subscriptions` | what rules test | aspect: an attribute, an operator, a size |
| `selectivities` | how often a predicate holds | distinct predicate |
| `sample_events` | | sampled event |
| `save_profile` | | stores a profile of events and a sample, as a `Profile` |
"""

from tamis import Predicate
from tamis.spark.profiling.events import profile_events
from tamis.spark.profiling.sample import Profile, sample_events, save_profile
from tamis.spark.profiling.selectivity import selectivities
from tamis.spark.profiling.shape import Shape, shape_of
from tamis.spark.profiling.subscriptions import profile_subscriptions
from tamis.spark.profiling.table import profile

__all__ = [
    "Predicate",
    "Profile",
    "Shape",
    "profile",
    "profile_events",
    "profile_subscriptions",
    "sample_events",
    "save_profile",
    "selectivities",
    "shape_of",
]
