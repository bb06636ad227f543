"""What happens to programs: they are killed, they fork, disks fill up, files are damaged.

Each function takes the seed of a life and a folder, and raises `WrongAnswer` or returns how many times there
was trouble. What can end a process runs in a child, and a signal that ends the child is a finding.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import tamis
from soaking import drawing
from soaking.life import Life
from soaking.reference import Reference, WrongAnswer, require

# Seconds after which a child counts as hanging.
PATIENCE = 120


def kills(seed: str, folder: Path) -> int:
    """A process that updates and saves is killed: the file is that of the last save, or of the next."""
    draw, path = Random(seed), folder / "kill.tamis"
    count = 4
    for _ in range(count):
        child = os.fork()
        if child == 0:
            _exit_after(lambda: _update_and_save(path))
        time.sleep(draw.uniform(0.0, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if path.exists():
            index = tamis.Index.load(path)
            index.validate()
            # A state holds 50 consecutive ids, each with a rule of its own.
            ids = [int(id) for id in index]
            require(ids == list(range(ids[0], ids[0] + len(ids))), f"{ids} is no state that was saved")
            require(index.match({"n": ids[-1]}) == ids[-1:], f"{ids[-1]} does not match")
    index = tamis.Index()
    index.save(path)
    left = [other.name for other in folder.iterdir() if other != path]
    require(not left, f"{left} are left by savers that were killed")
    return count


def _update_and_save(path: Path) -> None:
    index = tamis.Index.load(path) if path.exists() else tamis.Index(options={"recent": 8, "fanout": 2})
    first = max(map(int, index), default=-1) + 1
    for number in range(first, first + 100_000):
        index.add(number, f"n = {number}")
        if number >= 50:
            index.remove(number - 50)
        if number % 3 == 2:
            index.save(path)


def forks(seed: str, folder: Path) -> int:
    """A process forks while threads update and match: the child matches, updates and ends."""
    life = Life(seed, folder)
    life.run(60)
    draw, stop = Random(seed), threading.Event()
    rules = [drawing.rule(draw, 1) for _ in range(20)]
    events = [drawing.event(draw) for _ in range(20)]

    def update() -> None:
        for number in range(1_000_000):
            if stop.is_set():
                return
            try:
                life.index.add(f"thread {number}", rules[number % 20])
                life.index.remove(f"thread {number}")
            except tamis.TooComplex:
                pass

    def match() -> None:
        while not stop.is_set():
            life.index.match_many(events, threads=2)

    threads = [threading.Thread(target=work) for work in (update, match)]
    for thread in threads:
        thread.start()
    count = 5
    try:
        for _ in range(count):
            time.sleep(draw.uniform(0.0, 0.03))
            child = os.fork()
            if child == 0:
                _exit_after(lambda: _use(life, events))
            _wait_for(child, "a forked child")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return count


def _use(life: Life, events: list[dict[str, object]]) -> None:
    """Match and update in a child. A rule of a thread may be there, as its index was copied at any moment."""
    for event in events:
        found = [id for id in life.index.match(event) if not str(id).startswith("thread")]
        require(found == life.reference.matches(event), f"{event}: {found} in a child")
    life.index.add("child", "n = 1")
    require("child" in life.index.match({"n": 1}), "a child's rule does not match")
    life.index.match_many(events, threads=2)
    life.index.compact()
    life.index.validate()


def full_disks(seed: str, folder: Path) -> int:
    """A disk is full while an index is saved: an error says so, and the file that was there is whole."""
    life = Life(seed, folder)
    life.run(120)
    with _small_disk(folder) as (disk, limit):
        path = disk / "full.tamis"
        small = tamis.Index()
        small.add(1, "n = 1")
        small.save(path)
        big = tamis.Index()
        big.add_many((n, f"s = '{n:0200}' and n > {n}") for n in range(limit // 100))
        try:
            big.save(path)
        except (OSError, tamis.FileError):
            pass
        else:
            raise WrongAnswer(f"a file of more than {limit} bytes was saved on a disk of {limit}")
        require(tamis.Index.load(path).match({"n": 1}) == [1], "the file from before is not whole")
        left = [other.name for other in disk.iterdir() if other != path]
        require(not left, f"{left} are left by a save that failed")
        big.save(folder / "elsewhere.tamis")
        require(len(tamis.Index.load(folder / "elsewhere.tamis")) == len(big), "the index lost rules")
    return 1


@contextmanager
def _small_disk(folder: Path) -> Iterator[tuple[Path, int]]:
    """A file system of its own where that is allowed, otherwise a limit on the size of files."""
    size = 1 << 20
    with tempfile.TemporaryDirectory(dir=folder) as name:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", name]
        try:
            mounted = subprocess.run(mount, capture_output=True).returncode == 0
        except FileNotFoundError:
            mounted = False
        if mounted:
            try:
                yield Path(name), size
            finally:
                subprocess.run(["umount", "--lazy", name], check=True)
            return
        # Writing beyond the limit sends a signal; if that is ignored, it is an error as on a full disk.
        before, handler = (
            resource.getrlimit(resource.RLIMIT_FSIZE),
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
        )
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield Path(name), size
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)


def damaged_files(seed: str, folder: Path) -> int:
    """Bytes of a saved file are changed, cut off or added: an error names the file."""
    life = Life(seed, folder)
    life.run(80)
    draw, path = Random(seed), folder / "damaged.tamis"
    life.index.save(path)
    sound = path.read_bytes()
    count = 60
    for _ in range(count):
        damaged = bytearray(sound)
        kind = draw.randrange(4)
        at = draw.randrange(len(damaged))
        if kind == 0:
            damaged[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del damaged[at:]
        elif kind == 2:
            damaged += draw.randbytes(draw.randint(1, 100))
        else:
            length = draw.randint(1, 200)
            damaged[at : at + length] = draw.randbytes(len(damaged[at : at + length]))
        if bytes(damaged) == sound:
            continue
        path.write_bytes(damaged)
        try:
            tamis.Index.load(path)
        except tamis.FileError as error:
            require(path.name in str(error), f"{error} does not name the file")
        else:
            raise WrongAnswer(f"{path.name} was loaded though byte {at} is damaged (kind {kind})")
    path.write_bytes(sound)
    life.reference.check_contents(tamis.Index.load(path))
    return count


def churn(seed: str, folder: Path) -> int:
    """Rules that cut the same values come and go: memory does not grow with their number."""
    draw = Random(seed)
    index = tamis.Index(engine=draw.choice([info.name for info in tamis.engines() if info.exact]))
    reference = Reference("unknown")
    for number in range(5):
        index.add(number, f"n = {number} and m = 1")
        reference.rules[number] = tamis.parse(f"n = {number} and m = 1")
    sizes = []
    for cycle in range(3_000):
        index.add("churn", f"m = {cycle % 7} and n > {cycle % 3}")
        index.remove("churn")
        if cycle in (300, 2_999):
            index.compact()
            sizes.append(index.memory_usage()["total"])
    require(sizes[1] <= sizes[0] * 1.2 + 4096, f"{index.engine}: {sizes[0]} bytes grew to {sizes[1]}")
    reference.check_contents(index)
    for event in (drawing.event(draw) for _ in range(20)):
        reference.check_event(index, event)
    return 3_000


TROUBLES: dict[str, Callable[[str, Path], int]] = {
    trouble.__name__: trouble for trouble in (kills, forks, full_disks, damaged_files, churn)
}


# --- children ---------------------------------------------------------------------------------------


def _exit_after(work: Callable[[], None]) -> None:
    """Run the work in a forked child, which ends without the parent's clean-up."""
    code = 0
    try:
        work()
    except BaseException as error:
        os.write(2, f"in a child: {type(error).__name__}: {error}\n".encode())
        code = 1
    finally:
        os._exit(code)


def _wait_for(child: int, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            require(status == 0, f"{what} ended with {os.waitstatus_to_exitcode(status)}")
            return
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise WrongAnswer(f"{what} hangs")
