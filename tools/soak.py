"""Random lives of all engines and entry points against the reference: `python3 dev.py soak`.

One worker runs lives in Rust, as fast as it can; the others run lives through the Python package: updates,
every way of matching, files, and trouble (kills, forks, full disks, damaged files, churn). The first
difference from the reference, a crash or a hang ends the run with exit code 1 and what repeats it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from development.steps import ROOT
from soaking import schedule
from soaking.schedule import Worker


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 dev.py soak",
        description="Random lives of all engines and entry points against the reference, with kills, forks, "
        "full disks, damaged files and churn. The exit code is 1 if anything was found.",
    )
    parser.add_argument("--minutes", type=float, default=1, help="how long (default: %(default)s)")
    parser.add_argument(
        "--operations", type=int, help="only Rust lives, until they have done this many operations"
    )
    parser.add_argument("--seed", type=int, help="default: TAMIS_SEED, otherwise drawn and printed")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first life (default: %(default)s)"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 2, help="processes (default: one per core)"
    )
    options = parser.parse_args(given)
    if options.minutes <= 0 or options.workers < 1 or (options.operations or 1) < 1:
        parser.error("--minutes, --workers and --operations are positive")
    return options


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    seed = options.seed if options.seed is not None else int(os.environ.get("TAMIS_SEED", 0))
    seed = seed or int.from_bytes(os.urandom(4))
    seconds = options.minutes * 60
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    os.environ["TAMIS_SEED"] = str(seed)
    print(f"seed {seed}")
    rust = [str(folder / "release" / "examples" / "lives"), "--first", str(options.first)]
    if options.operations:
        # Lives of different workers have different numbers.
        share = -(-options.operations // options.workers)
        return schedule.run(
            [
                Worker(
                    f"worker {at}",
                    [*rust[:-1], str(options.first + at * 10**9), "--operations", str(share)],
                    True,
                )
                for at in range(options.workers)
            ],
            float("inf"),
        )
    workers = [Worker("lives in Rust", [*rust, "--seconds", str(int(seconds))], is_cumulative=True)]
    count = max(1, options.workers - 1)
    for at in range(count):
        command = [sys.executable, "-m", "soaking.worker", "--seed", str(seed), "--seconds", str(seconds)]
        command += ["--first", str(options.first + at), "--step", str(count)]
        workers.append(Worker(f"lives through Python, worker {at}", command))
    return schedule.run(workers, seconds)


if __name__ == "__main__":
    sys.exit(main())
