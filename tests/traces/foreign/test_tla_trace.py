"""Traces of PGo and of EWD998, whose clocks name the messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from precedes.traces.foreign import tla_trace
from tests.traces.foreign.logs import (
    PUBLIC,
    batch_of,
    check_cuts,
    refused_at,
    rows_of,
    source_of,
    table_of,
    verdicts,
)

WORD = "tla-trace"


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def section(name: str, clock: dict[str, int], *accesses: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    """A critical section of process `A0`, as PGo logs it."""
    elements = [
        {
            "indices": [index],
            "name": {"name": variable, "prefix": "A", "self": name[1]},
            "tag": tag,
            "value": "1",
        }
        for tag, variable, index in accesses
    ]
    counts = [[[process[0], process[1]], count] for process, count in clock.items()]
    base = {
        "archetypeName": name[0],
        "self": name[1],
        "clock": counts,
        "csElements": elements,
        "isAbort": False,
    }
    return base | {"startTime": "2025-03-14T23:17:08Z", "endTime": "2025-03-14T23:17:09Z"} | more


SENT = section("A0", {"A0": 1}, ("write", "net", "1"), ("read", ".pc", ""))
GOT = section("B1", {"A0": 1, "B1": 1}, ("read", "net", "1"))


def packet(event: str, node: int, clock: dict[str, int], *message: Any) -> dict[str, Any]:
    """An event of EWD998."""
    said = dict(zip(("snd", "rcv", "msg"), message, strict=True)) if message else {}
    return {"event": event, "node": node, "pkt": said | {"vc": clock}}


TOKEN = {"type": "tok", "q": 0}
EWD = (
    {"N": 2},
    packet("<", 1, {"0": 1, "1": 1}, 0, 1, TOKEN),
    packet(">", 0, {"0": 1}, 0, 1, TOKEN),
    packet("d", 1, {"0": 1, "1": 2}),
)


def test_sections_are_local_events_with_clocks(tmp_path: Path) -> None:
    found = rows_of(tmp_path / "a.log", lines(SENT, GOT), WORD)
    assert [(row["entity"], row["event"], row["clock"]) for row in found] == [
        ("A(0)", "local", {"A(0)": 1}),
        ("B(1)", "local", {"A(0)": 1, "B(1)": 1}),
    ]
    assert found[0]["time"] == 1741994229 * 10**9


def test_writes_and_reads_of_the_network_are_messages(tmp_path: Path) -> None:
    sent, got = rows_of(tmp_path / "a.log", lines(SENT, GOT), WORD, net="net")
    assert (sent["event"], sent["message"], sent["dest"]) == ("send", "A(0):1:net[1]", ["group:?"])
    assert (got["event"], got["message"], got["sender"]) == ("deliver", "A(0):1:net[1]", "A(0)")


def test_an_aborted_section_sent_nothing(tmp_path: Path) -> None:
    [found] = rows_of(tmp_path / "a.log", lines(SENT | {"isAbort": True}), WORD, net="net")
    assert found["event"] == "local"


def test_only_the_last_row_of_a_section_has_the_clock(tmp_path: Path) -> None:
    both = section("B1", {"A0": 1, "B1": 1}, ("read", "net", "1"), ("write", "net", "0"))
    got, sent = rows_of(tmp_path / "a.log", lines(both), WORD, net="net")
    assert "clock" not in got
    assert sent["clock"] == {"A(0)": 1, "B(1)": 1}


@pytest.mark.parametrize(
    "clock", [{"B1": 1}, {"A0": 1, "B1": 1, "C2": 1}], ids=["it learns of nobody", "it learns of two"]
)
def test_a_clock_that_names_no_send_is_refused(tmp_path: Path, clock: dict[str, int]) -> None:
    assert refused_at(
        tmp_path / "a.log", lines(section("B1", clock, ("read", "net", "1"))), WORD, net="net"
    ) == (
        "T027",
        1,
    )


def test_two_messages_of_a_section_have_one_clock(tmp_path: Path) -> None:
    twice = section("A0", {"A0": 1}, ("write", "net", "1"), ("write", "net", "1"))
    assert refused_at(tmp_path / "a.log", lines(twice), WORD, net="net") == ("T027", 1)


@pytest.mark.parametrize("field", ["archetypeName", "self", "clock", "csElements", "endTime"])
@pytest.mark.parametrize("value", [None, 7, [7], {"a": 1}, [[7, 8]], True])
def test_wrong_types_are_refused(tmp_path: Path, field: str, value: object) -> None:
    if field == "endTime" and value in (None, 7):
        return
    code, row = refused_at(tmp_path / "a.log", lines(SENT, SENT | {field: value}), WORD, net="net")
    assert (code, row) in {("T012", 2), ("T016", 2)}


def test_clocks_count_their_own_events(tmp_path: Path) -> None:
    assert refused_at(tmp_path / "a.log", lines(section("A0", {"B1": 1})), WORD) == ("T026", 1)
    twice = SENT | {"clock": [[["A", "0"], 1], [["A", "0"], 2]]}
    assert refused_at(tmp_path / "a.log", lines(twice), WORD) == ("T008", 1)


def test_packets_are_messages(tmp_path: Path) -> None:
    got, sent, local = rows_of(tmp_path / "a.log", lines(*EWD), WORD)
    assert (got["entity"], got["seq"], got["message"], got["sender"]) == ("1", 1, "0:1", "0")
    assert (sent["entity"], sent["seq"], sent["message"], sent["dest"]) == ("0", 1, "0:1", ["1"])
    assert (local["event"], local["seq"]) == ("local", 2)
    asked = ("vector_time", "causal_order", "no_creation")
    assert verdicts(batch_of(source_of(tmp_path / "a.log", WORD)), *asked) == dict.fromkeys(asked, "holds")


def test_a_message_that_was_overtaken_is_found(tmp_path: Path) -> None:
    events = (
        {"N": 2},
        packet(">", 0, {"0": 1}, 0, 1, {"type": "pl"}),
        packet(">", 0, {"0": 2}, 0, 1, TOKEN),
        packet("<", 1, {"0": 2, "1": 1}, 0, 1, TOKEN),
        packet("<", 1, {"0": 2, "1": 2}, 0, 1, {"type": "pl"}),
    )
    found = rows_of(tmp_path / "a.log", lines(*events), WORD)
    assert [row["message"] for row in found] == ["0:1", "0:2", "0:2", "0:1"]
    assert verdicts(batch_of(source_of(tmp_path / "a.log", WORD)), "fifo_delivery") == {
        "fifo_delivery": "violated"
    }


def test_what_is_taken_up_again_is_local(tmp_path: Path) -> None:
    again = packet("<", 1, {"0": 1, "1": 3}, 0, 1, TOKEN)
    first = packet("<", 0, {"0": 2}, 0, 0, TOKEN)
    found = rows_of(tmp_path / "a.log", lines(*EWD, again, first), WORD)
    assert [row["event"] for row in found[3:]] == ["local", "local"]


def test_one_of_two_equal_messages_is_not_chosen(tmp_path: Path) -> None:
    more = (
        packet(">", 0, {"0": 2}, 0, 1, TOKEN),
        packet(">", 0, {"0": 3}, 0, 1, {"type": "pl"}),
        packet("<", 1, {"0": 3, "1": 3}, 0, 1, {"type": "pl"}),
        packet("<", 1, {"0": 3, "1": 4}, 0, 1, TOKEN),
    )
    assert refused_at(tmp_path / "a.log", lines(*EWD, *more), WORD) == ("T027", 8)


def test_a_clock_that_names_another_message_is_refused(tmp_path: Path) -> None:
    other = packet("<", 1, {"0": 1, "1": 1}, 0, 1, {"type": "pl"})
    assert refused_at(tmp_path / "a.log", lines(*EWD[:1], other, EWD[2]), WORD) == ("T027", 2)


@pytest.mark.parametrize("field", ["event", "node", "pkt", "snd", "rcv", "vc"])
@pytest.mark.parametrize("value", [None, "x", [1], {"0": "1"}, True])
def test_wrong_types_in_packets_are_refused(tmp_path: Path, field: str, value: object) -> None:
    event = json.loads(json.dumps(EWD[2]))
    (event["pkt"] if field in ("snd", "rcv", "vc") else event)[field] = value
    code, row = refused_at(tmp_path / "a.log", lines(EWD[0], event), WORD)
    assert (code, row) == ("T012", 2)


def test_cut_traces_are_refused(tmp_path: Path) -> None:
    check_cuts(tmp_path / "a.log", lines(*EWD), WORD)
    assert refused_at(tmp_path / "a.log", b"\xff{}\n", WORD) == ("T006", 1)
    assert refused_at(tmp_path / "a.log", "[]\n", WORD) == ("T007", 1)
    assert len(rows_of(tmp_path / "a.ndjson.gz", lines(*EWD), WORD)) == 3
    assert rows_of(tmp_path / "a.log", "", WORD) == []


def test_what_is_recognized() -> None:
    assert tla_trace.recognizes(lines(SENT), "trace-0.log")
    assert tla_trace.recognizes(lines(*EWD), "trace.ndjson")
    for other in (
        "",
        "x",
        "[1]\n",
        '{"execution":"r","entity":"E","event":"send","N":2}\n',
        '{"N":5}\n',
        "[" * 9999,
    ):
        assert not tla_trace.recognizes(other, "trace.ndjson")


def published() -> list[Path]:
    found = sorted((PUBLIC / "pgo-dqueue").glob("*/*"))
    if not found:
        pytest.skip("the published traces are not here")
    return found


def test_the_clocks_of_a_queue_contradict_nothing() -> None:
    """Those of the set that is called bad, too: nothing in its files shows it."""
    for folder in published():
        sources = [source_of(path, WORD, execution="x") for path in sorted(folder.iterdir())]
        assert not batch_of(*sources).contradictions


def test_every_message_of_a_queue_has_its_send() -> None:
    for folder in published():
        paths = sorted(folder.iterdir())
        table = pa.concat_tables(table_of(source_of(path, WORD, execution="x", net="net")) for path in paths)
        events, messages = table["event"].to_pylist(), table["message"].to_pylist()
        sent = {m for event, m in zip(events, messages, strict=True) if event == 0}
        assert {m for event, m in zip(events, messages, strict=True) if event == 1} <= sent
