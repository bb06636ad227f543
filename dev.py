#!/usr/bin/env python3
"""One entry for everything a developer or CI does with tamis: `python3 dev.py <command>`.

Needs only Python and cargo. It keeps its own environment in .venv, installed from the lock file with
hashes, and makes it anew when the lock or the Python changes. Arguments after the command go to the
tool behind it: `python3 dev.py test -k parse` hands `-k parse` to pytest.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
LOCK = ROOT / "requirements" / "dev.lock"
STAMP = VENV / "tamis-stamp"

OLDEST_PYTHON = (3, 11)
OLDEST_JAVA = 17


# --- running steps ----------------------------------------------------------------------------------


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


def fail(text: str, code: int = 1) -> NoReturn:
    print(f"dev.py: {text}", file=sys.stderr, flush=True)
    raise SystemExit(code)


def environment() -> dict[str, str]:
    """The caller's environment, pointed at .venv.

    Cargo gets the venv's Python, as the binding links against it. Variables that would pull in
    another Python's packages are dropped.
    """
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX")}
    env["VIRTUAL_ENV"] = str(VENV)
    env["PYO3_PYTHON"] = tool("python")
    env["PATH"] = os.pathsep.join([str(BIN), env.get("PATH", "")])
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    env["TAMIS_SEED"] = seed()
    env.setdefault("PROPTEST_RNG_SEED", seed())
    return env


@functools.cache
def seed() -> str:
    """The seed of all random tests, in Rust and in Python: new in each run unless TAMIS_SEED fixes it."""
    given = os.environ.get("TAMIS_SEED") or str(secrets.randbelow(2**32))
    if not given.isdecimal():
        fail(f"TAMIS_SEED is {given!r}; it takes a whole number")
    return given


def attempt(title: str, command: Sequence[str]) -> int:
    """Say what is done, do it from the root, and return the exit code as a shell would give it."""
    say(title)
    try:
        code = subprocess.run(command, cwd=ROOT, env=environment()).returncode
    except FileNotFoundError:
        print(f"dev.py: {command[0]} was not found", file=sys.stderr)
        return 127
    return code if code >= 0 else 128 - code


def step(title: str, command: Sequence[str]) -> None:
    """Like `attempt`, but a failure ends dev.py with the step's exit code."""
    code = attempt(title, command)
    if code:
        shown = shlex.join(command)
        fail(f"step failed with exit code {code}: {title}\n        command: {shown}", code)


@contextmanager
def beside(title: str, command: Sequence[str]) -> Iterator[None]:
    """Run a step while others run; what it says is shown when they are done."""
    say(f"{title} (beside the next steps)")
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=log, stderr=log)
        try:
            yield
            process.wait()
        finally:
            process.kill()
            say(f"{title}: what they said")
            log.seek(0)
            sys.stdout.buffer.write(log.read())
            sys.stdout.flush()
    if code := process.returncode:
        fail(f"step failed with exit code {code}: {title}\n        command: {shlex.join(command)}")


def tool(name: str) -> str:
    return str(BIN / name)


# --- the toolchain ----------------------------------------------------------------------------------


def check_toolchain() -> None:
    """Stop early, with advice, when the machine lacks what the build needs."""
    # Where rustup puts cargo; shells opened before its installation do not know the place.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", ""), str(Path.home() / ".cargo" / "bin")])
    if shutil.which("cargo") is None:
        fail(
            "cargo was not found. Install Rust with rustup (https://rustup.rs) and open a new shell,\n"
            "        or put the directory that holds cargo on PATH."
        )
    compilers = [os.environ.get("CC") or "cc", "gcc", "clang"]
    if os.name != "nt" and not any(shutil.which(shlex.split(compiler)[0]) for compiler in compilers):
        fail(
            "no C compiler was found, and Rust needs one to link.\n"
            "        On Debian or Ubuntu: apt-get install gcc libc6-dev"
        )


def java_version() -> int | None:
    """The major version of the `java` on PATH, or None when there is none."""
    try:
        shown = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    except FileNotFoundError:
        return None
    # Java 8 calls itself "1.8.0_292", its successors "17.0.15" or just "21".
    found = re.search(r'version "(?:1\.)?(\d+)', shown)
    return int(found.group(1)) if found else None


def ensure_java() -> None:
    """Install Java where that takes no question; otherwise say what is missing and go on."""
    version = java_version()
    if version is not None and version >= OLDEST_JAVA:
        return
    package = f"openjdk-{OLDEST_JAVA}-jre-headless"
    say(f"Java {OLDEST_JAVA} or newer was not found. Spark, for the demo and for some tests, needs it.")
    prefix = administrator()
    if prefix is None:
        say(f"going on without Java; to have it, install {package} or its like")
        return
    install = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
    code = attempt(
        "updating the package lists (TAMIS_NO_APT=1 prevents it)", [*prefix, "apt-get", "update", "-qq"]
    )
    code = code or attempt(f"installing {package}", [*prefix, *install, "--no-install-recommends", package])
    if code:
        say(f"going on without Java: apt-get failed with exit code {code}")


def administrator() -> list[str] | None:
    """The prefix that runs apt-get with its rights and without a question, or None."""
    if os.environ.get("TAMIS_NO_APT") or shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and not subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode:
        return ["sudo", "-n"]
    return None


def ensure_venv() -> None:
    """Make .venv from the lock unless the one there was made from the same lock by the same Python."""
    wanted = f"{sys.version}\n{hashlib.sha256(LOCK.read_bytes()).hexdigest()}\n"
    if STAMP.is_file() and STAMP.read_text() == wanted and shutil.which(tool("python")):
        return
    ensure_java()
    say(f"making .venv with Python {sys.version.split()[0]}")
    # When dev.py itself runs on .venv's Python, clearing .venv must not take that Python away.
    base = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run([base, "-m", "venv", "--clear", str(VENV)], cwd=ROOT)
    if made.returncode:
        fail("could not make .venv. On Debian or Ubuntu: apt-get install python3-venv", made.returncode)
    install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK)]
    step("installing the locked packages into .venv", [tool("python"), *install])
    # Written last, so that an interrupted installation is made anew.
    STAMP.write_text(wanted)


# --- commands ---------------------------------------------------------------------------------------


def setup(args: Sequence[str] = ()) -> None:
    """Check the toolchain and make .venv from the lock file."""
    check_toolchain()
    ensure_venv()


def build(args: Sequence[str] = ()) -> None:
    """Compile the Rust core and install it, with the Python package, into .venv."""
    setup()
    command = [tool("maturin"), "develop", "--release", "--locked", *args]
    step("building the core (the first time takes a few minutes)", command)


def demo(args: Sequence[str] = ()) -> None:
    """Run the whole pipeline on Spark: a workload, an index, matches, a stream, a report."""
    build()
    step("tamis demo", [tool("tamis"), "demo", *args])


def test(args: Sequence[str] = ()) -> None:
    """Run the Rust and the Python tests (arguments go to pytest)."""
    build()
    say(f"random tests: seed {seed()}; TAMIS_SEED={seed()} repeats this run")
    rust, python = ["cargo", "test", "--workspace", "--locked"], [tool("python"), "-m", "pytest"]
    if args:
        step("Rust tests", rust)
        step("Python tests", [*python, *args])
        return
    # Spark mostly waits for Spark.
    with beside("Spark tests", [*python, "tests/spark"]):
        step("Rust tests", rust)
        step("Python tests", [*python, "--ignore=tests/spark"])


def lint(args: Sequence[str] = ()) -> None:
    """Check formatting, lints and types of Rust and Python."""
    setup()
    step("cargo fmt", ["cargo", "fmt", "--all", "--check"])
    clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]
    step("cargo clippy", clippy)
    step("ruff check", [tool("ruff"), "check"])
    step("ruff format", [tool("ruff"), "format", "--check"])
    step("mypy", [tool("mypy")])


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
    step("licences of the dependencies", [tool("python"), "tools/licenses.py"])


def check(args: Sequence[str] = ()) -> None:
    """All that CI runs: lint, licenses, test, demo."""
    lint()
    licenses()
    test()
    with tempfile.TemporaryDirectory() as folder:
        demo(["--out", str(Path(folder) / "demo")])
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


COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    command.__name__: command
    for command in (demo, test, setup, build, lint, bench, licenses, check, lock, clean)
}
# The commands that hand further arguments to the tool behind them.
FORWARDING = {"demo", "test", "build", "bench", "lock"}


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
