"""What ingesting gives: good rows, and bad rows with a reason."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Ingested:
    """The rows of an input, parted in two; together they are the input.

    Attributes:
        good: Subscriptions (``id``, ``expression``), or events (``event_id``, and ``event`` or columns).
        bad: The others: ``id`` as text, ``column`` and ``reason``, and the ``row`` as JSON.
        checked: What both are read from, one row for each row of the input. Each of them reads it anew;
            persist it, or use `save`, and it is made once.
    """

    good: DataFrame
    bad: DataFrame
    checked: DataFrame

    def save(self, good: str, bad: str, *, mode: str = "error") -> None:
        """Write both as Parquet, reading and checking the input once.

        Args:
            good: Where the good rows go.
            bad: Where the bad rows go: the quarantine.
            mode: What to do if there is something: ``"error"``, ``"append"``, ``"overwrite"``, ``"ignore"``.
        """
        self.checked.persist()
        try:
            self.good.write.mode(mode).parquet(good)
            self.bad.write.mode(mode).parquet(bad)
        finally:
            self.checked.unpersist()
