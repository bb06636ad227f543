"""What an index returns: matches, ranked matches, near misses, explanations and plans."""

from tamis.results.bad_event import BadEvent
from tamis.results.event_results import EventResults
from tamis.results.explanation import Explanation
from tamis.results.matches import Id, Matches
from tamis.results.near_miss import NearMiss
from tamis.results.plan import Alternative, Plan
from tamis.results.ranked_matches import RankedMatches

__all__ = [
    "Alternative",
    "BadEvent",
    "EventResults",
    "Explanation",
    "Id",
    "Matches",
    "NearMiss",
    "Plan",
    "RankedMatches",
]
