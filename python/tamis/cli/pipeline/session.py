"""The Spark session of a command; checks that packages and Java are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.cli.exits import CommandError
from tamis.cli.pipeline.spark_errors import error_line, short_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OLDEST_JAVA = 17


@contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """Return the running session of this process, or start or connect one and stop it at the end.

    Raises:
        CommandError: A requirement of Spark is missing, and the message says what to install; or no server
            responds.
    """
    _require_packages()
    if (running := _running_session()) is not None:
        yield running
        return
    spark = _connected(master) if is_remote(master) else _started(master)
    try:
        yield spark
    finally:
        spark.stop()


def _running_session() -> SparkSession | None:
    """Return the session of this process, whichever thread has started it.

    `getActiveSession` alone is not enough: it belongs to one thread of the JVM, and after callbacks, such as
    those of a stream, this process may be served by another thread.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    from pyspark import SparkContext

    return SparkSession.builder.getOrCreate() if SparkContext._active_spark_context is not None else None


def is_remote(master: str) -> bool:
    """Return whether the master is the URL of a Spark Connect server."""
    return master.startswith("sc://")


def _started(master: str) -> SparkSession:
    _require_java()
    from tamis.spark.session import local_session

    return local_session(master)


def _connected(url: str) -> SparkSession:
    from tamis.spark.session import remote_session

    with short_errors():
        try:
            return remote_session(url)
        except ImportError as error:
            raise CommandError(
                "tamis: error: sc:// needs pyspark's Spark Connect client: pip install 'pyspark[connect]' "
                f"({error_line(str(error))})"
            ) from error
        except ConnectionError as error:
            raise CommandError(f"tamis: error: {error}") from error


def _require_packages() -> None:
    missing = [name for name in ("pyspark", "pandas", "numpy", "pyarrow") if find_spec(name) is None]
    if missing:
        raise CommandError(
            f"tamis: error: this needs {', '.join(missing)}: pip install 'tamis[spark]' "
            "(`tamis tour` and `tamis match` need neither Spark nor Java)"
        )


def _require_java() -> None:
    """Check for Java before Spark does: Spark's message is long and names no package."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    found = _version(java) if shutil.which(java) else None
    if found is not None and found >= _OLDEST_JAVA:
        return
    problem = "none was found" if found is None else f"{java} is Java {found}"
    raise CommandError(
        f"tamis: error: Spark needs Java {_OLDEST_JAVA} or newer, and {problem}: install it (on Debian or "
        f"Ubuntu: apt-get install openjdk-{_OLDEST_JAVA}-jre-headless) or set JAVA_HOME "
        "(`tamis tour` and `tamis match` need neither Spark nor Java)"
    )


def _version(java: str) -> int | None:
    shown = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    # Java 8 calls itself "1.8.0_292", its successors "17.0.15" or just "21".
    version = re.search(r'version "(?:1\.)?(\d+)', shown)
    return int(version.group(1)) if version else None
