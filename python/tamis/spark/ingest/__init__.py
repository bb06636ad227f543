"""Ingest: raw tables, logs and catalogs become subscriptions and events; bad rows get a reason.

Every function takes a DataFrame and gives an `Ingested`: ``good`` rows, which an index or a match accepts,
and ``bad`` rows, each with the column and the reason. No row is lost: good and bad together are the input.

| function | a row of the input is | a good row is |
| --- | --- | --- |
| `subscriptions` | an expression that someone wrote | a subscription |
| `weighted` | an expression, its predicates to be weighed for top-k | a subscription |
| `keywords` | a query of a search log | a subscription |
| `keyword_events` | a document | an event |
| `table` | an item of a sparse catalog, as what somebody wants | a subscription |
| `table_events` | an item of a sparse catalog, as what there is | an event |
| `profiles` | the targeting columns of an advertisement | a subscription |
| `json` | a JSON object of a log | an event |
"""

from tamis.spark.ingest.catalog import Relative, table, table_events
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.json_logs import json
from tamis.spark.ingest.keywords import keyword_events, keywords, vocabulary
from tamis.spark.ingest.rules import subscriptions
from tamis.spark.ingest.styles import Frequency, KeywordStyle, Presence, Split
from tamis.spark.ingest.targeting import (
    Allowed,
    Alternatives,
    AnyOf,
    Condition,
    Excluded,
    Range,
    Written,
    profiles,
)
from tamis.spark.ingest.weights import weighted

__all__ = [
    "Allowed",
    "Alternatives",
    "AnyOf",
    "Condition",
    "Excluded",
    "Frequency",
    "Ingested",
    "KeywordStyle",
    "Presence",
    "Range",
    "Relative",
    "Split",
    "Written",
    "json",
    "keyword_events",
    "keywords",
    "profiles",
    "subscriptions",
    "table",
    "table_events",
    "vocabulary",
    "weighted",
]
