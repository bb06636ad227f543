"""The Spark that a command works with, or what to install to have one."""

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

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OLDEST_JAVA = 17


@contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """Give the session that runs in this process, or one that is started and stopped here.

    Raises:
        CommandError: Something that Spark needs is missing; the message says what to install.
    """
    _require_packages()
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    _require_java()
    from tamis.spark.session import local_session

    spark = local_session(master)
    try:
        yield spark
    finally:
        spark.stop()


def _require_packages() -> None:
    missing = [name for name in ("pyspark", "pandas", "numpy", "pyarrow") if find_spec(name) is None]
    if missing:
        raise CommandError(
            f"tamis: error: this needs {', '.join(missing)}: pip install 'tamis[spark]' "
            "(`tamis tour` and `tamis match` need neither Spark nor Java)"
        )


def _require_java() -> None:
    """Look before Spark does, whose own message is long and names no package."""
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
