"""A run of the pipeline as a page to look at: pictures, and the numbers behind them.

| module | question it answers |
| --- | --- |
| `facts` | What is known of a run? |
| `charts` | What does it look like? |
| `page` | How is it told? |
"""

from tamis.spark.report.facts import Attribute, Batch, Run, Shard, Step, bins_of
from tamis.spark.report.page import write_page

__all__ = ["Attribute", "Batch", "Run", "Shard", "Step", "bins_of", "write_page"]
