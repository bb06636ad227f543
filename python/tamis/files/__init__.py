"""Readers of rules files and events files.

A *rules file* holds expressions and their ids; an *events file* holds the events to match. The
format of a file follows from its ending and can be given by hand:

======== ===================================== ==============================================
format   rules                                 events
======== ===================================== ==============================================
text     one expression per line
tsv      ``id<TAB>expression`` per line
jsonl    ``{"id": .., "expression": ..}``      one JSON object per line
csv      columns ``id`` and ``expression``     one event per row, types inferred
parquet  columns ``id`` and ``expression``     one event per row
======== ===================================== ==============================================

Every reader counts from 1, the way editors do, and every error names the place in the file.
"""

from tamis.files.errors import InputError
from tamis.files.events import EventChunk, EventSource, open_events
from tamis.files.formats import EventsFormat, RulesFormat
from tamis.files.rules import Rule, RulesFile, read_rules

__all__ = [
    "EventChunk",
    "EventSource",
    "EventsFormat",
    "InputError",
    "Rule",
    "RulesFile",
    "RulesFormat",
    "open_events",
    "read_rules",
]
