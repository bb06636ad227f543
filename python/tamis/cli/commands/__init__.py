"""The commands that need no Spark, one module per command, and the data of the tour."""
