"""What an index reports of its memory, and what a compaction gives back."""

from __future__ import annotations

from pathlib import Path

import pytest

import tamis


@pytest.mark.parametrize("engine", [engine.name for engine in tamis.engines() if engine.name != "auto"])
def test_compiled_regular_expressions_are_counted(engine: str) -> None:
    """A Unicode word class compiles to tens of kilobytes, each time."""
    plain, regexes = (tamis.Index(engine=engine) for _ in range(2))
    plain.add_many({n: f"s = 'word {n}'" for n in range(50)})
    regexes.add_many({n: rf"s rlike '\w+x{n}'" for n in range(50)})
    assert regexes.memory_usage()["engine"] > plain.memory_usage()["engine"] + 50 * 20_000


def test_a_compaction_drops_unused_attributes(tmp_path: Path) -> None:
    """Names leave memory and files with the last rule that refers to them."""
    index = tamis.Index(engine="compiled")
    index.add("kept", "age >= 18")
    fresh = tamis.Index(engine="compiled")
    fresh.add("kept", "age >= 18")
    index.add_many({n: f"an_attribute_that_leaves_{n} = 1" for n in range(3_000)})
    for n in range(3_000):
        index.remove(n)
    for number, one in enumerate((index, fresh)):
        one.compact()
        one.save(tmp_path / str(number))
    assert index.attributes() == {"age"}
    assert index.memory_usage()["total"] < fresh.memory_usage()["total"] + 4_096
    assert (tmp_path / "0").stat().st_size == (tmp_path / "1").stat().st_size
    loaded = tamis.Index.load(tmp_path / "0")
    assert loaded.attributes() == {"age"}
    assert loaded.match({"age": 20}) == ["kept"]


def test_a_dotted_name_is_bounded() -> None:
    """An index stores every prefix of a dotted name, so their number is bounded."""
    tamis.parse(".".join(["part"] * 32) + " = 1")
    with pytest.raises(tamis.ParseError, match="at most 32 parts"):
        tamis.parse(".".join(["part"] * 33) + " = 1")
