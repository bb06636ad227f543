"""The engines there are."""

from __future__ import annotations

from dataclasses import dataclass

from tamis import _native


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """One engine.

    Attributes:
        name: What ``Index(engine=...)`` takes.
        description: What it is, in a line.
        takes: Which expressions it takes.
        options: The options it knows.
    """

    name: str
    description: str
    takes: str
    options: tuple[str, ...] = ()


def engines() -> list[EngineInfo]:
    """List the engines. ``auto`` is not one of them: it stands for the best there is.

    >>> from tamis import engines
    >>> "scan" in [engine.name for engine in engines()]
    True
    """
    return [EngineInfo(name, text, takes, tuple(options)) for name, text, takes, options in _native.engines()]
