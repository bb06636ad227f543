"""The lock of a store: one process at a time commits, publishes or removes versions.

In a local folder it is a file lock (`file_lock`), which the system releases when its holder dies.

Object stores and Hadoop's filesystems, as pyarrow opens them, can neither create a file only if it does not
exist nor lock one. What they have is a listing that shows every file whose writing has ended. That suffices:

1. A process writes a claim, a file with a name of its own, and lists all claims.
2. If its claim is the only one, it holds the lock until it removes the claim.
3. Otherwise it removes its claim and tries again later; the oldest claim stays and lists again.

Two processes cannot both see theirs alone: the one that lists last has written its claim before, and so has
the other, whose claim is still there. A holder that dies leaves its claim, so a claim older than
`LEASE_SECONDS`, by the clock of the storage, is removed by others. A holder calls `confirm` before each
write: past half of the lease it gives up. So only a holder that stops for five minutes between `confirm` and
the write itself, and then goes on, can write without the lock.

Cost: one write, one listing and one removal, of a few bytes each.
"""

from __future__ import annotations

import os
import random
import re
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tamis import FileError, PublishConflict
from tamis.spark.store.file_lock import STALE_SECONDS, exclusive_lock
from tamis.spark.store.folder import FileEntry, Folder

LEASE_SECONDS = STALE_SECONDS
# More than a lease: a claim that its holder has left is removed before others give up.
WAIT_SECONDS = 2 * LEASE_SECONDS
_FOLDER = "locks"
_CLAIM = re.compile(rf"{_FOLDER}/[0-9]{{20}}-[0-9a-f]{{32}}\.claim")
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.02, 0.5


@dataclass(frozen=True, slots=True)
class HeldLock:
    """The lock of a store, while it is held.

    Attributes:
        since: When it was claimed, on this machine's monotonic clock.
    """

    since: float

    def confirm(self) -> None:
        """Check that the lock is still held.

        Raises:
            PublishConflict: It was held for so long that others may have taken it.
        """
        seconds = time.monotonic() - self.since
        if seconds > LEASE_SECONDS / 2:
            raise PublishConflict(
                f"the lock of the store was held for {seconds:.0f} s, others may have it; try again"
            )


@contextmanager
def store_lock(folder: Folder) -> Iterator[HeldLock]:
    """Wait for the lock of a store, and hold it inside the `with` block.

    Raises:
        FileError: Another process holds it for longer than `WAIT_SECONDS`.
    """
    if not folder.is_local:
        with _claimed(folder) as held:
            yield held
        return
    locks = Path(folder.root) / _FOLDER
    locks.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(locks / "publish.lock"):
        yield HeldLock(time.monotonic())


@contextmanager
def _claimed(folder: Folder) -> Iterator[HeldLock]:
    # Names sort by age, so the oldest claim has precedence.
    mine = f"{_FOLDER}/{time.time_ns():020d}-{uuid.uuid4().hex}.claim"
    try:
        yield HeldLock(_wait_alone(folder, mine))
    finally:
        folder.remove(mine)


def _wait_alone(folder: Folder, mine: str) -> float:
    """Claim the lock until no other claim is there; return when the claim was written."""
    owner = f"{socket.gethostname()} {os.getpid()}\n".encode()
    give_up, pause = time.monotonic() + WAIT_SECONDS, _FIRST_PAUSE_SECONDS
    while True:
        # Written anew in every round: a claim that stays must not look abandoned.
        since = time.monotonic()
        folder.write(mine, owner)
        claims = {entry.path: entry for entry in folder.entries(_FOLDER) if _CLAIM.fullmatch(entry.path)}
        own = claims.pop(mine, None)
        if own is not None and not claims:
            return since
        if claims and min(claims) < mine:
            folder.remove(mine)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        else:
            pause = _FIRST_PAUSE_SECONDS  # the next to have the lock
        if own is not None:
            _remove_abandoned(folder, own, claims)
        if time.monotonic() > give_up:
            raise FileError(
                f"the lock of {folder.root} is not free after {WAIT_SECONDS:.0f} s: "
                f"{', '.join(sorted(claims))}; if no other process publishes, remove these files",
                path=folder.root,
            )
        time.sleep(random.uniform(pause / 2, pause))


def _remove_abandoned(folder: Folder, own: FileEntry, claims: dict[str, FileEntry]) -> None:
    for path, claim in claims.items():
        if own.modified - claim.modified > LEASE_SECONDS:
            folder.remove(path)
