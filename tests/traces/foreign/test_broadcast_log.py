"""Logs of broadcasts: `b N` and `d S N`, a file for each process."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.traces import Notices
from precedes.traces.foreign import broadcast_log
from tests.traces.foreign.importing import (
    PUBLIC,
    cut_everywhere,
    read,
    refusal,
    rows,
    source,
    text_rows,
    verdicts,
)

WORD = "broadcast-log"
LOG = "b 1\nd 2 1\nd 1 1\n"
HOSTS = "1 localhost 11001\n02 localhost 11002\n3 localhost 11003\n"


def test_a_line_is_an_event_of_the_process_in_the_name(tmp_path: Path) -> None:
    run = tmp_path.name
    assert text_rows(WORD, tmp_path, LOG, "proc01.output") == [
        {"execution": run, "entity": "1", "event": "send", "message": "1:1"},
        {"execution": run, "entity": "1", "event": "deliver", "message": "2:1", "sender": "2"},
        {"execution": run, "entity": "1", "event": "deliver", "message": "1:1", "sender": "1"},
    ]


def test_rows_say_where_they_were_read(tmp_path: Path) -> None:
    path = tmp_path / "1.output"
    path.write_text(LOG)
    assert read([source(WORD, path)]).column("row").to_pylist() == [1, 2, 3]


def test_hosts_beside_the_log_are_the_destinations(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(HOSTS)
    sent, *delivered = text_rows(WORD, tmp_path, LOG, "1.output")
    assert sent["dest"] == ["1", "2", "3"]
    assert all("dest" not in row for row in delivered)


def test_hosts_may_be_elsewhere(tmp_path: Path) -> None:
    hosts = tmp_path / "processes.txt"
    hosts.write_text(HOSTS)
    assert text_rows(WORD, tmp_path, LOG, "1.output", hosts=str(hosts))[0]["dest"] == ["1", "2", "3"]
    assert refusal(WORD, tmp_path, LOG, "1.output", hosts=str(tmp_path / "none")) == ("T003", None)


@pytest.mark.parametrize("hosts", ["1 localhost\n", "x localhost 1\n", "1 localhost 11001\n\n\nb 1\n"])
def test_a_file_of_hosts_is_read_or_refused(tmp_path: Path, hosts: str) -> None:
    (tmp_path / "hosts").write_text(hosts)
    assert refusal(WORD, tmp_path, LOG, "1.output")[0] == "T007"


def test_a_process_that_no_host_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(HOSTS)
    assert refusal(WORD, tmp_path, LOG, "4.output") == ("T018", None)


def test_a_name_without_a_number_needs_the_entity(tmp_path: Path) -> None:
    assert refusal(WORD, tmp_path, LOG, "mine.output") == ("T011", None)
    found = text_rows(WORD, tmp_path, LOG, "mine.output", entity="7", execution="run")
    assert found[0] == {"execution": "run", "entity": "7", "event": "send", "message": "7:1"}


def test_numbers_are_numbers(tmp_path: Path) -> None:
    found = text_rows(WORD, tmp_path, "b 007\r\nd 02 00\r\n", "00.output")
    assert [row["message"] for row in found] == ["0:7", "2:0"]


def test_compressed_logs_are_read(tmp_path: Path) -> None:
    assert len(text_rows(WORD, tmp_path, LOG, "1.output.gz")) == 3


@pytest.mark.parametrize(
    "line",
    ["", "b", "b ", "b x", "b 1 2", "d 1", "d 1 2 3", "d a 1", "b -1", "b  1", " b 1", "b 1 ", "B 1", "b ٣"],
)
def test_other_lines_are_refused(tmp_path: Path, line: str) -> None:
    assert refusal(WORD, tmp_path, f"b 1\n{line}\nb 2\n", "1.output") == ("T007", 2)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    assert refusal(WORD, tmp_path, b"b 1\nd \xff 1\n", "1.output") == ("T006", 2)


def test_a_cut_number_is_no_number(tmp_path: Path) -> None:
    cut_everywhere(WORD, tmp_path, "b 12\nd 12 345\nd 1 1\n", "1.output")
    assert refusal(WORD, tmp_path, "b 1\nd 12 34", "1.output") == ("T007", 2)


def test_a_process_that_logged_nothing_has_no_rows(tmp_path: Path) -> None:
    assert text_rows(WORD, tmp_path, "", "1.output") == []


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


def published(folder: str) -> list[Path]:
    found = sorted((PUBLIC / "broadcast-logs" / folder).glob("*.output"))
    if not found:
        pytest.skip("the published logs are not here")
    return found


def test_five_processes_disagree_on_the_order() -> None:
    sources = [source(WORD, path, k) for k, path in enumerate(published("five-process"))]
    found = verdicts(
        sources, "PO", "fifo_delivery", "order_equivalent", "causal_order", "no_creation", "no_duplication"
    )
    assert found == {
        "PO": "holds",
        "fifo_delivery": "holds",
        "order_equivalent": "violated",
        "causal_order": "violated",
        "no_creation": "holds",
        "no_duplication": "holds",
    }


def test_ten_processes_are_causal_and_incomplete() -> None:
    sources = [source(WORD, path, k) for k, path in enumerate(published("ten-process"))]
    found = verdicts(
        sources, "fifo_delivery", "causal_order", "order_equivalent", "information_preserving", "PO"
    )
    assert found == {
        "fifo_delivery": "holds",
        "causal_order": "holds",
        "order_equivalent": "violated",
        "information_preserving": "violated",
        "PO": "violated",
    }


def test_half_a_million_events_are_read() -> None:
    paths = published("three-process")
    assert sum(len(read([source(WORD, path)], Notices())) for path in paths) == 449_064


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrecedesError):
        rows(WORD, tmp_path / "1.output")
