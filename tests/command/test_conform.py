"""`precedes conform`: exit codes and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import precedes
from precedes.core.diagnostics import PrecedesError
from tests.command.running import precedes as run

ROWS = [
    {"execution": "x", "entity": "E1", "event": "send", "message": "m", "dest": ["E3"]},
    {"execution": "x", "entity": "E1", "event": "send", "message": "n", "dest": ["E2"]},
    {"execution": "x", "entity": "E2", "event": "deliver", "message": "n"},
    {"execution": "x", "entity": "E2", "event": "send", "message": "p", "dest": ["E3"]},
    {"execution": "x", "entity": "E3", "event": "deliver", "message": "m"},
    {"execution": "x", "entity": "E3", "event": "deliver", "message": "p"},
]
WRONG = [*ROWS[:4], ROWS[5], ROWS[4]]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    numbered = [{**row, "seq": seq} for seq, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in numbered), encoding="utf-8")
    return path


def test_exit_codes_and_the_report(tmp_path: Path) -> None:
    trace = written(tmp_path / "wrong.jsonl", WRONG)
    ended = run("conform", "cmd", trace, "--format", "json", "--html", tmp_path / "report.html")
    assert ended.code == 1
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>cmd (repaired)</h2>" in page
    assert "E3 delivers p (its event 1), and no run has that" in page
    document = json.loads(ended.out)
    assert (document["verdict"], document["executions"], document["does_not_conform"]) == ("violated", 1, 1)
    (shown,) = document["shown"]
    assert (shown["entity"], shown["event"], shown["allowed"]) == (
        "E3",
        "delivers p",
        ["delivers m with the clock (1, 0, 1)"],
    )
    assert shown["messages"] == {"a1": "m", "a2": "n", "b1": "p"}


def test_what_conforms_and_what_cannot_run(tmp_path: Path) -> None:
    trace = written(tmp_path / "right.jsonl", ROWS)
    ended = run("conform", "cmd", trace, "-v")
    assert ended.code == 0
    assert "x conforms: a run of the model has what was recorded" in ended.out
    assert "in these moves a1 is m, a2 is n, b1 is p" in ended.out
    assert run("conform", "cmd", "-").code == 2


@pytest.mark.parametrize("sender", ["E1", "?"])
def test_what_was_sent_and_not_recorded_is_undecided(tmp_path: Path, sender: str) -> None:
    """Whether one knows who sent it or not."""
    deliver = {"execution": "x", "entity": "E3", "event": "deliver", "message": "q", "sender": sender}
    ended = run("conform", "cmd", written(tmp_path / "unsent.jsonl", [*ROWS, deliver]))
    assert ended.code == 3
    assert "x is undecided: the send of q was not recorded" in ended.out


def test_what_nobody_sent_does_not_conform(tmp_path: Path) -> None:
    deliver = {"execution": "x", "entity": "E3", "event": "deliver", "message": "q"}
    ended = run("conform", "cmd", written(tmp_path / "invented.jsonl", [*ROWS, deliver]))
    assert ended.code == 1
    assert "x does not conform: E3 delivers q (its event 3), and no run has that" in ended.out


def test_what_the_model_never_logs_is_to_be_ignored(tmp_path: Path) -> None:
    arrived = {"execution": "x", "entity": "E2", "event": "arrive", "message": "n"}
    trace = written(tmp_path / "arrived.jsonl", [*ROWS[:2], arrived, *ROWS[2:]])
    ended = run("conform", "cmd", trace)
    assert ended.code == 1
    assert (
        "no run that was tried logs any event `arrive`: if the model has none, add --ignore arrive"
        in ended.out
    )
    assert run("conform", "cmd", trace, "--ignore", "arrive").code == 0


ECHO = """
from dataclasses import dataclass

from precedes.protocol import Deliver, Protocol, Reliable, Step, Transmit


@dataclass(frozen=True)
class Echo(Protocol[None]):
    network = Reliable()

    def start(self, here):
        return None

    def send(self, here, state, message):
        return Step(state, (Transmit(message, here.others), Deliver(message)))

    def arrive(self, here, state, packet, sender):
        return Step(state, (Deliver(packet),))
"""


@pytest.mark.parametrize("after", [[], ["n"], ["n", "m"]], ids=len)
def test_what_the_model_does_in_the_same_step_is_told(tmp_path: Path, after: list[str]) -> None:
    """What comes with a send at once, whatever was recorded in its place."""
    model = tmp_path / "echo.py"
    model.write_text(ECHO, encoding="utf-8")
    events = [("E2", "send", "n"), ("E2", "deliver", "n"), ("E1", "send", "m")]
    events += [("E1", "deliver", message) for message in after]
    rows: list[dict[str, object]] = [
        {"execution": "x", "entity": entity, "event": event, "message": message}
        | ({"dest": ["E1", "E2"]} if event == "send" else {})
        for entity, event, message in events
    ]
    trace = written(tmp_path / "trace.jsonl", rows)
    ended = run("conform", model, trace)
    assert ended.code == 1
    assert "x does not conform: E1 sends m (its event 1), and no run has that" in ended.out
    assert "  the model allows there: this event, and in the same step: delivers m\n" in ended.out
    (shown,) = json.loads(run("conform", model, trace, "--format", "json").out)["shown"]
    assert (shown["allowed"], shown["in_the_same_step"]) == (["sends m", "delivers n"], ["delivers m"])


def test_in_python(tmp_path: Path) -> None:
    right, wrong = written(tmp_path / "right.jsonl", ROWS), written(tmp_path / "wrong.jsonl", WRONG)
    report = precedes.conform("cmd", [str(right)])
    assert report.verdict is precedes.Verdict.HOLDS
    assert (report.conforming, report.deviating, report.undecided) == (1, 0, 0)
    assert repr(report) == "<Conformance holds: holds 1>"
    assert precedes.conform("cmd", str(wrong), as_written=True).deviating == 1
    assert precedes.conform("cmd", str(wrong), states=1).verdict is precedes.Verdict.UNKNOWN
    with pytest.raises(AssertionError, match="E3 delivers p"):
        precedes.conform("cmd", str(wrong)).raise_for_violations()
    with pytest.raises(PrecedesError, match="cannot be ignored"):
        precedes.conform("cmd", str(right), ignore="packets")


STATES = [
    {**row, "vector": clock}
    for row, clock in zip(ROWS, ["100", "200", "210", "220", "101", "222"], strict=True)
]
"""The vector time after each event, its components without anything between them."""


def with_states(path: Path, column: str, last: str = "222") -> Path:
    """A trace with the vector time of the entity in a column, as a list in JSON."""
    rows = [*STATES[:-1], {**STATES[-1], "vector": last}]
    as_text = [
        {
            **{name: value for name, value in row.items() if name != "vector"},
            column: str(list(map(int, vector))),
        }
        for row in rows
        if isinstance(vector := row["vector"], str)
    ]
    return written(path, as_text)


def test_a_recorded_state_has_to_be_what_the_model_has(tmp_path: Path) -> None:
    right = with_states(tmp_path / "right.jsonl", "vector")
    assert run("conform", "cmd", right, "--state", "clock=vector").code == 0
    wrong = with_states(tmp_path / "wrong.jsonl", "vector", "221")
    assert run("conform", "cmd", wrong).code == 0
    ended = run("conform", "cmd", wrong, "--state", "clock=vector")
    assert ended.code == 1
    assert "x does not conform: E3 delivers p with clock = [2, 2, 1] (its event 2), and no run" in ended.out
    assert "the model allows there: delivers p with clock = [2, 2, 2]" in ended.out
    report = precedes.conform("cmd", str(wrong), state={"clock": "vector"})
    assert report.deviating == 1


def test_a_state_that_was_not_recorded_is_no_pass(tmp_path: Path) -> None:
    trace = with_states(tmp_path / "trace.jsonl", "vector")
    report = precedes.conform("cmd", str(trace), state={"clock": "other"})
    assert report.verdict is precedes.Verdict.UNKNOWN
    assert "no event has other, which is to be clock" in report.text()
    with pytest.raises(PrecedesError, match="a state of cmd has no field clocks\n    did you mean clock"):
        precedes.conform("cmd", str(trace), state={"clocks": "vector"})
    assert run("conform", "cmd", trace, "--state", "clock").code == 2


def test_a_mapping_says_what_states_are(tmp_path: Path) -> None:
    rows = [{**row, "at": {"vector": list(map(int, str(row["vector"])))}} for row in STATES]
    names = ("execution", "entity", "event", "message", "dest")
    mapping = "".join(f'{name} = "{name}"\n' for name in names) + '[state]\nclock = "at.vector"\n'
    (tmp_path / "bus.toml").write_text(mapping, encoding="utf-8")
    right = written(tmp_path / "right.jsonl", rows)
    assert precedes.conform("cmd", str(right), mapping=tmp_path / "bus.toml").conforming == 1
    wrong = written(tmp_path / "wrong.jsonl", [*rows[:-1], {**rows[-1], "at": {"vector": [2, 2, 1]}}])
    report = precedes.conform("cmd", str(wrong), mapping=tmp_path / "bus.toml")
    assert report.deviating == 1
    assert "E3 delivers p with clock = [2, 2, 1]" in report.text()
    assert precedes.verify(str(wrong), "SP", mapping=tmp_path / "bus.toml").verdict is precedes.Verdict.HOLDS


def test_rows_that_contradict_each_other_are_undecided(tmp_path: Path) -> None:
    trace = written(tmp_path / "both.jsonl", [*ROWS, {**ROWS[0], "entity": "E2"}])
    report = precedes.conform("cmd", str(trace))
    assert (report.verdict, report.undecided) == (precedes.Verdict.UNKNOWN, 1)
    assert "x is undecided: " in report.text()


def test_rows_in_memory(tmp_path: Path) -> None:
    rows = [{**row, "seq": seq} for seq, row in enumerate(WRONG)]
    assert precedes.conform("cmd", rows).deviating == 1
    with pytest.raises(PrecedesError, match="judged in this process"):
        precedes.conform("cmd", rows, engine="spark")
