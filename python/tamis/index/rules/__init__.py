"""The rules of an index, as a collection.

| module | what it has |
| --- | --- |
| `collection` | adding, replacing and removing rules, access by id |
| `batch` | several changes at once |
| `tables` | rules in mappings, pairs, records and frames |
| `never_matching` | the warning about rules that no event can satisfy |
"""

from tamis.index.rules.batch import Batch
from tamis.index.rules.collection import Rules

__all__ = ["Batch", "Rules"]
