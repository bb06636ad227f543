"""Spark sessions: a local one, or a connection to a Spark Connect server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    import grpc

# Maximum time to wait for a server that does not respond.
_TIMEOUT_SECONDS = 30.0
_TIME_ZONE = {"spark.sql.session.timeZone": "UTC"}
_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    **_TIME_ZONE,
}


def local_session(
    master: str = "local[*]", *, app: str = "tamis", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark on this machine, or return the session that is already running.

    Workers use the Python interpreter of this process, not the system's.

    Args:
        master: `local[*]` uses all cores; `local-cluster[2,1,1024]` starts two executor processes.
        app: The name that Spark shows.
        settings: Further settings of Spark; they override the defaults.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(app)
    for name, value in {**_SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def remote_session(url: str) -> SparkSession:
    """Connect to a Spark Connect server. All paths then refer to the server's machines, not to this one.

    Args:
        url: As in ``sc://host:15002`` or ``sc://host:443/;use_ssl=true;token=...``.

    Raises:
        ImportError: pyspark's Spark Connect client is not installed.
        ValueError: The URL is malformed.
        ConnectionError: No server responds.
    """
    from pyspark.sql.connect.client import DefaultChannelBuilder

    connection = DefaultChannelBuilder(url)
    if not _responds(connection.toChannel()):
        # Not the URL, which may contain a token.
        raise ConnectionError(f"no Spark Connect server answers at {connection.endpoint}")
    builder = SparkSession.builder.remote(url)
    for name, value in _TIME_ZONE.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _responds(channel: grpc.Channel) -> bool:
    """Check whether a server responds, and close the channel.

    Spark's own client would retry for ten minutes.
    """
    from grpc import ChannelConnectivity

    states: SimpleQueue[ChannelConnectivity] = SimpleQueue()
    channel.subscribe(states.put, try_to_connect=True)
    try:
        while True:
            state = states.get(timeout=_TIMEOUT_SECONDS)
            if state in (ChannelConnectivity.READY, ChannelConnectivity.TRANSIENT_FAILURE):
                return bool(state is ChannelConnectivity.READY)
    except Empty:
        return False
    finally:
        channel.close()
