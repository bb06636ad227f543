"""The report of a run of the pipeline: an HTML page of charts, each with a table of its numbers.

| module | contents |
| --- | --- |
| `facts` | the data of a run |
| `charts` | charts as SVG |
| `page` | the page |
"""

from tamis.spark.report.facts import Attribute, Batch, Run, Shard, Step, bins_of
from tamis.spark.report.page import write_page

__all__ = ["Attribute", "Batch", "Run", "Shard", "Step", "bins_of", "write_page"]
