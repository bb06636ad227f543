"""An index survives files, pickles and copies."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from tests.unit.index.filled import index_of

import tamis
from tamis import Index, attr


@pytest.mark.parametrize("through", ["file", "pickle", "copy", "deepcopy"])
@pytest.mark.filterwarnings("ignore::tamis.NeverMatchesWarning")
def test_an_index_survives(through: str, tmp_path: Path) -> None:
    index = Index(missing="false", limits=tamis.Limits(max_depth=50))
    index.add_many({"x": "a > 1 ^ 0.5", 7: "TRUE", "never": "FALSE", "é": r"t like '%\_''%'"})
    index.remove("x")
    index.add("x", attr("n").any() == 3)
    match through:
        case "file":
            index.save(tmp_path / "index.tamis")
            again = Index.load(str(tmp_path / "index.tamis"))
            assert [path.name for path in tmp_path.iterdir()] == ["index.tamis"]
        case "pickle":
            again = pickle.loads(pickle.dumps(index))
        case "copy":
            again = copy.copy(index)
        case _:
            again = copy.deepcopy(index)
    assert list(again) == list(index) == [7, "never", "é", "x"]
    assert [again[id] for id in again] == [index[id] for id in index]
    assert (again.missing, again.limits, again.engine) == (index.missing, index.limits, index.engine)
    event = {"n": [1, 3], "t": "a_'b"}
    assert again.match(event) == index.match(event) == [7, "é", "x"]
    again.add("new", "a")
    assert "new" not in index


def test_save_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "index.tamis"
    index_of(x="a > 1").save(path)
    index_of(y="a > 1").save(path)
    assert list(Index.load(path)) == ["y"]
