"""Lives one after another: `python -m soaking.worker --seed S --first N --step K --seconds T`.

Prints a line of JSON for each life that has ended. A finding ends the process with exit code 1 after a
message with the number of the life, which `--first` repeats.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import tamis
from soaking.life import Life
from soaking.trouble import TROUBLES

ROUNDS = 400


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m soaking.worker")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first", type=int, default=0, help="number of the first life")
    parser.add_argument("--step", type=int, default=1, help="difference between the numbers of two lives")
    parser.add_argument("--seconds", type=float, required=True, help="a life that has begun is finished")
    given = parser.parse_args()
    warnings.simplefilter("ignore", tamis.NeverMatchesWarning)
    end = time.monotonic() + given.seconds
    for number in itertools.count(given.first, given.step):
        if time.monotonic() >= end:
            return 0
        try:
            with tempfile.TemporaryDirectory(prefix="tamis-soak-") as folder:
                done = _live(f"{given.seed} {number}", number, Path(folder))
        except Exception:
            print(f"life {number} of seed {given.seed}:", file=sys.stderr)
            traceback.print_exc()
            return 1
        print(json.dumps(done), flush=True)
    return 0


def _live(seed: str, number: int, folder: Path) -> dict[str, int | str]:
    """Every third life meets trouble of one kind, the others are long histories."""
    if number % 3 == 2:
        name = list(TROUBLES)[number // 3 % len(TROUBLES)]
        return {"kind": name, "times": TROUBLES[name](seed, folder), "lives": 1}
    life = Life(seed, folder)
    life.run(ROUNDS)
    totals = {"operations": life.operations, "answers": life.reference.answers}
    return {"kind": life.engine, "lives": 1, **totals}


if __name__ == "__main__":
    sys.exit(main())
