"""Subscriptions of a workload, drawn as arrays and written as text.

| module | contents |
| --- | --- |
| `conjunctions`, `trees` | expressions: conjunctions, nested expressions and normal forms |
| `predicates` | predicates, drawn around a value or away from one |
| `predicate_text` | predicates as text |
"""
