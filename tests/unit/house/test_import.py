"""Importing tamis is light."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ["pyarrow", "numpy", "pandas", "pyspark", "rich", "polars", "duckdb"]


def test_import_loads_nothing_heavy() -> None:
    code = (
        f"import sys, tamis; tamis.Index().add(1, 'a = 1'); print([m for m in {HEAVY} if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
