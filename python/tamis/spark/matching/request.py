"""The arguments that `match`, `match_files`, `match_stream` and `explain` share, checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tamis.spark.matching.task import Output

_MAX_TOP_K = 2**31 - 1


@dataclass(frozen=True)
class MatchRequest:
    """The arguments of `match`; see there."""

    event_id_col: str = "event_id"
    attr_cols: Iterable[str] | None = None
    json_col: str | None = None
    map_col: str | None = None
    top_k: int | None = None
    weights_col: str | None = None
    groups: int = 1
    output: Output = "rows"

    def __post_init__(self) -> None:
        """Reject arguments that are wrong for every table."""
        if self.output not in ("rows", "array"):
            raise ValueError(f"output is {self.output!r}, must be 'rows' or 'array'")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k is {self.top_k}, must be at least 1")
        if self.top_k is not None and self.top_k > _MAX_TOP_K:
            raise ValueError(
                f"top_k is {self.top_k}, must be at most {_MAX_TOP_K}, the longest array of Spark"
            )
        if self.weights_col is not None and self.top_k is None:
            raise ValueError("weights_col has no effect without top_k")
        if self.groups < 1:
            raise ValueError(f"groups is {self.groups}, must be at least 1")
        if self.event_id_col in ("id", "score", "ids", "scores"):
            raise ValueError(
                f"event_id_col is {self.event_id_col!r}, which is a column of the matches as well; rename it"
            )

    @property
    def task_output(self) -> Output:
        """What tasks emit: arrays if the results of several groups must be merged per event."""
        return "array" if self.groups > 1 and self.top_k is not None else self.output
