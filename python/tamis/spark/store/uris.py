"""URIs of stores and tables in a form that means the same in every process."""

from __future__ import annotations

import os

from tamis.spark.store.folder import Folder


def store_uri(uri: str | os.PathLike[str]) -> str:
    """Make a URI absolute: local paths become absolute paths, other URIs stay as they are.

    >>> store_uri("s3://bucket/index/"), store_uri("file:///data/my%20index")
    ('s3://bucket/index', '/data/my index')
    """
    text = os.fspath(uri)
    is_remote = "://" in text and not text.startswith("file:")
    return text.rstrip("/") if is_remote else Folder.at(text).root


def spark_uri(path: str | os.PathLike[str]) -> str:
    """Return a URI that Spark resolves alike under any working folder and default filesystem.

    Nothing is percent-encoded: Spark takes the path of a URI literally.

    >>> spark_uri("hdfs://here/events/"), spark_uri("/data/50% off #1")
    ('hdfs://here/events', 'file:///data/50% off #1')
    """
    uri = store_uri(path)
    return uri if "://" in uri else f"file://{uri}"
