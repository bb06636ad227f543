"""An exclusive lock on a path, between the processes of one machine.

`fcntl.flock` where the system has it: the system releases the lock when its holder dies. Elsewhere the holder
is the process that created `<path>.held`, with the flag that makes creation fail if the file exists. A holder
that dies leaves the file, so a file older than `STALE_SECONDS` no longer counts. Two processes may then hold
the lock; callers must stay correct in that case and use the lock only to save work.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:
    fcntl = None

STALE_SECONDS = 600.0
_POLL_SECONDS = 0.02


def exclusive_lock(path: Path) -> AbstractContextManager[None]:
    """Wait for the lock of a path, and hold it inside the `with` block."""
    return _created(path.with_name(f"{path.name}.held")) if fcntl is None else _flocked(fcntl, path)


@contextmanager
def _flocked(module: ModuleType, path: Path) -> Iterator[None]:
    with os.fdopen(_open(path)) as file:
        module.flock(file, module.LOCK_EX)
        yield


def _open(path: Path) -> int:
    """Open the file of a lock, and create it if it does not exist; a symbolic link is an error.

    Another user may have created it: then it may be readable only, which is enough for a lock.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)


@contextmanager
def _created(path: Path) -> Iterator[None]:
    while not _create(path):
        if _age(path) > STALE_SECONDS:
            path.unlink(missing_ok=True)
        else:
            time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _create(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except (FileExistsError, PermissionError):
        # Windows reports a file that is being removed as PermissionError.
        if not path.parent.is_dir():
            raise
        return False
    return True


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
