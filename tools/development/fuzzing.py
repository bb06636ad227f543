"""The fuzz targets as steps: one that builds them with coverage counters, one for each target that runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from development.steps import ROOT, Step

TARGETS = ("parse", "open_file", "crafted_file", "history", "json_events", "arrow_batches")

# Seconds after which one input counts as a hang, and MB after which one counts as a leak.
TIMEOUT = 20
MEMORY = 2048


def fuzz_steps(targets: Sequence[str], seconds: int) -> list[Step]:
    """Build the targets, then run each for an even share of the seconds.

    Inputs that reach new code are kept below target/fuzz/ and used by the next run; one that fails is left
    in target/fuzz/failures/. The wrapper instruments our own crates only. Selecting the whole workspace gives
    dependencies the features they have in `cargo test --workspace`, so they are not compiled again.
    """
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    build = [
        *("cargo", "build", "--locked", "--workspace"),
        *("--features", "tamis-fuzz/libfuzzer"),
        *(part for target in targets for part in ("--bin", target)),
    ]
    wrapper = {"RUSTC_WORKSPACE_WRAPPER": str(ROOT / "fuzz" / "instrument.sh")}
    steps = [Step("fuzz targets: build", build, variables=wrapper)]
    share = max(1, seconds // len(targets))
    for target in targets:
        found, failures = folder / "fuzz" / target, folder / "fuzz" / "failures"
        for made in (found, failures):
            made.mkdir(parents=True, exist_ok=True)
        command = [
            str(folder / "debug" / target),
            str(found),
            str(ROOT / "fuzz" / "seeds" / target),
            f"-max_total_time={share}",
            f"-timeout={TIMEOUT}",
            f"-rss_limit_mb={MEMORY}",
            f"-artifact_prefix={failures}/{target}-",
            "-max_len=8192",
            "-print_final_stats=1",
        ]
        needs = [steps[0].title] if len(steps) == 1 else [steps[-1].title]
        steps.append(Step(f"fuzz {target} for {share} s", command, needs))
    return steps
