"""Console logs of Maelstrom."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.traces.foreign import maelstrom
from tests.traces.foreign.logs import batch_of, check_cuts, refused_at, rows_of, source_of, verdicts

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
    common = {"message": "7", "key": "k"}
    assert rows_of(tmp_path / "a.log", LOG, WORD, ("key",)) == [
        common | {"entity": "n1", "event": "send", "dest": ["n2"], "row": 1},
        common | {"entity": "n2", "event": "deliver", "row": 3},
    ]


def test_a_receipt_names_its_sender_where_no_send_is_logged(tmp_path: Path) -> None:
    [got] = rows_of(tmp_path / "a.log", f"{NEW}:recv {FIRST}\n", WORD)
    assert got["sender"] == "n1"


def test_older_messages_are_maps(tmp_path: Path) -> None:
    assert len(rows_of(tmp_path / "a.log.gz", f"{OLD}:recv {FIRST.partition('Message')[2]}\n", WORD)) == 1


def test_the_order_of_messages_is_judged(tmp_path: Path) -> None:
    lines = [f":send {FIRST}", f":send {SECOND}", f":recv {SECOND}", f":recv {FIRST}"]
    path = tmp_path / "a.log"
    path.write_text("".join(f"{NEW}{line}\n" for line in lines))
    found = verdicts(batch_of(source_of(path, WORD)), "fifo_delivery", "no_creation")
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
    assert refused_at(tmp_path / "a.log", f"{LOG}{NEW}:send {message}\n", WORD) == (code, 4)


def test_cut_logs_are_refused(tmp_path: Path) -> None:
    check_cuts(tmp_path / "a.log", LOG, WORD)
    assert refused_at(tmp_path / "a.log", LOG.encode() + b"\xff\n", WORD) == ("T006", 4)


def test_what_is_recognized() -> None:
    assert maelstrom.recognizes(LOG, "jepsen.log")
    for other in ("", "x\n", "maelstrom.net", '{"execution":"r","entity":"E","event":"send"}\n', "b 1\n"):
        assert not maelstrom.recognizes(other, "jepsen.log")
