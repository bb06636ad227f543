"""Events that change while they are read: a clear error or the values as read, never a crash."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import tamis
from tamis import Index


class Acting(datetime.tzinfo):
    """A time zone that runs code when tamis asks for its offset."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def utcoffset(self, _time: datetime.datetime | None) -> datetime.timedelta:
        self.act()
        return datetime.timedelta()

    def dst(self, _time: datetime.datetime | None) -> datetime.timedelta | None:
        return None

    def tzname(self, _time: datetime.datetime | None) -> str | None:
        return None


def index() -> Index:
    filled = Index()
    filled.add_many(
        {"time": "t is not null", "last": "z = 1", "nested": "n.t is not null", "list": "any(l) = 1"}
    )
    return filled


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "grows": lambda event: event.update({f"x{n}": n for n in range(100)}),
    "shrinks": lambda event: event.pop("z", None),
    "is emptied": lambda event: event.clear(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_nested", [False, True], ids=["at the top", "nested"])
def test_a_dict_that_changes_its_size_is_refused(change: str, is_nested: bool) -> None:
    event: dict[str, Any] = {"a": 1}
    event["t"] = datetime.datetime(2026, 1, 1, tzinfo=Acting(lambda: CHANGES[change](event)))
    event["z"] = 1
    whole = {"n": event} if is_nested else event
    with pytest.raises(tamis.EventError, match="changed while it was read"):
        index().match(whole)


def test_the_row_is_named_and_the_others_are_not_lost() -> None:
    event: dict[str, Any] = {"z": 1}
    event["t"] = datetime.datetime(2026, 1, 1, tzinfo=Acting(lambda: event.clear()))
    filled = index()
    with pytest.raises(tamis.EventError, match=r"row 1: .*changed") as caught:
        filled.match_many([{"z": 1}, event])
    assert caught.value.row == 1
    assert filled.match({"z": 1}) == ["last"]


def test_values_that_are_replaced_are_read_as_they_are_then() -> None:
    event: dict[str, Any] = {}
    event["t"] = datetime.datetime(2026, 1, 1, tzinfo=Acting(lambda: event.update(z=1)))
    event["z"] = 2
    assert index().match(event) == ["time", "last"]


class Shifting(Mapping[str, object]):
    """A mapping that changes whenever it is asked for a value."""

    def __init__(self) -> None:
        self.values_by_name: dict[str, object] = {"z": 1, "y": 2}

    def __getitem__(self, name: str) -> object:
        self.values_by_name[f"more-{len(self.values_by_name)}"] = 1
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


def test_a_mapping_that_changes_raises_what_python_raises() -> None:
    with pytest.raises(RuntimeError, match="changed size"):
        index().match(Shifting())


def test_a_list_of_events_that_changes_is_read_as_it_is_then() -> None:
    events: list[Any] = []
    events += [{"t": datetime.datetime(2026, 1, 1, tzinfo=Acting(events.clear))}, {"z": 1}, {"z": 1}]
    assert list(index().match_many(events)) == [["time"]]


def test_a_set_or_list_of_values_that_changes() -> None:
    values: list[Any] = [1]
    values += [datetime.datetime(2026, 1, 1, tzinfo=Acting(values.clear)), 2, 3]
    assert index().match({"l": values}) == ["list"]
