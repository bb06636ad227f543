"""The engines there are."""

from __future__ import annotations

from dataclasses import dataclass

from tamis import _native


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """One option of an engine.

    Attributes:
        name: The key in ``Index(options={...})``.
        description: What it decides, in a line.
        kind: The type: ``"switch"``, ``"whole number"``, ``"number"`` or ``"choice"``.
        default: The value if none is given.
        accepts: The accepted values, in words.
    """

    name: str
    description: str
    kind: str
    default: bool | int | float | str
    accepts: str


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """One engine.

    Attributes:
        name: What ``Index(engine=...)`` takes.
        description: What it is, in a line.
        takes: Which expressions it takes.
        options: The names of its options.
        family: ``"product"``: made for users; ``"paper"``: the system of a paper; ``"baseline"``: what papers
            compare with.
        exact: Whether it returns the matching rules only. An engine that is not exact may return others as
            well; none ever misses one.
        ranks: Whether it finds the best k matches by itself, without scoring all.
        option_infos: Its options with type, default and accepted values.
    """

    name: str
    description: str
    takes: str
    options: tuple[str, ...] = ()
    family: str = "product"
    exact: bool = True
    ranks: bool = False
    option_infos: tuple[OptionInfo, ...] = ()


def engines() -> list[EngineInfo]:
    """List the engines: products, then the systems of papers, then baselines.

    ``auto`` is not one of them: it stands for the best there is.

    >>> from tamis import engines
    >>> "scan" in [engine.name for engine in engines()]
    True
    """
    found = []
    for name, description, family, takes, exact, ranks, options in _native.engines():
        infos = tuple(OptionInfo(*option) for option in options)
        names = tuple(info.name for info in infos)
        found.append(EngineInfo(name, description, takes, names, family, exact, ranks, infos))
    return found
