"""Calibration: how a workload reaches its match probability.

| module | contents |
| --- | --- |
| `topics` | pairs of attribute and value that the events of a topic share |
| `plan` | the result: number of topics, share of subscriptions drawn around one, narrowing |
| `calibrate` | finds the plan, by matching a pilot |
"""
