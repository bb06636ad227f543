#!/usr/bin/env python3
"""One entry for everything a developer or CI does with tamis: `python3 dev.py <command>`.

Needs only Python and cargo. It keeps its own environment in .venv, installed from the lock file with
hashes, and makes it anew when the lock or the Python changes. Arguments after the command go to the
tool behind it: `python3 dev.py test -k parse` hands `-k parse` to pytest.
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))

from development import machine
from development.fuzzing import TARGETS, fuzz_steps
from development.machine import (
    INSTALLATION,
    LOCK,
    check_toolchain,
    ensure_cxx,
    ensure_venv,
    environment,
    seed,
    tool,
)
from development.steps import ROOT, Step, fail, run, run_beside, say, show_times

OLDEST_PYTHON = (3, 11)
# Seconds that `check` gives to all fuzz targets together.
CHECK_FUZZ_SECONDS = 60
# Steps that run beside each other. Compilers use all cores; tests on Spark mostly wait for its JVM.
AT_ONCE = 3


def step(title: str, command: Sequence[str]) -> None:
    """Run a command; a failure ends dev.py with the name of the step."""
    run(Step(title, command), environment())


# --- commands ---------------------------------------------------------------------------------------


def setup(args: Sequence[str] = ()) -> None:
    """Check the toolchain and make .venv from the lock file."""
    check_toolchain()
    ensure_venv()


def build(args: Sequence[str] = ()) -> None:
    """Compile the Rust core and install it, with the Python package, into .venv."""
    setup()
    step("building the core (the first time takes a few minutes)", maturin("--release", *args))


def demo(args: Sequence[str] = ()) -> None:
    """Run the whole pipeline on Spark: a workload, an index, matches, a stream, a report."""
    build()
    step("tamis demo", [tool("tamis"), "demo", *args])


def test(args: Sequence[str] = ()) -> None:
    """Run the Rust and the Python tests (arguments go to pytest)."""
    setup()
    say_seed()
    core, binding, spark, build_tests, python, rust = test_steps()
    if args:
        run_beside([core, binding, build_tests, rust], environment(), AT_ONCE)
        step(python.title, [*pytest(), *args])
    else:
        run_beside([core, binding, spark, build_tests, python, rust], environment(), AT_ONCE)
    show_times()


def lint(args: Sequence[str] = ()) -> None:
    """Check formatting, lints and types of Rust and Python."""
    setup()
    for check in lints():
        run(check, environment())


def fuzz(args: Sequence[str] = ()) -> None:
    """Run a fuzz target, or all in turn, for some time: fuzz [target] [--seconds N]."""
    parser = argparse.ArgumentParser(prog="python3 dev.py fuzz")
    parser.add_argument("target", nargs="?", choices=TARGETS, help="all in turn if none is named")
    parser.add_argument(
        "--seconds", type=int, default=60, help="in total, split evenly (default: %(default)s)"
    )
    given = parser.parse_args(args)
    setup()
    if not ensure_cxx():
        fail("there is no C++ compiler to build libFuzzer with; `cargo test -p tamis-fuzz` replays the seeds")
    targets = [given.target] if given.target else TARGETS
    for stage in fuzz_steps(targets, given.seconds):
        run(stage, environment())


def soak(args: Sequence[str] = ()) -> None:
    """Run random lives of all engines against the reference for some time (soak --help says how)."""
    if not {"-h", "--help"} & {*args}:
        build()
        lives = ["cargo", "build", "--release", "--locked", "-p", "tamis-baselines", "--example", "lives"]
        step("building the lives in Rust", lives)
    else:
        setup()
    step("soak", [tool("python"), "tools/soak.py", *args])


def bench(args: Sequence[str] = ()) -> None:
    """Compare all engines and their rivals (bench --help says how)."""
    if "--bench" in args:
        setup()
        step("benchmark", ["cargo", "bench", "-p", "tamis-bench", "--locked", *args])
        return
    # What runs nothing needs no core.
    prepare = setup if {"-h", "--help", "--docs", "--list"} & {*args} else build
    prepare()
    step("benchmarks", [tool("python"), "tools/bench.py", *args])


def licenses(args: Sequence[str] = ()) -> None:
    """Check that every dependency has a licence we allow."""
    setup()
    run(LICENCES, environment())


def check(args: Sequence[str] = ()) -> None:
    """All that CI runs: lint, licenses, test, demo, fuzz."""
    check_toolchain()
    # On a new machine packages are installed while Rust compiles.
    is_new = not machine.venv_is_current()
    if is_new:
        machine.ensure_java()
        machine.make_venv()
    say_seed()
    fuzzing = fuzz_steps(TARGETS, CHECK_FUZZ_SECONDS) if ensure_cxx() else []
    if not fuzzing:
        say("the fuzz targets only replay their seeds, within the Rust tests: there is no C++ compiler")
    with tempfile.TemporaryDirectory() as folder:
        run_beside(check_steps(Path(folder), is_new, fuzzing), environment(), AT_ONCE)
    show_times()
    say("all checks passed")


def lock(args: Sequence[str] = ()) -> None:
    """Write the lock file from pyproject.toml (`lock --upgrade` takes newer versions)."""
    setup()
    # Resolved for every platform and every Python we support; no host name is left in the file.
    everywhere = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest"]
    anonymous = ["--no-emit-index-url", "--no-annotate", "--custom-compile-command", "python3 dev.py lock"]
    command = [tool("uv"), "pip", "compile", "--quiet", "--no-config", "--generate-hashes"]
    command += [*everywhere, *anonymous, "--group", "tooling", "--extra", "spark", *args]
    name = str(LOCK.relative_to(ROOT))
    step(f"resolving {name}", [*command, "--output-file", name, "pyproject.toml"])


def clean(args: Sequence[str] = ()) -> None:
    """Remove everything dev.py and its tools have made: .venv, target, caches."""
    made = ["target", "dist", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"]
    native = [
        *(ROOT / "python" / "tamis").glob("_native*.so"),
        *(ROOT / "python" / "tamis").glob("_native*.pyd"),
    ]
    for path in [*(ROOT / name for name in made), *native]:
        if path.exists():
            say(f"removing {path.relative_to(ROOT)}")
            shutil.rmtree(path) if path.is_dir() else path.unlink()


# --- what commands are made of ----------------------------------------------------------------------

RUST_TESTS = ["cargo", "test", "--workspace", "--locked"]
LICENCES = Step("licences of the dependencies", [tool("python"), "tools/licenses.py"])


def maturin(*args: str) -> list[str]:
    return [tool("maturin"), "develop", "--locked", *args]


def pytest() -> list[str]:
    return [tool("python"), "-m", "pytest"]


def say_seed() -> None:
    say(f"random tests: seed {seed()}; TAMIS_SEED={seed()} repeats this run")


def lints() -> list[Step]:
    clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]
    return [
        Step("cargo fmt", ["cargo", "fmt", "--all", "--check"]),
        Step("ruff check", [tool("ruff"), "check"]),
        Step("ruff format", [tool("ruff"), "format", "--check"]),
        Step("cargo clippy", clippy),
        Step("mypy", [tool("mypy")]),
    ]


def test_steps() -> list[Step]:
    """The steps of `test`.

    Everything is compiled in the development profile, the binding as well: dependencies are compiled once,
    and the Python tests run with debug assertions. Steps that compile run in turn, as cargo locks its folder.
    The binding comes first, because the tests on Spark take longest and need it.
    """
    # Compiles while packages are installed; maturin is one of them.
    core = Step("core: build", ["cargo", "build", "--locked", "-p", "tamis-python"])
    binding = Step("binding: build", maturin(), needs=[core.title])
    build_tests = Step("Rust tests: build", [*RUST_TESTS, "--no-run"], needs=[binding.title])
    return [
        core,
        binding,
        Step("Spark tests", [*pytest(), "tests/spark"], needs=[binding.title]),
        build_tests,
        # They run the benchmarks' runner as well, which `cargo test` builds.
        Step("Python tests", [*pytest(), "--ignore=tests/spark"], needs=[build_tests.title]),
        Step("Rust tests", RUST_TESTS, needs=[build_tests.title]),
    ]


def check_steps(folder: Path, is_new: bool, fuzzing: Sequence[Step]) -> list[Step]:
    """The steps of `check`: those of `test` and more. Files that are not kept go below `folder`."""
    fmt, ruff, ruff_format, clippy, mypy = lints()
    packages = [INSTALLATION] if is_new else []
    core, binding, spark, build_tests, python, rust = test_steps()
    settings = {"SPARK_CONF_DIR": str(ROOT / "tests" / "spark" / "support" / "conf")}
    demo = Step("tamis demo", [tool("tamis"), "demo", "--out", str(folder / "demo")], variables=settings)
    return [
        core,
        *packages,
        fmt,
        *after(packages, [binding]),
        spark,
        build_tests,
        *after(packages, [ruff, ruff_format, LICENCES, mypy]),
        python,
        *after([build_tests], [clippy]),
        rust,
        *after([spark], [demo]),
        *after([rust, clippy], fuzzing),
    ]


def after(first: Sequence[Step], steps: Sequence[Step]) -> list[Step]:
    """The same steps, each of them after all the first ones."""
    titles = [step.title for step in first]
    return [dataclasses.replace(step, needs=[*step.needs, *titles]) for step in steps]


COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    command.__name__: command
    for command in (demo, test, setup, build, lint, fuzz, soak, bench, licenses, check, lock, clean)
}
# The commands that take further arguments.
FORWARDING = {"demo", "test", "build", "bench", "lock", "fuzz", "soak"}


def main() -> None:
    described = "\n".join(f"  {name:9} {run.__doc__}" for name, run in COMMANDS.items())
    parser = argparse.ArgumentParser(
        usage="python3 dev.py <command> [arguments for its tool]",
        description=f"commands:\n{described}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, help=argparse.SUPPRESS)
    parser.add_argument("args", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    if len(sys.argv) == 1:
        parser.print_help()
        return
    chosen = parser.parse_args()
    if chosen.args and chosen.command not in FORWARDING:
        parser.error(f"{chosen.command} takes no arguments, got: {shlex.join(chosen.args)}")
    COMMANDS[chosen.command](chosen.args)


if __name__ == "__main__":
    if sys.version_info < OLDEST_PYTHON:
        fail("Python 3.11 or newer is needed; this is {}.{}".format(*sys.version_info[:2]))
    main()
