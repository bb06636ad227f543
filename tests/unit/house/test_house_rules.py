"""Rules of the house: the native module is wrapped, typed and frozen; everything public is documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import tamis
from tamis import _native, errors

PACKAGE = Path(tamis.__file__).parent
NATIVE = {name: thing for name, thing in vars(_native).items() if not name.startswith("_")}
NATIVE_CLASSES = [thing for thing in NATIVE.values() if isinstance(thing, type)]


def test_every_native_symbol_is_used() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    used = {
        node.attr
        for source in sources.values()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
    }
    methods = {name for kind in NATIVE_CLASSES for name in vars(kind) if not name.startswith("_")}
    assert set(NATIVE) | methods <= used, sorted((set(NATIVE) | methods) - used)


# The packages that wrap the native module; all others use what these export.
WRAPPERS = ("expression", "index", "results")


def test_only_the_wrappers_use_native_attributes() -> None:
    def touches(path: Path) -> bool:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        return any(isinstance(node, ast.Attribute) and node.attr == "_native" for node in nodes)

    touching = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if touches(path)}
    assert touching == set(WRAPPERS)


def test_native_names_stay_private() -> None:
    assert not {name for name in tamis.__all__ if name.startswith("Native")}
    assert not set(NATIVE_CLASSES) & {getattr(tamis, name) for name in tamis.__all__}


@pytest.mark.parametrize("kind", NATIVE_CLASSES, ids=lambda kind: str(kind.__name__))
def test_native_classes_are_frozen(kind: type) -> None:
    assert kind.__module__ == "tamis._native"
    instance: dict[str, Any] = {
        "NativeExpression": tamis.parse("a")._native,
        "NativeGroups": tamis.Groups({})._native,
        "NativeIndex": tamis.Index()._native,
        "NativeMatches": tamis.Index().match_many([])._native,
        "NativeRankedMatches": tamis.Index().top_k_many([])._native,
        "NativeBatch": _native.dissect(pa.table({"e": pa.array([], pa.string())}), tamis.Limits().as_tuple())[
            0
        ],
        "NativeArray": tamis.Index().match_many([]).ids,
    }
    thing = instance[kind.__name__]
    with pytest.raises(AttributeError):
        thing.extra = 1
    for name in vars(kind):
        if not name.startswith("__"):
            with pytest.raises(AttributeError):
                setattr(thing, name, None)


def test_native_classes_say_that_they_are_frozen() -> None:
    sources = (PACKAGE.parents[1] / "crates" / "tamis-python" / "src").rglob("*.rs")
    declared = [line for path in sources for line in path.read_text().splitlines() if "#[pyclass" in line]
    assert len(declared) == len(NATIVE_CLASSES)
    assert [line for line in declared if "frozen" not in line] == []


def test_the_stub_is_the_module(tmp_path: Path) -> None:
    # Names, signatures, defaults and properties. Python shows the buffer protocol from 3.12 on.
    unseen = tmp_path / "unseen"
    unseen.write_text("(tamis\\._native\\.NativeArray\\.__buffer__)?\n")
    root = PACKAGE.parents[1]
    command = [sys.executable, "-m", "mypy.stubtest", "tamis._native", "--allowlist", str(unseen)]
    command += ["--ignore-unused-allowlist", "--mypy-config-file", str(root / "pyproject.toml")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def modules() -> Iterator[ModuleType]:
    yield tamis
    for found in pkgutil.walk_packages(tamis.__path__, "tamis."):
        # Importing __main__ would run it.
        if found.name != "tamis._native" and not found.name.endswith(".__main__"):
            yield importlib.import_module(found.name)


def public_things() -> Iterator[tuple[str, Any]]:
    """Modules, their public classes and functions, and the public methods and properties of those classes."""
    for module in modules():
        yield module.__name__, module
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                continue
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            yield f"{module.__name__}.{name}", thing
            members = vars(thing).items() if inspect.isclass(thing) else ()
            for member, part in members:
                part = getattr(part, "__func__", part)
                if not member.startswith("_") and (inspect.isfunction(part) or isinstance(part, property)):
                    yield f"{module.__name__}.{name}.{member}", part


def test_everything_public_has_a_docstring() -> None:
    seen = list(public_things())
    assert len(seen) > 50
    assert [name for name, thing in seen if not (thing.__doc__ or "").strip()] == []


def test_everything_public_is_annotated() -> None:
    def bare(thing: Any) -> bool:
        thing = thing.fget if isinstance(thing, property) else thing
        if not inspect.isfunction(thing):
            return False
        parameters = [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]
        return not {*parameters, "return"} <= set(thing.__annotations__)

    assert [name for name, thing in public_things() if bare(thing)] == []
    assert (PACKAGE / "py.typed").is_file()


def test_what_is_exported_is_there_and_sorted() -> None:
    assert tamis.__all__ == sorted(tamis.__all__)
    assert all(hasattr(tamis, name) for name in tamis.__all__)


EXCEPTIONS = [
    thing for thing in vars(errors).values() if inspect.isclass(thing) and issubclass(thing, Exception)
]


def test_all_exceptions_are_in_one_tree_and_exported() -> None:
    assert len(EXCEPTIONS) > 8
    for kind in EXCEPTIONS:
        assert issubclass(
            kind, tamis.NeverMatchesWarning if issubclass(kind, Warning) else tamis.TamisError
        ), kind
        assert getattr(tamis, kind.__name__) is kind


def provoke(tmp_path: Path) -> Iterator[Callable[[], object]]:
    """One call for every exception that a user can meet."""
    index = tamis.Index()
    index.add("x", "a > 1")
    yield lambda: tamis.parse("a >")
    yield lambda: index.add_many([1, 2], ["a", "b >"])
    yield lambda: index.add("x", "a")
    yield lambda: index.add_many([1, "x"], ["a", "b"])
    yield lambda: index["y"]
    yield lambda: index.add(1.5, "a")  # type: ignore[arg-type]
    yield lambda: index.match({"a": 1j})
    yield lambda: index.match_many([{}, {"a": 1j}])
    yield lambda: tamis.Index(engine="nope")
    yield lambda: tamis.Index.load(tmp_path / "missing")
    closed = tamis.Index()
    closed.close()
    yield lambda: closed.match({})


def test_exceptions_keep_all_they_know_when_pickled(tmp_path: Path) -> None:
    met = set()
    for call in provoke(tmp_path):
        with pytest.raises(tamis.TamisError) as caught:
            call()
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value)
        assert (str(again), again.args, vars(again)) == (
            str(caught.value),
            caught.value.args,
            vars(caught.value),
        )
        met.add(type(again))
    # Those that take a fault in an engine, an engine that takes only conjunctions, or two publishers at once.
    assert set(EXCEPTIONS) - met == {
        tamis.TamisError,
        tamis.TooComplex,
        tamis.InternalError,
        tamis.PublishConflict,
        tamis.NeverMatchesWarning,
    }
    conflict = tamis.PublishConflict("late", version="v3", expected="v1", current="v2", path="CURRENT")
    for rare in (tamis.TooComplex("too large", row=3), tamis.InternalError("broken"), conflict):
        again = pickle.loads(pickle.dumps(rare))
        assert (type(again), str(again), vars(again)) == (type(rare), str(rare), vars(rare))


def test_exceptions_are_also_the_usual_ones() -> None:
    assert issubclass(tamis.ParseError, ValueError)
    assert issubclass(tamis.DuplicateId, ValueError)
    assert issubclass(tamis.UnknownId, KeyError)
    assert issubclass(tamis.InvalidId, TypeError)
    assert issubclass(tamis.EventError, ValueError)
    assert issubclass(tamis.TooComplex, ValueError)
    assert issubclass(tamis.OptionError, ValueError)
    assert issubclass(tamis.ClosedIndex, ValueError)
    assert issubclass(tamis.NeverMatchesWarning, UserWarning)
