"""Text by the million: fixed cells side by side, from which the empty bytes are then taken out.

A token is a row of cells of fixed width, padded with zero bytes; cells are filled from tables, a column at a
time. Taking the zero bytes out of all tokens at once leaves the text, and no Python string is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.workloads.counters import Numbers
from tamis.workloads.specs import LETTERS

Cells = NDArray[np.bytes_]

# Beyond this, digits are computed instead of looked up.
_TABLE = 1 << 17
_NOTHING = b""


def joined(pieces: Sequence[Cells | bytes], tokens: int, ends: Numbers) -> pa.StringArray:
    """Make strings of tokens.

    Args:
        pieces: The cells of a token from left to right, each for all tokens, or one text for all.
        tokens: How many there are.
        ends: Where, among the tokens, each string ends; each has one token at least.
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
    """A table of texts, to be indexed by arrays."""
    return np.array([text.encode() for text in texts] or [_NOTHING], dtype=np.bytes_)


@lru_cache(maxsize=16)
def names(count: int, before: str, behind: str) -> Cells:
    """The names of all attributes, with something around."""
    return cells([f"{before}a{number}{behind}" for number in range(count)])


def numbers(values: Numbers, bound: int, present: NDArray[np.bool_] | None = None) -> Cells:
    """Whole numbers from 0 to below the bound; empty where not present."""
    if bound <= _TABLE:
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
    """Numbers spelled with letters, of which so many are shown."""
    letters = np.zeros((*values.shape, length), np.uint8)
    rest = values
    for place in range(length - 1, -1, -1):
        rest, letter = np.divmod(rest, LETTERS)
        letters[..., place] = np.where(place < shown, letter + ord("a"), 0)
    return _packed(letters)


def millionths(values: Numbers) -> Cells:
    """Decimals from 0.000000 to 9.999999 behind ` ^ `."""
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
