"""The result of ingesting a table: good rows, and bad rows with a reason."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from tamis.files.overlap import refuse_overlap
from tamis.spark.store.outputs import check_output_of_tables


@dataclass(frozen=True)
class Ingested:
    """The rows of an input, divided into good and bad ones.

    Attributes:
        good: Rules (``id``, ``expression``), or events (``event_id``, and ``event`` or columns).
        bad: The other rows: ``id`` as text, ``column`` and ``reason``, and the ``row`` as JSON.
        checked: The table that both filter, one row per row of the input. Without `persist` or `save` it is
            computed once for each of them.
    """

    good: DataFrame
    bad: DataFrame
    checked: DataFrame

    def save(self, good: str, bad: str, *, mode: str = "error") -> None:
        """Write both as Parquet, computing `checked` once.

        Args:
            good: The folder for good rows.
            bad: The folder for bad rows: the quarantine.
            mode: What to do if a folder exists: ``"error"``, ``"append"``, ``"overwrite"``, ``"ignore"``.

        Raises:
            FileError: The folders overlap, or one contains the files of the input.
        """
        refuse_overlap(bad, [], [good])
        for folder in (good, bad):
            check_output_of_tables(folder, self.checked)
        self.checked.persist()
        try:
            self.good.write.mode(mode).parquet(good)
            self.bad.write.mode(mode).parquet(bad)
        finally:
            self.checked.unpersist()
