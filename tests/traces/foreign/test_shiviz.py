"""Logs of ShiViz and GoVector: vector clocks, and what the user says of events."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.transposition import execution_of
from precedes.traces import write_executions
from precedes.traces.foreign import shiviz
from tests.command.running import precedes
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

WORD = "shiviz"
LOG = """\
alice {"alice":1}
send m1 to bob
bob {"bob":1, "alice":1}
recv m1
bob {"bob":2, "alice":1}
think
"""
SAYS = {"send": r"^send (?<message>\w+) to (?<dest>.*)", "deliver": r"^recv (?<message>\w+)"}
AKKA = r"\[\w+\] \[(?<date>([^ ]+ [^ ]+))\] [^ ]+ \[akka://Broadcast/user/(?<host>\w+)\] (?<clock>.*\}) (?<event>.*)"
RELIABLE = {
    "regex": AKKA,
    "skip": "dead letters",
    "time": "%m/%d/%Y %H:%M:%S.%f",
    "send": r"^Initiating RBBroadcast\((?<message>\w+\(.*\))\)",
    "deliver": r"^RBDeliver of message (?<message>\w+\(.*\))",
    "crash": "^Crashing",
    "dest": "*",
}


def test_events_are_local_unless_the_user_says_more(tmp_path: Path) -> None:
    assert rows_of(tmp_path / "a.log", LOG, WORD) == [
        {"entity": "alice", "seq": 1, "event": "local", "clock": {"alice": 1}, "row": 1},
        {"entity": "bob", "seq": 1, "event": "local", "clock": {"alice": 1, "bob": 1}, "row": 3},
        {"entity": "bob", "seq": 2, "event": "local", "clock": {"alice": 1, "bob": 2}, "row": 5},
    ]


def test_regular_expressions_say_what_events_are(tmp_path: Path) -> None:
    sent, delivered, local = rows_of(tmp_path / "a.log", LOG, WORD, **SAYS)
    assert (sent["event"], sent["message"], sent["dest"]) == ("send", "m1", ["bob"])
    assert (delivered["event"], delivered["message"]) == ("deliver", "m1")
    assert "sender" not in delivered
    assert local["event"] == "local"


def test_vector_time_can_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(LOG)
    asked = source_of(path, WORD, **SAYS)
    assert verdicts(batch_of(asked), "vector_time", "causal_order") == {
        "vector_time": "holds",
        "causal_order": "holds",
    }
    path.write_text(LOG.replace('{"bob":1, "alice":1}', '{"bob":1}'))
    assert verdicts(batch_of(asked), "vector_time") != {"vector_time": "holds"}


def test_what_nobody_said_is_unknown(tmp_path: Path) -> None:
    says = {"send": r"^send (?<message>\w+)", "deliver": r"^recv (?<message>\w+)"}
    assert rows_of(tmp_path / "a.log", LOG, WORD, **says)[0]["dest"] == ["group:?"]
    assert rows_of(tmp_path / "a.log", LOG, WORD, deliver=says["deliver"])[1]["sender"] == "?"
    assert "dest" not in rows_of(tmp_path / "a.log", LOG, WORD, **says, dest="*")[0]
    assert rows_of(tmp_path / "a.log", LOG, WORD, **says, dest="bob;carol")[0]["dest"] == ["bob", "carol"]
    named = r"^recv (?<message>\w)(?<sender>\d)"
    assert rows_of(tmp_path / "a.log", LOG, WORD, deliver=named)[1]["sender"] == "1"


def test_the_event_may_come_first(tmp_path: Path) -> None:
    turned = 'send m1 to bob\nalice {"alice":1}\nrecv {m1}\nbob {"bob":1, "alice":1}\n'
    assert [row["entity"] for row in rows_of(tmp_path / "a.log", turned, WORD)] == ["alice", "bob"]


def test_rows_need_not_be_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(f'a {{"a":{k}}}\nsend m{k} to b\n' for k in (2, 1)) + 'b {"b":1}\nx\n')
    batch = batch_of(source_of(path, WORD, send=SAYS["send"]))
    assert verdicts(batch, "no_duplication")["no_duplication"] == "holds"
    assert execution_of(batch, 0).history("a").messages(EventKind.SEND) == ("m1", "m2")


def executions(path: Path, text: str, **settings: str) -> list[str]:
    """The execution of each row of a text."""
    path.write_text(text, encoding="utf-8")
    return [str(name) for name in table_of(source_of(path, WORD, **settings)).column("execution").to_pylist()]


def test_a_log_may_begin_with_its_expressions(tmp_path: Path) -> None:
    header = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)" + "\n^===$\n"
    found = executions(tmp_path / "a.log", header + LOG + "===\n" + LOG)
    assert found == ["a"] * 3 + ["a 1"] * 3
    assert shiviz.recognizes(header + LOG, "x.log")
    assert refused_at(tmp_path / "a.log", header + "x\n", WORD) == ("T007", 3)


def test_executions_are_delimited_and_named(tmp_path: Path) -> None:
    one = 'a {"a":1}\nx\n'
    text = f"{one}=== second ===\n{one}=== third ===\n{one}"
    path = tmp_path / "a.log"
    assert executions(path, text, delimiter="^=== (?<trace>.*) ===$") == ["a", "second", "third"]
    assert executions(path, text, delimiter="^=== .* ===$", execution="run") == ["run", "run 1", "run 2"]
    twice = text.replace("third", "second")
    assert refused_at(tmp_path / "a.log", twice, WORD, delimiter="^=== (?<trace>.*) ===$")[0] == "T008"


def test_times_are_read_as_the_user_says(tmp_path: Path) -> None:
    text = '17 a {"a":1} x\n'
    regex = r"(?<timestamp>\d+) (?<host>\w+) (?<clock>{.*}) (?<event>.*)"
    assert "time" not in rows_of(tmp_path / "a.log", text, WORD, regex=regex)[0]
    assert rows_of(tmp_path / "a.log", text, WORD, regex=regex, time="ms")[0]["time"] == 17_000_000
    assert rows_of(tmp_path / "a.log", text, WORD, regex=regex, time="%H")[0]["time"] < 0
    assert refused_at(tmp_path / "a.log", text, WORD, regex=regex, time="%d/%m") == ("T016", 1)


def test_other_groups_are_columns_if_they_are_declared(tmp_path: Path) -> None:
    regex = r"(?<host>\w+) (?<clock>{.*}) (?<key>\w+) (?<event>.*)"
    found = rows_of(
        tmp_path / "a.log", 'a {"a":1} k1 send m to b\n', WORD, ("key",), regex=regex, send=SAYS["send"]
    )
    assert found[0]["key"] == "k1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a {"a":1}\n', ("T007", 1)),
        ('a {"a":1}\nx\nwhat is this\n', ("T007", 3)),
        ('a {"a":1}\nx\nb {"b":1\ny\n', ("T007", 3)),
        ('a {"a":1}\nx\nb {b:1}\ny\n', ("T007", 3)),
        ('a {"a":1}\nx\na {"b":1}\ny\n', ("T026", 3)),
        ('a {"a":0}\nx\n', ("T026", 1)),
        ('a {"a":true}\nx\n', ("T026", 1)),
        ('a {"a":1.0}\nx\n', ("T026", 1)),
        ('a {"a":1,"b":"2"}\nx\n', ("T012", 1)),
        ('a {"a":1,"b":-2}\nx\n', ("T015", 1)),
        ('a {"a":1,"a":2}\nx\n', ("T008", 1)),
        ('a {"a":1,"b":NaN}\nx\n', ("T007", 1)),
        ('a {"a":1}\nx', ("T007", 2)),
        (b'a {"a":1}\n\xff\n', ("T006", 2)),
    ],
)
def test_what_is_no_such_log_is_refused(tmp_path: Path, text: str | bytes, expected: tuple[str, int]) -> None:
    assert refused_at(tmp_path / "a.log", text, WORD) == expected


def test_a_clock_that_is_no_object_is_refused(tmp_path: Path) -> None:
    assert refused_at(
        tmp_path / "a.log", "a [1] x\n", WORD, regex=r"(?<host>\w) (?<clock>\[.*\]) (?<event>.*)"
    ) == (
        "T012",
        1,
    )


@pytest.mark.parametrize("setting", ["regex", "send", "deliver", "ack"])
def test_regular_expressions_need_their_groups(tmp_path: Path, setting: str) -> None:
    assert refused_at(tmp_path / "a.log", LOG, WORD, **{setting: "x"}) == ("U001", None)
    assert refused_at(tmp_path / "a.log", LOG, WORD, **{setting: "("}) == ("U001", None)


def test_an_event_is_one_thing(tmp_path: Path) -> None:
    assert refused_at(tmp_path / "a.log", LOG, WORD, crash="m1", recover="recv") == ("T013", 3)


def test_cut_logs_are_refused(tmp_path: Path) -> None:
    check_cuts(tmp_path / "a.log", LOG, WORD)
    assert len(rows_of(tmp_path / "a.log.gz", LOG.replace("\n", "\r\n"), WORD)) == 3


def test_what_is_recognized() -> None:
    assert shiviz.recognizes(LOG, "x-Log.txt")
    assert shiviz.recognizes('hello\nalice {"alice":1}\n', "x.log")
    for other in (
        "",
        "x",
        '{"execution":"r","entity":"E"}\n{"execution":"r"}\n',
        "b 1\nd 1 1\n",
        'a {"b":1}\nx\n',
    ):
        assert not shiviz.recognizes(other, "x.log")
    assert not shiviz.recognizes(LOG, "x.jsonl")


def published(name: str) -> Path:
    path = PUBLIC / "shiviz" / name
    if not path.exists():
        pytest.skip("the published logs are not here")
    return path


def test_reliable_broadcast_violates_order_equivalence() -> None:
    batch = batch_of(source_of(published("reliable-broadcast.log"), WORD, **RELIABLE))
    execution = execution_of(batch, 0)
    delivered = {
        each.entity: "".join(m[len("DataMessage(")] for m in each.messages(EventKind.DELIVER))
        for each in execution.histories
    }
    assert sorted(delivered.values()) == ["", "132", "213", "213"]
    assert [each.entity for each in execution.histories if each.crashed] == ["node1"]
    found = verdicts(batch, "order_equivalent", "no_creation", "agreement")
    assert found == {"order_equivalent": "violated", "no_creation": "holds", "agreement": "holds"}


def test_the_logs_of_shiviz_are_read() -> None:
    assert len(table_of(source_of(published("chord.log"), WORD))) == 1235
    assert len(table_of(source_of(published("simple-reliable-broadcast.log"), WORD, regex=AKKA))) > 30


def written() -> Execution:
    sent = Message("m 1", "a", frozenset({"b", "c, d"}))
    return Execution(
        "run",
        (
            History("a", (Event(EventKind.SEND, "m 1"), Event(EventKind.CRASH))),
            History(
                "b",
                (Event(EventKind.LOCAL), Event(EventKind.DELIVER, "m 1"), Event(EventKind.DELIVER, "m 1")),
            ),
            History("c, d", ()),
        ),
        {"m 1": sent},
    )


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    text = shiviz.written(written())
    assert text.startswith('a {"a":1}\nsend m%201 to b c%2C%20d\n')
    says = {"regex": shiviz.REGEX, "send": shiviz.SENDS, "deliver": shiviz.DELIVERIES, "crash": "^crash$"}
    found = rows_of(tmp_path / "a.log", text, WORD, **says)
    assert [(row["entity"], row["event"], row.get("message")) for row in found] == [
        ("a", "send", "m%201"),
        ("a", "crash", None),
        ("b", "local", None),
        ("b", "deliver", "m%201"),
        ("b", "deliver", "m%201"),
    ]
    assert [row["clock"] for row in found if row["entity"] == "b"] == [
        {"b": 1},
        {"a": 1, "b": 2},
        {"a": 1, "b": 3},
    ]


def test_a_trace_is_converted_for_shiviz_and_read_again(tmp_path: Path) -> None:
    trace, log = tmp_path / "t.jsonl", tmp_path / "t.shiviz"
    other = replace(written(), name="another run")
    write_executions([written(), other], trace)
    ended = precedes("convert", trace, "-o", log)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, f"{log}: 10 events")
    text = log.read_text(encoding="utf-8")
    assert text.startswith(f"{shiviz.REGEX}\n{shiviz.BETWEEN}\n=== another run ===\n")
    says = {"send": shiviz.SENDS, "deliver": shiviz.DELIVERIES, "crash": "^crash$"}
    found = rows_of(tmp_path / "a.log", text, WORD, **says)
    events = ["send", "crash", "local", "deliver", "deliver"]
    assert [row["event"] for row in found] == [*events, *events]


def test_events_in_a_circle_have_no_clocks() -> None:
    sent = {name: Message(name, sender, frozenset({"a", "b"})) for name, sender in (("p", "a"), ("q", "b"))}
    histories = (
        History("a", (Event(EventKind.DELIVER, "q"), Event(EventKind.SEND, "p"))),
        History("b", (Event(EventKind.DELIVER, "p"), Event(EventKind.SEND, "q"))),
    )
    with pytest.raises(PrecedesError):
        shiviz.written(replace(written(), histories=histories, messages=sent))
