"""A Spark Connect server to be killed: `python connect_server.py` prints its URL and serves."""

from __future__ import annotations

import threading

from tamis.spark import local_session


def main() -> None:
    """Serve until killed."""
    settings = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        # Any port that is free.
        "spark.connect.grpc.binding.port": "0",
    }
    spark = local_session("local[2]", settings=settings)
    service = getattr(spark._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    print(f"sc://127.0.0.1:{getattr(service, 'MODULE$').localPort()}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
