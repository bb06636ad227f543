"""What a machine must have: cargo, compilers, Java, and .venv made from the lock file.

What is missing is installed if apt-get can do that without a question; the rest is named with advice.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from development.steps import ROOT, Step, attempt, fail, run, say

VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
LOCK = ROOT / "requirements" / "dev.lock"
STAMP = VENV / "tamis-stamp"

OLDEST_JAVA = 17


def tool(name: str) -> str:
    return str(BIN / name)


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


def check_toolchain() -> None:
    """Stop early, with advice, when the machine lacks what the build needs."""
    # Where rustup puts cargo; shells opened before its installation do not have it on PATH.
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
    say(f"Java {OLDEST_JAVA} or newer was not found. Spark, for the demo and for some tests, needs it.")
    if not _install(f"openjdk-{OLDEST_JAVA}-jre-headless"):
        say("going on without Java")


def ensure_cxx() -> bool:
    """Whether there is a C++ compiler, after an attempt to install one."""
    compilers = [os.environ.get("CXX") or "c++", "g++", "clang++"]
    if any(shutil.which(shlex.split(compiler)[0]) for compiler in compilers):
        return True
    say("no C++ compiler was found. libFuzzer, which guides the fuzz targets, is compiled with it.")
    return _install("g++")


def _install(package: str) -> bool:
    """Install a package by apt-get if that takes no question; otherwise say why not and return False."""
    prefix = _administrator()
    if prefix is None:
        say(f"{package}, or its like on this system, has to be installed by hand")
        return False
    apt_get = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    update = Step("updating the package lists (TAMIS_NO_APT=1 prevents it)", [*apt_get, "update"])
    install = Step(f"installing {package}", [*apt_get, "install", "-y", "--no-install-recommends", package])
    code = attempt(update, environment()) or attempt(install, environment())
    if code:
        say(f"apt-get failed with exit code {code}")
    return code == 0


def _administrator() -> list[str] | None:
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
    if not venv_is_current():
        ensure_java()
        make_venv()
        run(INSTALLATION, environment())


def venv_is_current() -> bool:
    return (
        STAMP.is_file() and STAMP.read_text() == _fingerprint() and shutil.which(tool("python")) is not None
    )


def make_venv() -> None:
    """Make an empty .venv. It is current once `INSTALLATION` has succeeded."""
    say(f"making .venv with Python {sys.version.split()[0]}")
    # When dev.py itself runs on .venv's Python, clearing .venv must not take that Python away.
    base = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run([base, "-m", "venv", "--clear", str(VENV)], cwd=ROOT)
    if made.returncode:
        fail("could not make .venv. On Debian or Ubuntu: apt-get install python3-venv", made.returncode)


def _mark_venv() -> None:
    """Say that .venv is complete: called last, so that an interrupted installation is made again."""
    STAMP.write_text(_fingerprint())


def _fingerprint() -> str:
    return f"{sys.version}\n{hashlib.sha256(LOCK.read_bytes()).hexdigest()}\n"


INSTALLATION = Step(
    "installing the locked packages into .venv",
    [tool("python"), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK)],
    on_success=_mark_venv,
)
