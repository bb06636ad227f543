"""Parses parameters of specs given as text, on command lines and in options of data sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, get_type_hints

from tamis.workloads.specs import Spec

_NONE = ("", "none", "None")


def parameters(spec: Spec) -> list[str]:
    """Return the names of all parameters of a spec."""
    return [field.name for field in fields(spec)]


def with_parameters(spec: Spec, texts: Mapping[str, str]) -> Spec:
    """Return a spec with parameters changed.

    A range is written `3..7`, or as one number if both ends are equal; the absent value is written `none`.

    Args:
        spec: The spec to change.
        texts: Values by the name of the parameter.

    Raises:
        ValueError: A parameter does not exist, or does not accept its value.

    Example:
        >>> from tamis.workloads import ConjunctionSpec
        >>> spec = with_parameters(ConjunctionSpec(), {"dimensions": "300", "size": "5..9"})
        >>> spec.dimensions, spec.size
        (300, (5, 9))
    """
    kinds = get_type_hints(type(spec))
    changes = {}
    for name, text in texts.items():
        if name not in parameters(spec):
            raise ValueError(
                f"{name} is not a parameter of a {type(spec).__name__}; accepted are "
                f"{', '.join(parameters(spec))}"
            )
        changes[name] = _value(name, text, str(kinds[name]))
    return replace(spec, **changes)


def _value(name: str, text: str, kind: str) -> Any:
    """Parse a value by the annotation of its parameter."""
    number = float if "float" in kind else int
    try:
        if "tuple" in kind:
            ends = [number(end) for end in text.split("..")]
            if len(ends) > 2:
                raise ValueError
            return (ends[0], ends[-1])
        if "None" in kind and text in _NONE:
            return None
        return text if "Literal" in kind else number(text)
    except ValueError:
        accepted = "a number" if number is float else "a whole number"
        accepted = f"{accepted}, or two as in 3..7" if "tuple" in kind else accepted
        raise ValueError(f"{name} is {text!r}; accepted is {accepted}") from None
