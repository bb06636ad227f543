"""Checks that every dependency, Rust or Python, comes under a licence we allow.

What ships to users (normal and build dependencies of the crates, the package's dependencies and the
extras that are installed) is held to ALLOWED; what only developers run may also be under DEV_ONLY.
Run by `python3 dev.py licenses`, in the environment that dev.py makes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent

ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "ISC",
        "MIT",
        "NCSA",
        "PSF-2.0",
        "Python-2.0",
        "Unicode-3.0",
        "Unlicense",
        "Zlib",
    }
)
DEV_ONLY = frozenset({"MPL-2.0"})
# Exceptions that only add permissions, so that the licence before WITH decides.
ALLOWED_EXCEPTIONS = frozenset({"LLVM-exception"})

# The classifiers of packages whose metadata has no SPDX expression. "BSD License" does not tell the
# two-clause from the three-clause form; both are allowed, so the stricter one stands for them.
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}

# What stands in the free-text field of packages that have neither.
FREE_TEXTS = {"3-Clause BSD License": "BSD-3-Clause"}


# --- SPDX expressions -------------------------------------------------------------------------------


class LicenseSyntaxError(ValueError):
    """The text is not an SPDX licence expression."""


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Whether the licence can be met with the `allowed` ones only: OR leaves us the choice, AND does not.

    >>> is_allowed("GPL-3.0-only OR (MIT AND Zlib)", ALLOWED)
    True
    >>> is_allowed("MIT AND GPL-3.0-only", ALLOWED)
    False
    """
    # Crates from before SPDX expressions write "MIT/Apache-2.0" for a choice.
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    verdict = _any_of(tokens, allowed)
    if tokens:
        raise LicenseSyntaxError(f"unexpected {tokens[0]!r} in licence {expression!r}")
    return verdict


def _any_of(tokens: list[str], allowed: frozenset[str]) -> bool:
    verdict = _all_of(tokens, allowed)
    while _take(tokens, "OR"):
        # The right side is read first: it must be consumed even when the left one decides.
        verdict = _all_of(tokens, allowed) or verdict
    return verdict


def _all_of(tokens: list[str], allowed: frozenset[str]) -> bool:
    verdict = _license(tokens, allowed)
    while _take(tokens, "AND"):
        verdict = _license(tokens, allowed) and verdict
    return verdict


def _license(tokens: list[str], allowed: frozenset[str]) -> bool:
    if _take(tokens, "("):
        verdict = _any_of(tokens, allowed)
        if not _take(tokens, ")"):
            raise LicenseSyntaxError("a parenthesis is not closed")
        return verdict
    verdict = _name(tokens) in allowed
    if _take(tokens, "WITH"):
        verdict = _name(tokens) in ALLOWED_EXCEPTIONS and verdict
    return verdict


def _name(tokens: list[str]) -> str:
    if not tokens or tokens[0] in ("(", ")") or tokens[0].upper() in ("AND", "OR", "WITH"):
        raise LicenseSyntaxError(f"expected a licence name, found {tokens[0] if tokens else 'the end'!r}")
    return tokens.pop(0)


def _take(tokens: list[str], word: str) -> bool:
    if tokens and tokens[0].upper() == word:
        del tokens[0]
        return True
    return False


# --- the dependencies -------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Package:
    """One dependency; `license` is an SPDX expression, or None when the metadata gives none."""

    ecosystem: str
    name: str
    version: str
    license: str | None
    ships: bool

    def is_fine(self) -> bool:
        if self.license is None:
            return False
        try:
            return is_allowed(self.license, ALLOWED if self.ships else ALLOWED | DEV_ONLY)
        except LicenseSyntaxError:
            return False


def crates(metadata: dict[str, Any]) -> Iterator[Package]:
    """The crates of `cargo metadata`, our own left out.

    A crate ships when normal and build dependencies alone lead to it from one of ours.
    """
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    members = set(metadata["workspace_members"])
    shipped: set[str] = set()
    waiting = list(members)
    while waiting:
        crate = waiting.pop()
        if crate not in shipped:
            shipped.add(crate)
            for dep in nodes[crate]["deps"]:
                if any(kind["kind"] != "dev" for kind in dep["dep_kinds"]):
                    waiting.append(dep["pkg"])
    for crate in metadata["packages"]:
        if crate["id"] not in members:
            yield Package("rust", crate["name"], crate["version"], crate["license"], crate["id"] in shipped)


def distributions(required: Iterable[str], ships: bool, must_exist: bool) -> Iterator[Package]:
    """The installed distributions that `required` leads to, each once.

    An absent one is an error if `must_exist`: what is not there cannot be checked.
    """
    waiting = [Requirement(text) for text in required]
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        key = canonicalize_name(requirement.name)
        if key in seen:
            continue
        seen.add(key)
        try:
            found = distribution(key)
        except PackageNotFoundError:
            if must_exist:
                raise
            continue
        yield Package("python", key, found.version, license_of(found), ships)
        for text in found.requires or ():
            child = Requirement(text)
            extras = requirement.extras or {""}
            if child.marker is None or any(child.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(child)


def license_of(found: Distribution) -> str | None:
    """The SPDX expression in the metadata, or one made from the licence classifiers.

    Several classifiers may mean a choice or a sum; reading them as a sum errs on the safe side.
    """
    fields = found.metadata
    if "License-Expression" in fields:
        return str(fields["License-Expression"])
    names = [
        line.rpartition(" :: ")[2]
        for line in fields.get_all("Classifier") or ()
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    if names:
        return " AND ".join(CLASSIFIERS.get(name, name.replace(" ", "-")) for name in names)
    # The free-text field holds anything from an SPDX name to the whole licence.
    free_text = str(fields["License"]).strip() if "License" in fields else ""
    return FREE_TEXTS.get(free_text, free_text) if free_text and "\n" not in free_text else None


def all_packages() -> list[Package]:
    # Optional dependencies as well: libFuzzer is one.
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = list(distributions(project["project"]["dependencies"], ships=True, must_exist=True))
    optional = [text for extra in project["project"]["optional-dependencies"].values() for text in extra]
    extras = list(distributions(optional, ships=True, must_exist=False))
    dev = list(distributions(project["dependency-groups"]["tooling"], ships=False, must_exist=True))
    python = {package.name: package for package in [*dev, *extras, *runtime]}
    return sorted([*crates(metadata), *python.values()])


def table(packages: list[Package]) -> str:
    """One line per licence, not per package: a page that is read rather than scrolled past."""
    lines = []
    groups = sorted({(p.ecosystem, not p.ships, p.license or "none given") for p in packages})
    for ecosystem, dev, name in groups:
        members = [
            p.name
            for p in packages
            if (p.ecosystem, not p.ships, p.license or "none given") == (ecosystem, dev, name)
        ]
        lines.append(f"{ecosystem:7} {'dev' if dev else 'ships':6} {name:45.45} {', '.join(members)}")
    return "\n".join(lines)


def main() -> int:
    packages = all_packages()
    print(table(packages))
    offenders = [package for package in packages if not package.is_fine()]
    for package in offenders:
        use = "shipped" if package.ships else "for development"
        shown = package.license or "no licence in its metadata"
        print(
            f"not allowed: {package.ecosystem} {package.name} {package.version} ({use}): {shown}",
            file=sys.stderr,
        )
    if not offenders:
        print(f"{len(packages)} packages, every licence is allowed")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
