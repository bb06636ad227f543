"""Runs command lines in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tamis.cli import main

RunCommand = Callable[..., tuple[int, str, str]]
"""Runs a command line; returns its exit code, stdout and stderr."""


def command_runner(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run command lines, with their output captured by pytest."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def json_lines(text: str) -> list[dict[str, Any]]:
    """The objects of JSON lines."""
    return [json.loads(line) for line in text.splitlines()]
