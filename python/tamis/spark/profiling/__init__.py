"""Profile: what do events hold, what do subscriptions ask for, and how often does a predicate hold?

| function | question | a row of the answer is |
| --- | --- | --- |
| `profile_events` | What do events hold? | an attribute |
| `profile_subscriptions` | What do subscriptions ask for? | an aspect: an attribute, an operator, a size |
| `selectivities` | How often does a predicate hold? | a distinct predicate |
| `sample_events` | Which events stand for all? | one of them |
| `save_profile` | | `Profile`: a profile of events, with a sample beside it |
"""

from tamis.expression import Predicate
from tamis.spark.profiling.events import profile_events
from tamis.spark.profiling.predicates import Shape, shape_of
from tamis.spark.profiling.profile import profile
from tamis.spark.profiling.sample import Profile, sample_events, save_profile
from tamis.spark.profiling.selectivity import selectivities
from tamis.spark.profiling.subscriptions import profile_subscriptions

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
