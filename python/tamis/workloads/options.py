"""Parameters of specs given as text, as command lines and data sources have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, get_type_hints

from tamis.workloads.specs import Spec

_NONE = ("", "none", "None")


def parameters(spec: Spec) -> list[str]:
    """The names of all parameters of a spec."""
    return [field.name for field in fields(spec)]


def with_parameters(spec: Spec, texts: Mapping[str, str]) -> Spec:
    """Change parameters of a spec.

    Two ends are written `3..7`, or as one number where they are the same; nothing at all is written `none`.

    Args:
        spec: What to begin with.
        texts: Values by the name of the parameter.

    Raises:
        ValueError: If there is no such parameter, or it does not take the value.

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
                f"{name} is no parameter of a {type(spec).__name__}; accepted are "
                f"{', '.join(parameters(spec))}"
            )
        changes[name] = _value(name, text, str(kinds[name]))
    return replace(spec, **changes)


def _value(name: str, text: str, kind: str) -> Any:
    """Read a value of one of the few kinds that specs have."""
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
        wanted = "a number" if number is float else "a whole number"
        wanted = f"{wanted}, or two as in 3..7" if "tuple" in kind else wanted
        raise ValueError(f"{name} is {text!r}; accepted is {wanted}") from None
