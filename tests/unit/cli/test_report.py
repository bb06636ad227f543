"""The report of a pipeline run: well-formed pages, and charts to scale."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from tamis.spark.report import Attribute, Batch, Run, Shard, Step, bins_of, write_page
from tamis.spark.report.charts import WIDTH, BarRow, bars, histogram, log_bars, nice_ceiling

SVG = "{http://www.w3.org/2000/svg}"


def some_run(matched: dict[int, int]) -> Run:
    return Run(
        title="a <run> & more",
        settings={"seed": "1"},
        steps=(Step("build", "4 < 5", 10, "rows", 2.0), Step("check", "nothing", 0, "rows", 0.0)),
        matched=matched,
        attributes=(Attribute('"odd" <name>', 0.5, 0.25, None), Attribute("b", 0.0, 0.0, 0.125)),
        shards=(Shard("shard 0", 7, 2_000_000),),
        batches=(Batch(0, "v1", 7, 3, 0),),
        checks=("checked & equal",),
    )


@pytest.mark.parametrize("matched", [{}, {0: 1}, {0: 3, 2: 40, 500: 1}])
def test_a_page_is_well_formed_and_has_all_pictures(tmp_path: Path, matched: dict[int, int]) -> None:
    write_page(some_run(matched), tmp_path / "page.html")
    page = ET.parse(tmp_path / "page.html")
    pictures = page.findall(f".//{SVG}svg")
    assert [picture.findtext(f"{SVG}title") for picture in pictures] == [
        "Throughput of each step",
        "Matches per event",
        "The most frequent attributes",
        "Balance of shards",
    ]
    texts = " ".join(page.getroot().itertext())
    for shown in ("a <run> & more", "4 < 5", '"odd" <name>', "checked & equal", "12.5%"):
        assert shown in texts


def test_bins_keep_every_event() -> None:
    for last in (0, 1, 23, 24, 25, 1000):
        matched = {number: number + 1 for number in range(last + 1)}
        bins = bins_of(matched)
        assert len(bins) <= 24
        assert sum(events for _, _, events in bins) == sum(matched.values())
        assert bins[0][0] == 0 and bins[-1][0] <= last <= bins[-1][1]
        assert all(left[1] + 1 == right[0] for left, right in pairwise(bins))


def boxes(picture: str) -> list[dict[str, float]]:
    """The coloured rectangles of a picture."""
    found = ET.fromstring(picture).findall(f".//{SVG}rect")
    return [
        {name: float(box.attrib[name]) for name in ("x", "y", "width", "height")}
        for box in found
        if box.attrib["fill"] != "#ffffff"
    ]


def test_bars_are_as_long_as_their_values() -> None:
    rows = [
        BarRow("a", ((10.0, "10"),)),
        BarRow("b", ((5.0, "5"),)),
        BarRow("c", (None,)),
        BarRow("d", ((0.0, "0"),)),
    ]
    first, second, third = boxes(bars("t", "s", rows))
    assert second["width"] * 2 == pytest.approx(first["width"])
    assert third["width"] == 1.0
    assert first["y"] + first["height"] <= second["y"]
    powers = boxes(log_bars("t", "s", [BarRow(str(n), ((10.0**n, ""),)) for n in (1, 2, 3)]))
    assert powers[2]["width"] == pytest.approx(2 * powers[1]["width"])
    assert all(box["x"] + box["width"] < WIDTH for box in powers)
    assert boxes(log_bars("t", "s", [])) == []


def test_columns_are_as_high_as_their_counts() -> None:
    low, none, high = boxes(histogram("t", "s", [(0, 1, 10), (2, 3, 0), (4, 5, 40)], "x"))
    assert high["height"] == pytest.approx(4 * low["height"]) and none["height"] == 0
    assert low["y"] + low["height"] == pytest.approx(high["y"] + high["height"])
    assert low["x"] + low["width"] < none["x"]
    assert [nice_ceiling(value) for value in (0, 4, 5, 99, 101)] == [4.0, 4.0, 6.0, 120.0, 120.0]
