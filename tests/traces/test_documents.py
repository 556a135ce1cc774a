"""A file that is not what its name says is told so, once."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.core.diagnostics import Diagnostic
from precedes.traces import Notices, read_table
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.formats import json_lines as jsonlines
from precedes.traces.sources import source_of
from tests.traces.reading import json_lines, read_file, told

GOOD = {"execution": "x", "entity": "E1", "event": "send", "message": "m"}
LINE = json.dumps(GOOD)


def only(path: Path, data: bytes) -> Diagnostic:
    """The one thing that is told of a file."""
    path.write_bytes(data)
    (problem,) = told(lambda: read_file(path))
    assert problem.path == str(path)
    return problem


@pytest.mark.parametrize(
    ("text", "row", "says", "jq"),
    [
        (
            json.dumps([GOOD, GOOD], indent=2),
            1,
            "one JSON array of 2 values over lines 1 to 14",
            "jq -c '.[]'",
        ),
        (json.dumps([GOOD]), 1, "one JSON array of 1 value, not JSON Lines", "jq -c '.[]'"),
        (f"[\n{LINE},\n{LINE}\n]\n", 1, "one JSON array of 2 values over lines 1 to 4", "jq -c '.[]'"),
        (f"\n\n[\n{LINE}\n]", 3, "over lines 3 to 5", "jq -c '.[]'"),
        (json.dumps({"rows": [GOOD]}, indent=1), 1, "one JSON object over lines 1 to 10", "jq -c '.rows[]'"),
        (json.dumps({"a b": [GOOD]}, indent=1), 1, "one JSON object over lines", "jq -c ."),
        (json.dumps(GOOD, indent=1) * 2, 1, "one JSON object over lines 1 to 6", "jq -c ."),
        (f"{LINE}\n{json.dumps(GOOD, indent=1)}\n", 2, "one JSON object over lines 2 to 7", "jq -c ."),
        (
            '[\n  {\n    "a": 1,\n',
            1,
            "a JSON array begins here that has its end on another line",
            "jq -c '.[]'",
        ),
        ('{\n  "rows": [\n', 1, "a JSON object begins here that has its end on another line", "jq -c ."),
    ],
)
def test_a_document_is_told_once(tmp_path: Path, text: str, row: int, says: str, jq: str) -> None:
    problem = only(tmp_path / "t.json", text.encode())
    assert (problem.code, problem.row) == ("T009", row)
    assert says in problem.message
    assert problem.hint is not None
    assert problem.hint.partition(" does that: ")[2].removesuffix(", if the file is whole") == jq


def test_a_document_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", 50)
    problem = only(tmp_path / "t.json", json.dumps([GOOD] * 9, indent=2).encode())
    assert (problem.code, problem.row) == ("T009", 1)


@pytest.mark.parametrize(
    ("lines", "code", "row"),
    [
        ([LINE, "[1]"], "T007", 2),
        ([LINE, '{"execution":"x","enti'], "T007", 2),
        (['{"execution":"x"'], "T007", 1),
    ],
)
def test_a_broken_row_is_no_document(tmp_path: Path, lines: list[str], code: str, row: int) -> None:
    problem = only(tmp_path / "t.jsonl", json_lines(lines))
    assert (problem.code, problem.row) == (code, row)


def test_commas_between_rows_are_told(tmp_path: Path) -> None:
    problem = only(tmp_path / "t.jsonl", f"{LINE},\n{LINE}\n".encode())
    assert (problem.code, problem.row, problem.hint) == ("T007", 1, "there is no comma between rows")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["t.jsonl", "t.csv"])
def test_another_encoding_is_told_by_its_name(tmp_path: Path, encoding: str, mark: str, name: str) -> None:
    text = f"{mark}execution,entity,event,message\nx,E1,send,m\n" if name == "t.csv" else f"{mark}{LINE}\n"
    problem = only(tmp_path / name, text.encode(encoding))
    shown = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    assert (problem.code, problem.message) == ("T006", f"this file is {shown} text")
    assert problem.hint == f"write it as UTF-8: iconv -f {shown} -t UTF-8"


def test_another_format_is_told_by_its_name(tmp_path: Path) -> None:
    packed = gzip.compress(LINE.encode())
    assert "is gzip, not text" in only(tmp_path / "t.jsonl", packed).message
    assert "is gzip, not text" in only(tmp_path / "t.csv", packed).message
    problem = only(tmp_path / "t.jsonl.gz", LINE.encode())
    assert (problem.code, problem.message) == (
        "T004",
        "the name says gzip, but the first bytes say otherwise",
    )
    assert only(tmp_path / "u.jsonl.zst", packed).code == "T004"
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    problem = only(tmp_path / "p.jsonl", (tmp_path / "t.parquet").read_bytes())
    assert (problem.code, problem.hint) == ("T009", "give it a name that ends in .parquet")
    assert "ZIP" in only(tmp_path / "z.jsonl", b"PK\x03\x04\x14\x00\x00\x00").message


def test_a_header_may_begin_as_an_archive_does(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("PAR1,execution,entity,event,message\n1,x,E1,send,m\n")
    assert read_file(tmp_path / "t.csv")["message"].to_pylist() == ["m"]


@pytest.mark.parametrize("cut", [1, 4, 9, 20])
def test_gzip_that_is_cut_off(tmp_path: Path, cut: int) -> None:
    problem = only(tmp_path / "t.jsonl.gz", gzip.compress(json_lines([GOOD] * 500))[:-cut])
    assert problem.code == "T004"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.jsonl", b""),
        ("t.jsonl", b"\n \n"),
        ("t.csv", b""),
        ("t.csv", b"execution,entity,event,message\n"),
        ("t.jsonl.gz", gzip.compress(b"", mtime=0)),
    ],
)
def test_a_file_without_rows_is_told(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    notices = Notices()
    assert sum(map(len, read_table(str(tmp_path / name), notices))) == 0
    assert [(one.code, one.text) for one in notices.all()] == [("T120", f"{tmp_path / name} has no rows")]


def test_a_file_whose_rows_are_all_ignored_is_not_called_empty(tmp_path: Path) -> None:
    log = '{"op": "publish", "id": 1, "who": "A"}\n'
    mapping = (
        "entity = 'who'\nmessage = 'id'\nothers = 'ignore'\n[[event]]\nis = 'send'\nwhen = {op = 'publsh'}\n"
    )
    (tmp_path / "m.toml").write_text(mapping, encoding="utf-8")
    for name, text in {"a.jsonl": log, "b.jsonl": "", "c.jsonl": log * 2}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    notices = Notices()
    log_reading = LogReading.stated(None, {}, tmp_path / "m.toml")
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        assert sum(map(len, read_table(source_of(str(tmp_path / name), 0, log_reading), notices))) == 0
    assert [(one.code, one.text.removeprefix(f"{tmp_path}/"), one.count) for one in notices.all()] == [
        ("T120", "a.jsonl has no events: all of its rows were ignored", None),
        ("T120", "b.jsonl has no rows", None),
        ("T120", "c.jsonl has no events: all of its rows were ignored", None),
        ("T122", "rows are no event of the mapping and were ignored", 3),
    ]


def test_parquet_without_rows_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: pa.array([], pa.string()) for name in GOOD}), path)
    notices = Notices()
    assert sum(map(len, read_table(str(path), notices))) == 0
    assert [one.code for one in notices.all()] == ["T120"]
