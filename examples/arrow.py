"""Match an Arrow table and join the answer back to the events."""

import datetime

import pyarrow as pa

import tamis

rules = pa.table(
    {
        "id": ["large", "november", "refund"],
        "expression": [
            "amount >= 1000",
            "day between DATE '2026-11-01' and DATE '2026-11-30'",
            "amount < 0 and reason is not null",
        ],
    }
)
index = tamis.Index()
index.add_many(rules)

payments = pa.table(
    {
        "amount": [1200.0, -30.0, 15.5, -8.0],
        "day": [datetime.date(2026, 11, day) for day in (2, 3)] + [datetime.date(2026, 12, 1), None],
        "reason": [None, "broken", None, None],
    }
)

# One row per match: the number of the event's row, and the rule's id.
matches = index.match_arrow(payments, ordered=True)
print(matches.column_names, matches.num_rows)

amounts = payments["amount"].take(matches["event"])
for id, amount in zip(matches["id"].to_pylist(), amounts.to_pylist(), strict=True):
    print(f"{id}: {amount:g}")
