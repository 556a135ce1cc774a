"""Logs of broadcasts: `b N` and `d S N`, a file for each process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.traces.foreign import broadcast_log
from tests.traces.foreign.logs import (
    check_cuts,
    refused_at,
    rows_of,
    source_of,
    table_of,
)

WORD = "broadcast-log"
LOG = "b 1\nd 2 1\nd 1 1\n"
HOSTS = "1 localhost 11001\n02 localhost 11002\n3 localhost 11003\n"


def test_a_line_is_an_event_of_the_process_in_the_name(tmp_path: Path) -> None:
    assert rows_of(tmp_path / "proc01.output", LOG, WORD) == [
        {"entity": "1", "event": "send", "message": "1:1", "row": 1},
        {"entity": "1", "event": "deliver", "message": "2:1", "sender": "2", "row": 2},
        {"entity": "1", "event": "deliver", "message": "1:1", "sender": "1", "row": 3},
    ]


def test_the_execution_is_the_file_or_the_folder_of_several(tmp_path: Path) -> None:
    path = tmp_path / "1.output"
    path.write_text(LOG)
    for only, name in ((True, "1"), (False, tmp_path.name)):
        table = table_of(replace(source_of(path, WORD), only=only))
        assert set(table.column("execution").to_pylist()) == {name}
    assert set(table_of(source_of(path, WORD, execution="run")).column("execution").to_pylist()) == {"run"}


def test_hosts_beside_the_log_are_the_destinations(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(HOSTS)
    sent, *delivered = rows_of(tmp_path / "1.output", LOG, WORD)
    assert sent["dest"] == ["1", "2", "3"]
    assert all("dest" not in row for row in delivered)


def test_hosts_may_be_elsewhere(tmp_path: Path) -> None:
    hosts = tmp_path / "processes.txt"
    hosts.write_text(HOSTS)
    assert rows_of(tmp_path / "1.output", LOG, WORD, hosts=str(hosts))[0]["dest"] == ["1", "2", "3"]
    assert refused_at(tmp_path / "1.output", LOG, WORD, hosts=str(tmp_path / "none")) == ("T003", None)


@pytest.mark.parametrize("hosts", ["1 localhost\n", "x localhost 1\n", "1 localhost 11001\n\n\nb 1\n"])
def test_a_file_of_hosts_is_read_or_refused(tmp_path: Path, hosts: str) -> None:
    (tmp_path / "hosts").write_text(hosts)
    assert refused_at(tmp_path / "1.output", LOG, WORD)[0] == "T007"


def test_a_process_that_no_host_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(HOSTS)
    assert refused_at(tmp_path / "4.output", LOG, WORD) == ("T018", None)


def test_a_name_without_a_number_needs_the_entity(tmp_path: Path) -> None:
    assert refused_at(tmp_path / "mine.output", LOG, WORD) == ("T011", None)
    found = rows_of(tmp_path / "mine.output", LOG, WORD, entity="7")
    assert found[0] == {"entity": "7", "event": "send", "message": "7:1", "row": 1}


def test_numbers_are_numbers(tmp_path: Path) -> None:
    found = rows_of(tmp_path / "00.output", "b 007\r\nd 02 00\r\n", WORD)
    assert [row["message"] for row in found] == ["0:7", "2:0"]


def test_compressed_logs_are_read(tmp_path: Path) -> None:
    assert len(rows_of(tmp_path / "1.output.gz", LOG, WORD)) == 3


@pytest.mark.parametrize(
    "line",
    ["", "b", "b ", "b x", "b 1 2", "d 1", "d 1 2 3", "d a 1", "b -1", "b  1", " b 1", "b 1 ", "B 1", "b ٣"],
)
def test_other_lines_are_refused(tmp_path: Path, line: str) -> None:
    assert refused_at(tmp_path / "1.output", f"b 1\n{line}\nb 2\n", WORD) == ("T007", 2)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    assert refused_at(tmp_path / "1.output", b"b 1\nd \xff 1\n", WORD) == ("T006", 2)


def test_a_cut_number_is_no_number(tmp_path: Path) -> None:
    check_cuts(tmp_path / "1.output", "b 12\nd 12 345\nd 1 1\n", WORD)
    assert refused_at(tmp_path / "1.output", "b 1\nd 12 34", WORD) == ("T007", 2)


def test_a_process_that_logged_nothing_has_no_rows(tmp_path: Path) -> None:
    assert rows_of(tmp_path / "1.output", "", WORD) == []


def test_what_is_recognized() -> None:
    assert broadcast_log.recognizes(LOG + "d 1", "1.output")
    assert broadcast_log.recognizes("b 1\r\n", "x2")
    assert not broadcast_log.recognizes(LOG, "mine.output")
    for other in (
        "",
        "b 1",
        '{"execution":"r","entity":"E","event":"send"}\n',
        "1 localhost 11001\n",
        "20\n",
        "b 1\nx\n",
    ):
        assert not broadcast_log.recognizes(other, "1.output")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrecedesError):
        table_of(source_of(tmp_path / "1.output", WORD))
