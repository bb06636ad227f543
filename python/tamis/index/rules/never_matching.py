"""The warning about rules that no event can satisfy."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from tamis.errors import NeverMatchesWarning


def warn_never(names: list[str], undo: Callable[[], object], levels: int = 3) -> None:
    """Warn of rules that can never match. Where warnings are errors, the call has done nothing.

    Args:
        names: The rules.
        undo: Undoes what the call has done.
        levels: How many calls lie between the user's line and the warning, this one included.
    """
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    message = f"no event can satisfy the expression of {shown}"
    try:
        warnings.warn(message, NeverMatchesWarning, stacklevel=levels)
    except NeverMatchesWarning:
        undo()
        raise
