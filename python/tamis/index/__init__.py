"""The index: rules in, ids of matching rules out.

| module | what it has |
| --- | --- |
| `rules` | adding, replacing and removing rules, access by id, several changes at once |
| `matching` | matching one event or many |
| `ranking` | the best matches of one event or many |
| `explaining` | near misses, explanations, plans |
| `inspection` | settings, statistics, checks |
| `index` | the class `Index`, which is all of these, and its files |
| `groups` | groups of ids, for rankings with at most some matches of each |
| `engines` | the engines there are |
"""

from tamis.index.engines import EngineInfo, engines
from tamis.index.groups import Groups
from tamis.index.index import Index
from tamis.index.rules import Batch

__all__ = ["Batch", "EngineInfo", "Groups", "Index", "engines"]
