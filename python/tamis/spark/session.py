"""A Spark session, on this machine or of a server, for those who have none yet."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    import grpc

# Seconds to wait for a server of which nothing is heard.
_PATIENCE = 30.0
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
    """Start Spark on this machine, or take the session that already runs.

    Workers use the running Python, not the system's.

    Args:
        master: `local[*]` uses all cores; `local-cluster[2,1,1024]` starts two executors of their own.
        app: The name Spark shows.
        settings: More settings of Spark; they win over ours.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(app)
    for name, value in {**_SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def remote_session(url: str) -> SparkSession:
    """Connect to a Spark Connect server. All files are then those of its machines, not of this one.

    Args:
        url: As in ``sc://host:15002`` or ``sc://host:443/;use_ssl=true;token=...``.

    Raises:
        ImportError: pyspark's client of Spark Connect is not installed.
        ValueError: The URL is none.
        ConnectionError: No server answers there.
    """
    from pyspark.sql.connect.client import DefaultChannelBuilder

    place = DefaultChannelBuilder(url)
    if not _answers(place.toChannel()):
        # The URL itself may hold a token.
        raise ConnectionError(f"no Spark Connect server answers at {place.endpoint}")
    builder = SparkSession.builder.remote(url)
    for name, value in _TIME_ZONE.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _answers(channel: grpc.Channel) -> bool:
    """Tell whether someone is at the other end, and close the channel.

    A client of Spark would go on trying for ten minutes.
    """
    from grpc import ChannelConnectivity

    states: SimpleQueue[ChannelConnectivity] = SimpleQueue()
    channel.subscribe(states.put, try_to_connect=True)
    try:
        while True:
            state = states.get(timeout=_PATIENCE)
            if state in (ChannelConnectivity.READY, ChannelConnectivity.TRANSIENT_FAILURE):
                return bool(state is ChannelConnectivity.READY)
    except Empty:
        return False
    finally:
        channel.close()
