"""Which files a trace is: names, directories, globs, partitions, compression, standard input."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from precedes.traces import Notices, expand, read_table
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
