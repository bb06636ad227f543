"""The licence check: SPDX logic, and which dependencies count as shipped."""

from __future__ import annotations

import doctest
from email.message import Message
from importlib.metadata import Distribution
from typing import Any, cast

import pytest

import licenses
from licenses import ALLOWED, DEV_ONLY, LicenseSyntaxError, Package, is_allowed


@pytest.mark.parametrize(
    "expression",
    [
        "MIT",
        "MIT OR Apache-2.0",
        "MIT/Apache-2.0",
        "GPL-3.0-only OR MIT",
        "MIT OR GPL-3.0-only",
        "BSD-3-Clause AND 0BSD AND Zlib",
        "(MIT OR GPL-3.0-only) AND Unicode-3.0",
        "GPL-2.0-only OR (MIT AND (Zlib OR AGPL-3.0-only))",
        "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        "mit or GPL-3.0-only or MIT",
        # AND binds tighter than OR: the MIT alone is enough.
        "MIT OR GPL-3.0-only AND GPL-2.0-only",
        "GPL-3.0-only AND GPL-2.0-only OR MIT",
    ],
)
def test_allowed(expression: str) -> None:
    assert is_allowed(expression, ALLOWED)


@pytest.mark.parametrize(
    "expression",
    [
        "GPL-3.0-only",
        "MPL-2.0",
        "MIT AND GPL-3.0-only",
        "GPL-3.0-only AND MIT",
        "(MIT OR Zlib) AND GPL-3.0-only",
        "GPL-2.0-only WITH Classpath-exception-2.0",
        "MIT WITH Some-unknown-exception",
        "GPL-3.0-only WITH LLVM-exception",
        "GPL-3.0-only OR MIT AND LGPL-3.0-only",
    ],
)
def test_not_allowed(expression: str) -> None:
    assert not is_allowed(expression, ALLOWED)


@pytest.mark.parametrize(
    "expression", ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Zlib", "MIT WITH", "()"]
)
def test_malformed_expressions_are_refused(expression: str) -> None:
    with pytest.raises(LicenseSyntaxError):
        is_allowed(expression, ALLOWED)


def test_the_examples_in_the_docstrings_hold() -> None:
    outcome = doctest.testmod(licenses)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_mpl_is_for_development_only() -> None:
    assert is_allowed("MPL-2.0", ALLOWED | DEV_ONLY)
    assert Package("python", "hypothesis", "6", "MPL-2.0", ships=False).is_fine()
    assert not Package("python", "hypothesis", "6", "MPL-2.0", ships=True).is_fine()


@pytest.mark.parametrize("license", [None, "see the file LICENSE", "MIT AND"])
def test_a_licence_that_cannot_be_read_is_an_offence(license: str | None) -> None:
    assert not Package("rust", "odd", "1", license, ships=True).is_fine()


def node(name: str, **deps: str | None) -> dict[str, Any]:
    return {"id": name, "deps": [{"pkg": dep, "dep_kinds": [{"kind": kind}]} for dep, kind in deps.items()]}


def test_crates_ship_unless_only_dev_dependencies_lead_to_them() -> None:
    nodes = [
        node("core", regex=None, proptest="dev", cc="build"),
        node("regex", memchr=None),
        node("proptest", rand=None, memchr=None),
        *(node(name) for name in ("cc", "memchr", "rand")),
    ]
    metadata = {
        "resolve": {"nodes": nodes},
        "workspace_members": ["core"],
        "packages": [{"id": n["id"], "name": n["id"], "version": "1", "license": "MIT"} for n in nodes],
    }
    ships = {package.name: package.ships for package in licenses.crates(metadata)}
    assert ships == {"regex": True, "memchr": True, "cc": True, "proptest": False, "rand": False}


def test_distributions_follow_requirements_and_skip_unwanted_extras() -> None:
    found = {p.name for p in licenses.distributions(["rich>=13"], ships=True, must_exist=True)}
    assert {"rich", "pygments", "markdown-it-py", "mdurl"} <= found
    assert "ipywidgets" not in found


def test_an_absent_runtime_dependency_is_an_error_an_absent_extra_is_not() -> None:
    absent = ["a-distribution-that-nobody-installed"]
    assert list(licenses.distributions(absent, ships=True, must_exist=False)) == []
    with pytest.raises(ModuleNotFoundError):
        list(licenses.distributions(absent, ships=True, must_exist=True))


class FakeDistribution:
    """Just the metadata of a distribution."""

    def __init__(self, *headers: tuple[str, str]) -> None:
        self.metadata = Message()
        for name, value in headers:
            self.metadata.add_header(name, value)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("License-Expression", "MIT OR Zlib"), ("License", "other")], "MIT OR Zlib"),
        ([("Classifier", "License :: OSI Approved :: MIT License")], "MIT"),
        (
            [
                ("Classifier", "License :: OSI Approved :: BSD License"),
                ("Classifier", "License :: OSI Approved :: Apache Software License"),
            ],
            "BSD-3-Clause AND Apache-2.0",
        ),
        ([("Classifier", "License :: OSI Approved :: Odd License")], "Odd-License"),
        ([("Classifier", "License :: OSI Approved"), ("License", "ISC")], "ISC"),
        ([("License", "Permission is hereby granted\n to any person")], None),
        ([], None),
    ],
)
def test_license_of_a_distribution(headers: list[tuple[str, str]], expected: str | None) -> None:
    assert licenses.license_of(cast(Distribution, FakeDistribution(*headers))) == expected
