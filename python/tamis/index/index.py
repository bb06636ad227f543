"""The index, assembled from its aspects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

from tamis import _native
from tamis.expression import DEFAULT, Limits, Missing
from tamis.index.arguments import is_arrow
from tamis.index.explaining import Explaining
from tamis.index.handle import CLOSED
from tamis.index.inspection import Inspection
from tamis.index.matching import Matching
from tamis.index.ranking import Ranking


class Index(Matching, Ranking, Explaining, Inspection):
    """A collection of rules, each a Boolean expression under an id, that finds the rules an event satisfies.

    Safe to use from many threads, also while other threads add and remove.

    Args:
        engine: An engine's name (see `tamis.engines`), or ``"auto"``.
        missing: What a predicate on a missing attribute is: ``"unknown"`` as in SQL, or ``"false"``
            (closed world), which makes its negation true.
        options: The engine's options.
        limits: What expressions are accepted.

    >>> index = Index()
    >>> index.add("ad-17", "age between 18 and 35 and country in ('US', 'DE')")
    >>> index.match({"age": 24, "country": "US"})
    ['ad-17']
    """

    __slots__ = ()

    def __init__(
        self,
        engine: str = "auto",
        missing: Missing = "unknown",
        options: Mapping[str, bool | int | float | str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Make an empty index."""
        limits = limits or DEFAULT
        self._batches = {}
        self._native = _native.NativeIndex(engine, missing, dict(options or {}), limits.as_tuple())

    @classmethod
    def _wrap(cls, native: _native.NativeIndex) -> Index:
        index = cls.__new__(cls)
        index._batches = {}
        index._native = native
        return index

    def observe(self, events: Any) -> None:
        """Count past events, so that the engine can choose access predicates by how rarely they hold.

        Matches stay the same, only their time changes. Attributes that no rule refers to are not counted, so
        observe after adding a first batch of rules. An engine without such choices ignores the events.

        Args:
            events: Mappings, as `match_many` takes, or Arrow data, as `match_arrow` does.

        Raises:
            EventError: An event has an invalid value; then none of them is counted.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add(1, "country = 'US' and age > 99")
        >>> index.observe([{"country": "US", "age": 31}, {"country": "US", "age": 47}])
        >>> index.match({"country": "US", "age": 100})
        [1]
        """
        if is_arrow(events):
            self._native.observe_arrow(events)
        else:
            self._native.observe(events if isinstance(events, list) else list(events))

    def compact(self) -> None:
        """Merge all segments into one, the form that matches fastest, and return when that is done.

        The engine ``compiled`` stores rules in several segments and merges them in the background. This makes
        one of them now, with the events observed so far, and drops the attributes that no rule uses. Other
        threads can match and update meanwhile. Other engines have no segments: nothing happens.

        >>> from tamis import Index
        >>> index = Index(engine="compiled")
        >>> index.add_many({n: f"a = {n}" for n in range(1000)})
        >>> index.remove(7)
        >>> index.compact()
        >>> index.stats()["segments"], index.stats()["dead"]
        (1, 0)
        """
        self._native.compact()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file; a crash leaves either the old file or the new one."""
        self._native.save(os.fspath(path))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        mmap: bool = True,
        limits: Limits | None = None,
        verify: bool = False,
    ) -> Index:
        """Read an index from a file.

        The file of a ``compiled`` index is mapped, not read: it opens in milliseconds, and processes that
        open the same file share its memory. It may be replaced, also by `save`, but must not be written to in
        place: a file that is cut short while it is mapped ends the process with SIGBUS. Where that cannot be
        ruled out, load it with ``mmap=False``.

        Args:
            path: A file that `save` wrote.
            mmap: False reads the whole file into the memory of this process. Changes of the file then have
                no effect, and the file can be removed from its disk.
            limits: The rules that are accepted, whatever limits the index was saved with. By default those
                of `Limits()`, or the file's where these are smaller. An index that was made with larger
                limits is loaded with the same.
            verify: True takes only settings, ids and texts from the file and builds the index from them,
                which takes as long as `add_many`: a file of unknown origin then answers as its rules say.
                False checks that the file is undamaged and that its structure is sound, but not that it
                belongs to the rules.

        Raises:
            FileError: The file cannot be read, is damaged, is no index, or has a rule above the limits.

        >>> import os, tempfile, tamis
        >>> index = tamis.Index()
        >>> index.add(1, "a = 1")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "rules.tamis")
        ...     index.save(path)
        ...     with tamis.Index.load(path) as loaded:
        ...         print(loaded.match({"a": 1}))
        [1]
        """
        bounds = None if limits is None else limits.as_tuple()
        return cls._wrap(_native.NativeIndex.load(os.fspath(path), bounds, mmap, verify))

    def close(self) -> None:
        """Let go of the index and of its file; every later call raises `ClosedIndex`, except this one.

        Waits for the background thread, which may be building a segment. Calls that other threads have begun
        continue; the file is let go when the last of them returns.

        >>> import tamis
        >>> index = tamis.Index()
        >>> index.close()
        >>> index.match({"a": 1})
        Traceback (most recent call last):
        ...
        tamis.errors.ClosedIndex: the index is closed; load or make it again
        """
        native = self._native
        if native is not CLOSED:
            self._native = CLOSED
            native.stop()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._native is CLOSED

    def __enter__(self) -> Self:
        """Give the index itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the index."""
        self.close()

    @classmethod
    def _from_bytes(cls, data: bytes, limits: tuple[int, int, int, int] | None = None) -> Index:
        return cls._wrap(_native.NativeIndex.from_bytes(data, limits))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the bytes of a file, and the limits: who unpickles trusts the bytes."""
        native = self._native
        return type(self)._from_bytes, (native.to_bytes(), native.settings()[3])

    def __repr__(self) -> str:
        """Give the number of rules and the engine."""
        if self.closed:
            return "Index(closed)"
        return f"Index({len(self)} expressions, engine={self.engine!r})"
