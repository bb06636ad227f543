"""The parts of `tools/bench.py`.

| file | question it answers |
| --- | --- |
| `record` | what was measured in a run, and where is it stored? |
| `runner` | how is the Rust runner called? |
| `rivals` | how fast is Python alone, and tamis from Python? |
| `tables` | how is a case shown in a terminal and in Markdown? |
| `picture` | how is a run drawn? |
| `pages` | how do figures get into the documentation? |
| `spark` | how fast is the pipeline on Spark, beside native matching? |
| `spark_methods` | which methods match events, and do they agree? |
| `memory` | how much memory did Spark's workers use? |
"""
