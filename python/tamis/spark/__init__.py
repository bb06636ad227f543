"""The data pipeline on Spark: generate, ingest, profile, build, match, stream.

DataFrame in, DataFrame out. Nothing is collected on the driver, and no part of Spark is used that Spark
Connect has not got, so the same code runs on a laptop, on a cluster and against a Connect server.
"""
