"""Text of millions of rows without Python strings: fixed-width cells, compacted by removing zero bytes.

A token is a row of cells of fixed width, padded with zero bytes. Cells are filled from tables, one column at
a time. Removing the zero bytes of all tokens in one pass leaves the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.workloads.sampling.counters import Numbers
from tamis.workloads.specs import LETTERS

Cells = NDArray[np.bytes_]

# Maximum size of a table of numbers; digits of larger ones are computed.
_MAX_TABLE = 1 << 17


def join_cells(pieces: Sequence[Cells | bytes], tokens: int, ends: Numbers) -> pa.StringArray:
    """Concatenate tokens to strings.

    Args:
        pieces: The cells of a token from left to right: an array over all tokens, or one text for all.
        tokens: The number of tokens.
        ends: For each string, the number of tokens up to its end; every string has at least one token.
    """
    layout = [(f"f{n}", _width(piece)) for n, piece in enumerate(pieces)]
    table = np.empty(tokens, dtype=layout)
    for (name, _), piece in zip(layout, pieces, strict=True):
        table[name] = piece
    offsets = np.zeros(len(ends) + 1, np.int32)
    if len(ends):
        starts = np.concatenate([[0], ends[:-1]]) * table.dtype.itemsize
        kept = (table.view(np.uint8) != 0).view(np.uint8)
        offsets[1:] = np.cumsum(np.add.reduceat(kept, starts, dtype=np.int32))
    text = table.tobytes().translate(None, b"\0")
    return pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(text))


def _width(piece: Cells | bytes) -> str:
    return f"S{max(1, len(piece))}" if isinstance(piece, bytes) else str(piece.dtype)


def cells(texts: Sequence[str]) -> Cells:
    """Return a table of texts, to be indexed by arrays."""
    return np.array([text.encode() for text in texts] or [b""], dtype=np.bytes_)


@lru_cache(maxsize=16)
def names(count: int, before: str, behind: str) -> Cells:
    """Return a table of the names of all attributes, with a prefix and a suffix."""
    return cells([f"{before}a{number}{behind}" for number in range(count)])


def numbers(values: Numbers, bound: int, present: NDArray[np.bool_] | None = None) -> Cells:
    """Format integers from 0 to below the bound; empty where not present."""
    if bound <= _MAX_TABLE:
        table = _number_table(bound)
        return np.take(table, values if present is None else np.where(present, values, bound))
    width = len(str(bound - 1))
    digits = np.zeros((*values.shape, width), np.uint8)
    rest = values if present is None else np.where(present, values, 0)
    for place in range(width - 1, -1, -1):
        rest, digit = np.divmod(rest, 10)
        leading = (rest == 0) & (digit == 0) & (place < width - 1)
        digits[..., place] = np.where(leading, 0, digit + ord("0"))
    if present is not None:
        digits[~present] = 0
    return _packed(digits)


@lru_cache(maxsize=16)
def _number_table(bound: int) -> Cells:
    return cells([*(str(number) for number in range(bound)), ""])


def words(values: Numbers, length: int, shown: NDArray[Any]) -> Cells:
    """Spell numbers with `length` letters in base 26, and keep the first `shown` of them."""
    letters = np.zeros((*values.shape, length), np.uint8)
    rest = values
    for place in range(length - 1, -1, -1):
        rest, letter = np.divmod(rest, LETTERS)
        letters[..., place] = np.where(place < shown, letter + ord("a"), 0)
    return _packed(letters)


def millionths(values: Numbers) -> Cells:
    """Format weights in millionths as ` ^ 0.000000` to ` ^ 9.999999`."""
    digits = np.zeros((*values.shape, 11), np.uint8)
    digits[..., :3] = np.frombuffer(b" ^ ", np.uint8)
    rest = values
    for place in (10, 9, 8, 7, 6, 5):
        rest, digit = np.divmod(rest, 10)
        digits[..., place] = digit + ord("0")
    digits[..., 4] = ord(".")
    digits[..., 3] = rest + ord("0")
    return _packed(digits)


def _packed(letters: NDArray[np.uint8]) -> Cells:
    return np.ascontiguousarray(letters).view(f"S{letters.shape[-1]}")[..., 0]
