"""Which files a trace is: names, directories, globs, partitions, compression, standard input."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from precedes.core.formula import Attribute, AttributeSort
from precedes.traces import Notices, expand, read_table
from precedes.traces.layout.conversion import convert
from tests.traces.reading import batches, json_lines, read_file, told

ROW = {"execution": "x", "entity": "E1", "event": "send", "message": "m"}
TEXT = json_lines([ROW])


def names(*paths: Path | str, notices: Notices | None = None) -> list[str]:
    """The names of the files that paths stand for."""
    return [Path(source.path).name for source in expand(paths, notices)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "b.jsonl",
        "a.csv",
        "sub/c.ndjson.gz",
        "sub/d.parquet",
        "_SUCCESS",
        ".hidden.jsonl",
        "_tmp/e.jsonl",
        "sub/notes.md",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(TEXT)
    return tmp_path


def test_directories(folder: Path) -> None:
    notices = Notices()
    assert names(folder, notices=notices) == ["a.csv", "b.jsonl", "c.ndjson.gz", "d.parquet"]
    assert [notice.text for notice in notices.all()] == [
        f"{folder / 'sub' / 'notes.md'} is no trace by its name or content, and was not read"
    ]


def test_globs_and_order(folder: Path) -> None:
    assert names(str(folder / "*.*l"), folder / "a.csv") == ["b.jsonl", "a.csv"]
    assert names(str(folder / "**" / "*.gz")) == ["c.ndjson.gz"]
    assert names(str(folder / "su*")) == ["c.ndjson.gz", "d.parquet"]
    assert [source.order for source in expand([folder])] == [0, 1, 2, 3]
    odd = folder / "[1].jsonl"
    odd.write_bytes(TEXT)
    assert names(odd) == ["[1].jsonl"]


def test_a_file_named_twice_is_read_once(folder: Path) -> None:
    notices = Notices()
    assert names(folder / "b.jsonl", str(folder / "*.jsonl"), notices=notices) == ["b.jsonl"]
    assert [notice.code for notice in notices.all()] == ["T107"]


def test_what_is_not_there_is_told_at_once(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "x.txt").write_bytes(TEXT)
    wanted = [folder / "no.jsonl", str(folder / "no*"), folder / "empty", folder / "x.txt"]
    problems = told(lambda: expand(wanted))
    assert [problem.code for problem in problems] == ["T001", "T001", "T001", "T002"]
    assert f"`precedes verify - < {folder}/x.txt`" in str(problems[-1].hint)


def test_partitions(tmp_path: Path) -> None:
    for part, entity in (("execution=a%20b", "E1"), ("execution=2", "E2")):
        (tmp_path / part / "day=7").mkdir(parents=True)
        bare = {name: value for name, value in ROW.items() if name != "execution"}
        (tmp_path / part / "day=7" / "p.jsonl").write_bytes(json_lines([bare | {"entity": entity}]))
    notices = Notices()
    tables = [table for source in expand([tmp_path], notices) for table in read_table(source, notices)]
    assert pa.concat_tables(tables)["execution"].to_pylist() == ["2", "a b"]
    assert [notice.text for notice in notices.all()] == ["column `day` is unknown and was ignored"]


@pytest.mark.parametrize(("execution", "fine"), [("1", True), (1, True), ("2", False)])
def test_a_partition_and_a_row_must_agree(tmp_path: Path, execution: object, fine: bool) -> None:
    (tmp_path / "execution=1").mkdir()
    path = tmp_path / "execution=1" / "t.jsonl"
    path.write_bytes(json_lines([ROW | {"execution": execution}]))
    if fine:
        assert read_file(path)["execution"].to_pylist() == ["1"]
    else:
        (problem,) = told(lambda: read_file(path))
        assert (problem.code, problem.row) == ("T018", 1)


AGREEING = [
    ("position=7", "position", [7, 7.0, "7", "7.0"], [8, "seven"]),
    ("time=1.0", "time", [1, 1.0, "1", "1970-01-01T00:00:01Z"], [2, "1970-01-01T00:00:01.5Z"]),
    ("redelivered=1", "redelivered", [True], [False]),
    ("key=7", "key", [7, "7"], ["7.0"]),
    ("seq=3", "seq", [3], [4]),
    ("dest=E2;3", "dest", [["E2", 3], ["E2", "3"]], [["E2"], ["3", "E2"]]),
]


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
@pytest.mark.parametrize(("part", "column", "same", "other"), AGREEING)
def test_a_row_may_write_the_value_of_its_path_in_another_way(
    tmp_path: Path, part: str, column: str, same: list[object], other: list[object], name: str
) -> None:
    carried = (Attribute("position", AttributeSort.NUMBER), Attribute("key", AttributeSort.TEXT))
    (tmp_path / part).mkdir()
    path = tmp_path / part / name

    def found(value: object) -> list[object]:
        row = ROW | {column: value}
        if name == "t.jsonl":
            path.write_bytes(json_lines([row]))
        else:
            pq.write_table(pa.Table.from_pylist([row]), path)
        tables = read_table(expand([path])[0].asked(carried), Notices())
        return [each.drop_columns(["file"]) for each in tables]

    in_parquet = [value for value in same if name == "t.jsonl" or not mixed(value)]
    assert all(found(value) == found(in_parquet[0]) for value in in_parquet)
    for value in other:
        (problem,) = told(lambda value=value: found(value))
        assert (problem.code, problem.row) == ("T012" if value == "seven" else "T018", 1)


def mixed(value: object) -> bool:
    """Whether a value is a list of several types, which a column of Parquet has not."""
    return isinstance(value, list) and len(set(map(type, value))) > 1


def test_a_converted_file_takes_the_same_numbers(tmp_path: Path) -> None:
    (tmp_path / "position=7").mkdir()
    path = tmp_path / "position=7" / "t.jsonl"
    path.write_bytes(json_lines([ROW | {"position": 7.0}]))
    convert([path], tmp_path / "c.parquet", Notices())
    path.write_bytes(json_lines([ROW | {"position": 8}]))
    assert [problem.code for problem in told(lambda: convert([path], tmp_path / "d.parquet", Notices()))] == [
        "T018"
    ]


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "t.parquet"])
@pytest.mark.parametrize("part", ["execution=%FF", "execution=a%C3"])
def test_a_path_whose_values_are_not_utf8_is_refused(tmp_path: Path, part: str, name: str) -> None:
    (tmp_path / part).mkdir()
    path = tmp_path / part / name
    write_row(path)
    assert [problem.code for problem in told(lambda: read_file(path))] == ["T006"]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
@pytest.mark.parametrize("name", [b"\xff.jsonl", b"execution=\xff/t.csv", b"\xff.parquet", b"\xff.txt"])
def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path, name: bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    write_row(path)
    for given in (path, tmp_path):
        (problem,) = told(lambda given=given: expand([given]))
        assert (problem.code, problem.path) == ("T003", str(path))


def test_a_value_that_is_not_read_may_be_anything(tmp_path: Path) -> None:
    for part in ("day=%FF", "execution=%C3%A9"):
        (tmp_path / part).mkdir()
        path = tmp_path / part / "t.jsonl"
        path.write_bytes(json_lines([ROW | ({"execution": "\u00e9"} if part[0] == "e" else {})]))
        assert len(read_file(path)) == 1


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "t.parquet"])
def test_a_path_that_states_two_values_is_refused(tmp_path: Path, name: str) -> None:
    same, other = (tmp_path / "execution=x" / inner / name for inner in ("execution=x", "execution=y"))
    for path in (same, other):
        path.parent.mkdir(parents=True)
        write_row(path)
    assert read_file(same)["execution"].to_pylist() == ["x"]
    assert [problem.code for problem in told(lambda: read_file(other))] == ["T018"]


def write_row(path: Path) -> None:
    """A row without an execution, in the format that the name says."""
    if path.suffix == ".parquet":
        with path.open("wb") as file:
            pq.write_table(pa.Table.from_pylist([{k: v for k, v in ROW.items() if k != "execution"}]), file)
    elif path.suffix == ".csv":
        path.write_text("entity,event,message\nE1,send,m\n")
    else:
        path.write_bytes(json_lines([{k: v for k, v in ROW.items() if k != "execution"}]))


def test_partitions_that_are_no_ids(tmp_path: Path) -> None:
    (tmp_path / "event=crash" / "seq=3").mkdir(parents=True)
    path = tmp_path / "event=crash" / "seq=3" / "t.csv"
    path.write_text("execution,entity\nx,E\n")
    found = read_file(path).to_pylist()[0]
    assert (found["event"], found["seq"]) == (4, 3)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.json.zst", "t.ndjson"])
def test_compression(tmp_path: Path, name: str) -> None:
    pack = {"gz": gzip.compress, "zst": zstandard.compress}.get(name.rpartition(".")[2], bytes)
    # Two members one after the other, as `cat a.gz b.gz` makes them.
    (tmp_path / name).write_bytes(pack(TEXT) + pack(TEXT))
    assert len(read_file(tmp_path / name)) == 2


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.csv.gz", "t.jsonl.zst"])
@pytest.mark.parametrize("part", [0, 5, 0.5, 0.999])
def test_a_compressed_file_that_is_cut_off(tmp_path: Path, name: str, part: float) -> None:
    pack = gzip.compress if name.endswith("gz") else zstandard.compress
    header = b"execution,entity,event,message\n" if ".csv" in name else b""
    lines = (
        b"x,E,send,m%d\n"
        if ".csv" in name
        else b'{"execution":"x","entity":"E","event":"send","message":"%d"}\n'
    )
    data = pack(header + b"".join(lines % k for k in range(2000)))
    (tmp_path / name).write_bytes(data[: int(part * len(data)) if part < 1 else int(part)])
    (problem,) = told(lambda: read_file(tmp_path / name))
    assert (problem.code, problem.path) == ("T004", str(tmp_path / name))


def test_a_file_that_is_not_compressed(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl.gz").write_bytes(TEXT)
    assert [problem.code for problem in told(lambda: read_file(tmp_path / "t.jsonl.gz"))] == ["T004"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(TEXT + b"{}\n")

    monkeypatch.setattr("sys.stdin", Input)
    (problem,) = told(lambda: batches("-"))
    assert (problem.path, problem.row, problem.code) == ("<stdin>", 2, "T011")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(TEXT)
    (tmp_path / "t.jsonl").chmod(0)
    assert [problem.code for problem in told(lambda: read_file(tmp_path / "t.jsonl"))] == ["T003"]


def test_no_rows_are_no_batches(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b"")
    (tmp_path / "t.csv").write_bytes(b"execution,entity,event\n")
    assert batches(tmp_path) == []


@pytest.mark.parametrize(
    ("made", "kind"),
    [("_delta_log/00000000000000000000.json", "Delta Lake"), ("metadata/v1.metadata.json", "Iceberg")],
)
def test_a_table_of_another_system_is_no_folder_of_traces(tmp_path: Path, made: str, kind: str) -> None:
    """Its files also have rows that were deleted or replaced."""
    (tmp_path / made).parent.mkdir()
    (tmp_path / made).touch()
    (tmp_path / "t.jsonl").write_text('{"execution":1,"entity":"A","event":"send","message":"m"}\n')
    (error,) = told(lambda: expand([tmp_path]))
    assert (error.code, error.path) == ("T009", str(tmp_path))
    assert f"a table of {kind}" in error.message
