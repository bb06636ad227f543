"""Output that would destroy input is refused, however the two are written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

import tamis
from tamis.files.overlap import refuse_overlap

COMMAND = [sys.executable, "-m", "tamis.cli"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table of events, links to it, and names that look like URIs or wildcards."""
    monkeypatch.chdir(tmp_path)
    for name in ("events/day=1", "other", "a b", "a%20b", "odd?", "oddly"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "events/day=1/x.parquet").touch()
    (tmp_path / "link").symlink_to("events")
    (tmp_path / "link to link").symlink_to("link")
    (tmp_path / "dangling").symlink_to("matches")
    return tmp_path


OVERLAPS = [
    ("events", "events", "is"),
    ("events/", "./events", "is"),
    ("other/../events", "events//", "is"),
    ("{folder}/events", "events", "is"),
    ("file:{folder}/events", "events", "is"),
    ("file://{folder}/events/", "events", "is"),
    ("FILE://localhost{folder}/events", "events", "is"),
    (".", "events", "contains"),
    ("..", "events", "contains"),
    ("/", "events", "contains"),
    ("events", "events/day=1/x.parquet", "contains"),
    ("events/out", "events", "lies inside"),
    ("events/day=1/x.parquet", "events", "lies inside"),
    # Links, in each of the two, and a link to what does not exist yet.
    ("link", "events", "is"),
    ("events", "link to link", "is"),
    ("link/out", "events", "lies inside"),
    ("matches", "dangling", "is"),
    # Percent-encoding: decoded in URIs; a plain path is literal.
    ("file://{folder}/a%20b", "a b", "is"),
    ("a%20b", "file://{folder}/a%2520b", "is"),
    ("events", "file://{folder}/%65vents", "is"),
    # Wildcards: what stands before the first one. A file of that very name is no wildcard.
    ("events", "events/*.parquet", "contains"),
    ("events/out", "events/day=*", None),
    ("events/day=2", "events/day=*", "lies inside"),
    ("events/day=1", "event?/day=1", "lies inside"),
    (".", "ev*", "contains"),
    ("oddly", "odd?", None),
    ("odd?/out", "odd?", "lies inside"),
    ("odd?/out", "odd?/new", None),
    ("odd?/new", "odd?/n*", "lies inside"),
    # Beside each other.
    ("matches", "events", None),
    ("events2", "events", None),
    ("event", "events", None),
    ("a b", "a%20b", None),
    ("other", "link", None),
    # Other storage: scheme and host in any case, and the schemes of one storage.
    ("s3a://bucket/a", "s3://bucket/a", "is"),
    ("S3N://Bucket/a/", "s3://bucket//a/./b/..", "is"),
    ("s3://bucket", "s3://bucket/a", "contains"),
    ("s3://bucket/a/b", "s3a://bucket/a", "lies inside"),
    ("s3://bucket/a", "s3://bucket/a?region=eu-west-1", "is"),
    ("s3://bucket/a%20b", "s3://bucket/a b", "is"),
    ("s3://bucket/a/x", "s3://bucket/a/*.json", "lies inside"),
    ("s3://bucket/A", "s3://bucket/a", None),
    ("s3://bucket/ab", "s3://bucket/a", None),
    ("s3://other/a", "s3://bucket/a", None),
    ("gs://bucket/a", "s3://bucket/a", None),
    ("abfs://box@here/a", "abfss://box@here/a", "is"),
    ("hdfs://Name:8020/a", "hdfs://name/a/b", "contains"),
    ("hdfs:///a", "hdfs://name/a", "is"),
    ("{folder}", "s3://bucket{folder}", None),
]


@pytest.mark.parametrize(("out", "read", "relation"), OVERLAPS)
def test_places(folder: Path, out: str, read: str, relation: str | None) -> None:
    out, read = out.replace("{folder}", str(folder)), read.replace("{folder}", str(folder))
    if relation is None:
        refuse_overlap(out, [read])
        return
    with pytest.raises(tamis.FileError) as caught:
        refuse_overlap(out, ["gs://elsewhere", read])
    said = str(caught.value)
    assert said.startswith(f"the output {out} {relation} the input {read}: ")
    assert "Nothing was changed; name an output that is neither" in said


def test_links_inside_the_input(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out/x.parquet").touch()
    (folder / "shared").mkdir()
    (folder / "shared/x.parquet").symlink_to(folder / "out/x.parquet")
    refuse_overlap("out", ["events"])
    (folder / "events/day=2").symlink_to(folder / "shared")
    # A loop ends.
    (folder / "shared/loop").symlink_to(folder / "events")
    with pytest.raises(tamis.FileError, match=r"the output out overlaps .*x\.parquet, to which a link leads"):
        refuse_overlap("out", ["events"])


def test_links_beside_what_wildcards_stand_for(folder: Path) -> None:
    """A link to the latest output in the folder of the events."""
    (folder / "out").mkdir()
    (folder / "latest").symlink_to("out")
    refuse_overlap("out", ["eve*"])
    with pytest.raises(tamis.FileError, match="to which a link leads from the input la"):
        refuse_overlap("out", ["la*"])


def test_names_of_one_file(folder: Path) -> None:
    """A hard link has another path and the same content."""
    (folder / "rules.txt").write_text("a\n")
    (folder / "rules.dot").hardlink_to(folder / "rules.txt")
    with pytest.raises(tamis.FileError, match=r"the output rules\.dot is the input rules\.txt"):
        refuse_overlap("rules.dot", ["rules.txt"])


def test_a_percent_sign_is_read_both_ways(folder: Path) -> None:
    """pyarrow decodes a URI, Spark does not: both places are the input."""
    for out in ("a b", "a%20b"):
        with pytest.raises(tamis.FileError):
            refuse_overlap(out, [f"file://{quote(str(folder))}/a%20b"])


def test_a_drawing_does_not_replace_its_rules(folder: Path) -> None:
    (folder / "rules.dot").write_text("a > 1\n")
    (folder / "alias.dot").symlink_to("rules.dot")
    for output in ("rules.dot", "alias.dot"):
        arguments = ["draw", "rules.dot", "--rules-format", "text", "--output", output]
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"the output {output} is the input rules.dot: " in done.stderr
    assert (folder / "rules.dot").read_text() == "a > 1\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["match", "rules.txt", "events.jsonl"], "events.jsonl"),
        (["match", "rules.txt", "-"], "standard input"),
        (["explain", "rules.txt", "events.jsonl", "--id", "1"], "events.jsonl"),
    ],
)
def test_output_appended_to_the_events(folder: Path, arguments: list[str], named: str) -> None:
    """Without the check, the command would read what it writes, and never end."""
    (folder / "rules.txt").write_text("a > 1\n")
    events = folder / "events.jsonl"
    events.write_text('{"a": 2}\n')
    with events.open("a") as out, events.open() as standard_input:
        done = subprocess.run(
            [*COMMAND, *arguments], stdin=standard_input, stdout=out, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == (
        f"tamis: error: {named} is input and output of this command; write the output elsewhere\n"
    )
    assert events.read_text() == '{"a": 2}\n'
