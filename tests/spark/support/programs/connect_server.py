"""A Spark Connect server: `python connect_server.py` prints its URL and serves until it is killed."""

from __future__ import annotations

import threading

from tamis.spark import local_session


def main() -> None:
    """Serve until killed."""
    settings = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        # Any free port.
        "spark.connect.grpc.binding.port": "0",
    }
    spark = local_session("local[2]", settings=settings)
    service = getattr(spark._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    print(f"sc://127.0.0.1:{getattr(service, 'MODULE$').localPort()}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
