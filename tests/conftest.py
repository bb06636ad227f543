"""One seed for all random tests of a run, said at its start; what they did, said at its end."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

# Read by every JVM that a test starts, in this process or another; examples in the documentation start some.
os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "spark" / "support" / "conf")

SEED = int(os.environ.get("TAMIS_SEED") or secrets.randbelow(2**32))

# Each run looks elsewhere. The seed alone repeats it, so nothing is remembered between runs; and no example
# fails because a machine is slow.
hypothesis.settings.register_profile(
    "tamis",
    database=None,
    deadline=None,
    # Said explicitly: where CI is set, Hypothesis would draw the same in every run.
    derandomize=False,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("tamis")

# Hypothesis also draws constants from whatever modules are loaded. Then a test by itself would draw other
# cases than within the whole suite, and the seed of a failure would not repeat it. There is no setting.
providers.is_local_module_file = lambda path: False  # type: ignore[attr-defined, assignment]

_summary = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_summary] = []
    # Before the plugin of Hypothesis reads it; a seed given on the command line stays.
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SEED)


def pytest_report_header(config: pytest.Config) -> str:
    return _seed_line(config)


def _seed_line(config: pytest.Config) -> str:
    seed = config.option.hypothesis_seed
    return f"random tests: seed {seed}; TAMIS_SEED={seed} repeats this run"


@pytest.fixture(scope="session")
def random_seed(pytestconfig: pytest.Config) -> int:
    """The seed of this run."""
    return int(pytestconfig.option.hypothesis_seed)


@pytest.fixture(scope="session")
def summary(pytestconfig: pytest.Config) -> list[str]:
    """Lines to show at the end of the run: what the random tests did."""
    return pytestconfig.stash[_summary]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash[_summary]:
        terminalreporter.write_line(line)
    if terminalreporter.stats.get("failed"):
        # Again, because a quiet run has no header and a long one has scrolled it away.
        terminalreporter.write_line(_seed_line(config))
