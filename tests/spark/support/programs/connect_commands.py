"""Command lines of a Spark Connect client: `python connect_commands.py FOLDER COMMANDS RESULTS`.

COMMANDS is JSON, a list of command lines that run in sequence in FOLDER. RESULTS is a file for the exit code,
stdout and stderr of each. One process for all: importing pyspark takes longer than most commands.
"""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.spark.support.slow_workers import is_slow_start

from tamis.cli import main as run_command


def main() -> None:
    """Run all command lines."""
    folder, commands, results = sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3])
    os.chdir(folder)
    found = []
    for command in commands:
        while True:
            with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
                code = run_command(command)
            if not is_slow_start(err.getvalue()):
                break
        found.append((code, out.getvalue(), err.getvalue()))
    results.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
