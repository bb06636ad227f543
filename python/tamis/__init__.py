"""tamis: which of millions of Boolean expressions does this event satisfy?

>>> import tamis
>>> index = tamis.Index()
>>> index.add("ad-17", "age between 18 and 35 and country in ('US', 'DE')")
>>> index.match({"age": 24, "country": "US"})
['ad-17']
"""

from importlib.metadata import version as _version

from tamis.errors import (
    ClosedIndex,
    DuplicateId,
    EventError,
    FileError,
    InternalError,
    InvalidId,
    NeverMatchesWarning,
    OptionError,
    ParseError,
    PublishConflict,
    TamisError,
    TooComplex,
    UnknownId,
)
from tamis.expression import (
    Attribute,
    Dissection,
    Expression,
    Limits,
    Predicate,
    all_of,
    any_of,
    attr,
    dissect,
    parse,
)
from tamis.index import Batch, EngineInfo, Groups, Index, engines
from tamis.results import Alternative, BadEvent, Explanation, Matches, NearMiss, Plan, RankedMatches

__version__ = _version("tamis")

__all__ = [
    "Alternative",
    "Attribute",
    "BadEvent",
    "Batch",
    "ClosedIndex",
    "Dissection",
    "DuplicateId",
    "EngineInfo",
    "EventError",
    "Explanation",
    "Expression",
    "FileError",
    "Groups",
    "Index",
    "InternalError",
    "InvalidId",
    "Limits",
    "Matches",
    "NearMiss",
    "NeverMatchesWarning",
    "OptionError",
    "ParseError",
    "Plan",
    "Predicate",
    "PublishConflict",
    "RankedMatches",
    "TamisError",
    "TooComplex",
    "UnknownId",
    "all_of",
    "any_of",
    "attr",
    "dissect",
    "engines",
    "parse",
]
