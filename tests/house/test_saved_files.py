"""Files that earlier versions wrote: each opens with the content beside it, or is refused by name."""

from __future__ import annotations

import datetime
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import tamis

FILES = sorted((Path(__file__).resolve().parents[2] / "testdata" / "files").glob("*.tamis"))


def expected(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return content


OPENED = [path for path in FILES if "refused" not in expected(path)]
REFUSED = [path for path in FILES if "refused" in expected(path)]


def value(written: Any) -> Any:
    """A value of an event, as testdata/README.md says it is written."""
    match written:
        case {"$date": text}:
            return datetime.date.fromisoformat(text)
        case {"$timestamp": text}:
            return datetime.datetime.fromisoformat(text)
        case dict():
            return {key: value(inner) for key, inner in written.items()}
        case _:
            return written


def name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", OPENED, ids=name)
def test_a_file_of_an_earlier_version_opens_with_its_content(path: Path) -> None:
    content = expected(path)
    index = tamis.Index.load(path)
    assert (index.engine, index.missing) == (content["engine"], content["missing"])
    assert [[id, str(index[id])] for id in index] == content["rules"]
    events = [value(answer["event"]) for answer in content["events"]]
    matches = [answer["matches"] for answer in content["events"]]
    assert [index.match(event) for event in events] == matches
    assert list(index.match_many(events, ordered=True)) == matches
    copy = pickle.loads(pickle.dumps(index))
    assert [copy.match(event) for event in events] == matches


@pytest.mark.parametrize("path", REFUSED, ids=name)
def test_a_draft_of_a_format_is_refused_by_name(path: Path) -> None:
    with pytest.raises(tamis.FileError) as caught:
        tamis.Index.load(path)
    for part in [*expected(path)["refused"], str(path)]:
        assert part in str(caught.value)


def test_every_format_has_a_file() -> None:
    formats = {int.from_bytes(path.read_bytes()[8:12], "little") for path in OPENED}
    # The format version of a new index is the newest; none may be left out.
    written = {
        int.from_bytes(pickle.dumps(tamis.Index(engine=engine)).partition(b"tamis\0ix")[2][:4], "little")
        for engine in ("scan", "compiled")
    }
    assert formats == set(range(1, max(written) + 1)) >= written, "testdata/files lacks a format"


def test_a_format_of_the_future_is_refused_by_number(tmp_path: Path) -> None:
    future = bytearray(OPENED[0].read_bytes())
    future[8:12] = (99).to_bytes(4, "little")
    (tmp_path / "future.tamis").write_bytes(future)
    with pytest.raises(tamis.FileError, match="format version 99; this version of tamis reads 1 to 3"):
        tamis.Index.load(tmp_path / "future.tamis")
