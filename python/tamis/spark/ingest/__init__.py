"""Ingest: convert raw tables, logs and catalogs to rules and events; bad rows get a reason.

Every function takes a DataFrame and returns an `Ingested`: ``good`` rows, which `build_index` or `match`
accepts, and ``bad`` rows, each with the column and the reason. No row is lost: good and bad rows together are
the input.

| function | one row of the input is | a good row is |
| --- | --- | --- |
| `subscriptions` | a written expression | a rule |
| `weighted` | a rule, whose predicates get weights for top-k | a rule |
| `keywords` | a query of a search log | a rule |
| `keyword_events` | a document | an event |
| `table` | a wanted item of a sparse catalog | a rule |
| `table_events` | an existing item of a sparse catalog | an event |
| `profiles` | the targeting columns of an advertisement | a rule |
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
    ExpressionColumn,
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
    "ExpressionColumn",
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
