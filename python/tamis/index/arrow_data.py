"""Checks Arrow data before native code reads it.

The Arrow C data interface passes addresses without the sizes of buffers, so only the producer can tell
whether a buffer is as long as the array says. pyarrow opens files without comparing them; its `validate`
does, in constant time per array.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow


def checked(data: Any) -> Any:
    """The data, with buffers as long as pyarrow needs them; a TypeError if they are not.

    Data of other libraries is returned as it is. The batches of a reader are checked when they are read.
    """
    # Data of pyarrow exists only where pyarrow is loaded.
    arrow = sys.modules.get("pyarrow")
    if arrow is None:
        return data
    if isinstance(data, arrow.RecordBatchReader):
        return arrow.RecordBatchReader.from_batches(data.schema, _checked_batches(data))
    if isinstance(data, (arrow.Table, arrow.RecordBatch, arrow.Array, arrow.ChunkedArray)):
        try:
            data.validate()
        # Names that are not UTF-8 are decoded for the message of an error.
        except (arrow.ArrowInvalid, UnicodeDecodeError) as error:
            raise TypeError(f"the Arrow data cannot be read: it is damaged: {error}") from error
    return data


def _checked_batches(reader: pyarrow.RecordBatchReader) -> Iterator[pyarrow.RecordBatch]:
    for batch in reader:
        batch.validate()
        yield batch
