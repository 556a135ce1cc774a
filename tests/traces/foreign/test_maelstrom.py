"""Console logs of Maelstrom."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.traces.foreign import maelstrom
from tests.traces.foreign.importing import cut_everywhere, refusal, source, text_rows, verdicts

WORD = "maelstrom"
NEW = "INFO [2024-12-07 12:51:12,778] n1 stdout - maelstrom.net "
OLD = "2023-02-25 21:15:31,337{GMT}\tINFO\t[n1 stdout] maelstrom.net: "
FIRST = (
    '#maelstrom.net.message.Message{:id 7, :src "n1", :dest "n2", :body {:type "echo", :key "k", :msg_id 1}}'
)
SECOND = FIRST.replace(":id 7", ":id 8").replace('"k"', '"say \\"}\\""')
LOG = (
    f"{NEW}:send {FIRST}\nINFO [2024-12-07 12:51:12,779] jepsen node n1 - jepsen.db up\n{OLD}:recv {FIRST}\n"
)


def test_lines_of_the_network_are_events(tmp_path: Path) -> None:
    common = {"execution": tmp_path.name, "message": "7", "key": "k"}
    assert text_rows(WORD, tmp_path, LOG) == [
        common | {"entity": "n1", "event": "send", "dest": ["n2"]},
        common | {"entity": "n2", "event": "deliver"},
    ]


def test_a_receipt_names_its_sender_where_no_send_is_logged(tmp_path: Path) -> None:
    [got] = text_rows(WORD, tmp_path, f"{NEW}:recv {FIRST}\n")
    assert got["sender"] == "n1"


def test_older_messages_are_maps(tmp_path: Path) -> None:
    assert len(text_rows(WORD, tmp_path, f"{OLD}:recv {FIRST.partition('Message')[2]}\n", "a.log.gz")) == 1


def test_the_order_of_messages_is_judged(tmp_path: Path) -> None:
    lines = [f":send {FIRST}", f":send {SECOND}", f":recv {SECOND}", f":recv {FIRST}"]
    path = tmp_path / "a.log"
    path.write_text("".join(f"{NEW}{line}\n" for line in lines))
    found = verdicts([source(WORD, path)], "fifo_delivery", "no_creation")
    assert found == {"fifo_delivery": "violated", "no_creation": "holds"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", "T007"),
        ("7", "T007"),
        ("{} {}", "T007"),
        ("{:id 7", "T007"),
        ('{:id 7, :id 8, :src "a", :dest "b"}', "T008"),
        ('{:src "a", :dest "b"}', "T027"),
        ('{:id -1, :src "a", :dest "b"}', "T027"),
        ('{:id "7", :src "a", :dest "b"}', "T027"),
        ('{:id true, :src "a", :dest "b"}', "T027"),
        ('{:id 7, :dest "b"}', "T012"),
        ('{:id 7, :src "a", :dest [1]}', "T012"),
        ('{:id 7, :src "", :dest "b"}', "T014"),
    ],
)
def test_what_is_no_message_is_refused(tmp_path: Path, message: str, code: str) -> None:
    assert refusal(WORD, tmp_path, f"{LOG}{NEW}:send {message}\n") == (code, 4)


def test_cut_logs_are_refused(tmp_path: Path) -> None:
    cut_everywhere(WORD, tmp_path, LOG)
    assert refusal(WORD, tmp_path, LOG.encode() + b"\xff\n") == ("T006", 4)


def test_what_is_recognized() -> None:
    assert maelstrom.recognizes(LOG, "jepsen.log")
    for other in ("", "x\n", "maelstrom.net", '{"execution":"r","entity":"E","event":"send"}\n', "b 1\n"):
        assert not maelstrom.recognizes(other, "jepsen.log")
