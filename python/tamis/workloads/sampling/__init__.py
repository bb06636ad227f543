"""Random draws of a workload.

| module | contents |
| --- | --- |
| `counters` | counter-based random numbers |
| `popularity` | discrete distributions, with and without replacement |
| `domain` | attributes and values |
| `sizes` | numbers of predicates |
"""
