"""The parts of `tools/bench.py`.

| file | question it answers |
| --- | --- |
| `record` | what is known about a run, and how is it kept? |
| `runner` | how is the Rust runner called? |
| `rivals` | how fast is Python alone, and tamis from Python? |
| `tables` | how is a case shown in a terminal and in Markdown? |
| `picture` | how is a run drawn? |
| `pages` | how do figures get into the documentation? |
| `spark` | how fast is the pipeline on Spark, beside native matching? |
| `spark_ways` | which ways are there to match events, and do they agree? |
| `memory` | how much memory have workers of Spark had? |
"""
