"""Add rules, match events, ask why, and keep the index in a file."""

import tempfile
from pathlib import Path

import tamis

index = tamis.Index()
index.add("young-travellers", "age between 18 and 30 and any(interests) = 'travel'")
index.add("big-spenders", "spent > 500 or (spent > 100 and country in ('DE', 'FR'))")
index.add("not-on-tv", "not device = 'tv'")

event = {"age": 24, "interests": ["food", "travel"], "spent": 120, "country": "DE"}

# The event has no device, so "not-on-tv" is UNKNOWN, and only TRUE matches.
print(index.match(event))
print(index.explain("not-on-tv", event))

# Events may come as JSON text, and many at a time.
for ids in index.match_json_many('{"spent": 900, "device": "phone"}\n{"device": "tv"}'):
    print(ids)

# Satisfied predicates add up to a score; the event may weigh its attributes.
print(index.top_k(event, k=2, weights={"interests": 3.0}))

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "segments.tamis"
    index.save(path)
    again = tamis.Index.load(path)
    print(len(again), "rules loaded,", again.match(event) == index.match(event))
