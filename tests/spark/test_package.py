"""The package: public names stay callable, documented paths stay importable, workers run this Python."""

from __future__ import annotations

import importlib
import pkgutil
import random
import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import tamis.spark

SUBMODULES = [module.name for module in pkgutil.walk_packages(tamis.spark.__path__, "tamis.spark.")]
FUNCTIONS = [name for name in tamis.spark.__all__ if name != "IndexRef"]

# Run as `python -c PROGRAM MODULE...`: import the modules in this order, then look at the public names.
IMPORT_IN_ORDER = """
import importlib, sys
import tamis.spark

for name in sys.argv[1:]:
    importlib.import_module(name)
for name in tamis.spark.__all__:
    public = getattr(tamis.spark, name)
    assert callable(public) and public.__name__ == name, (name, public)
print(len(tamis.spark.__all__))
"""


def test_no_submodule_has_the_name_of_a_public_function() -> None:
    top_level = {name.split(".")[2] for name in SUBMODULES}
    assert len(SUBMODULES) > 40 and not top_level & set(tamis.spark.__all__)


@pytest.mark.parametrize("order", ["sorted", "reversed", "shuffled"])
def test_public_names_are_functions_after_every_submodule_was_imported(order: str, random_seed: int) -> None:
    names = sorted(SUBMODULES, reverse=order == "reversed")
    if order == "shuffled":
        random.Random(random_seed).shuffle(names)
    command = [sys.executable, "-c", IMPORT_IN_ORDER, *names]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{len(tamis.spark.__all__)}\n"), done.stderr


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("tamis.spark.session", ["local_session"]),
        ("tamis.spark.generating", ["generate_events", "generate_subscriptions"]),
        ("tamis.spark.sources", ["register_sources"]),
        ("tamis.spark.ingest", ["subscriptions", "weighted", "keywords", "table", "profiles", "json"]),
        (
            "tamis.spark.profiling",
            ["profile", "profile_subscriptions", "sample_events", "save_profile", "selectivities"],
        ),
    ],
)
def test_documented_paths(module: str, names: list[str]) -> None:
    imported = importlib.import_module(module)
    for name in names:
        assert callable(getattr(imported, name))
        if name in FUNCTIONS:
            assert getattr(imported, name) is getattr(tamis.spark, name)


def test_importing_the_package_imports_no_spark() -> None:
    script = "import sys, tamis.spark; print(sorted({'pyspark', 'pyarrow', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'tamis\.spark' has no attribute 'nope'"):
        tamis.spark.nope  # noqa: B018


def interpreter(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable] * len(batch)})


def test_workers_run_this_python(spark: SparkSession) -> None:
    rows = spark.range(3).mapInArrow(interpreter, "python string").collect()
    assert [row["python"] for row in rows] == [sys.executable] * 3
