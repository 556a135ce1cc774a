"""The recorder: what it writes is what `verify` reads, and what a test of a protocol ends in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from precedes.record import CLOCK, COLUMNS, MESSAGE, Recorder
from precedes.record.endpoint import NOBODY_KNOWS
from precedes.record.recorder import UNKNOWN_SENDER
from precedes.traces.foreign.rows import SOMEBODY, TO_SOMEBODY
from precedes.traces.schema import INPUT_COLUMNS


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "trace.jsonl")


def rows(recorder: Recorder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(recorder.path).read_text(encoding="utf-8").splitlines()]


def test_what_keeps_a_service(recorder: Recorder) -> None:
    ledger, audit = recorder.entity("ledger"), recorder.entity("audit")
    first, second = ledger.send("m1", to=["ledger", "audit"]), ledger.send(to=["audit"])
    assert [audit.deliver(first), ledger.deliver(first), audit.deliver(second)] == ["m1", "m1", "ledger-2"]
    recorder.assert_keeps("ST", "causal_order", "vector_time", "no_creation")


def test_what_does_not_is_shown(recorder: Recorder) -> None:
    sender, receiver = recorder.entity("x"), recorder.entity("y")
    m, n = sender.send("m", to=["y"]), sender.send("n", to=["y"])
    receiver.deliver(n)
    receiver.deliver(m)
    with pytest.raises(AssertionError, match=r"x sends m before n, y delivers n before m"):
        recorder.assert_keeps("SP")


def test_nothing_recorded_keeps_nothing(recorder: Recorder) -> None:
    with pytest.raises(AssertionError, match="nothing was checked"):
        recorder.assert_keeps("ST")


def test_clocks_travel_in_the_headers(recorder: Recorder) -> None:
    x, y, z = map(recorder.entity, "xyz")
    y.deliver({key: value.encode() for key, value in x.send(to=["y"]).items()})
    headers = y.send(to=["z"])
    z.deliver(headers)
    assert json.loads(headers[CLOCK]) == {"x": 1, "y": 2}
    assert rows(recorder)[-1]["clock"] == {"x": 1, "y": 2, "z": 1}


def test_clocks_count_local_events(recorder: Recorder) -> None:
    x, y = recorder.entity("x"), recorder.entity("y")
    x.local()
    y.deliver(x.send("m", to=["y"]))
    assert [(row["event"], row["clock"]) for row in rows(recorder)] == [
        ("local", {"x": 1}),
        ("send", {"x": 2}),
        ("deliver", {"x": 2, "y": 1}),
    ]
    recorder.assert_keeps("vector_time")


def test_headers_that_were_lost_are_an_error(recorder: Recorder) -> None:
    with pytest.raises(KeyError, match=MESSAGE):
        recorder.entity("x").deliver({})


def test_functions_are_wrapped(recorder: Recorder) -> None:
    sent: list[dict[str, str]] = []
    x, y = recorder.entity("x"), recorder.entity("y")

    @x.sends(to=["y"])
    def publish(body: str, headers: dict[str, str] | None = None) -> str:
        sent.append(headers or {})
        return body

    @y.delivers(lambda _body, headers: headers)
    def handle(body: str, headers: dict[str, str]) -> str:
        return body.upper()

    assert publish("a", headers={"own": "1"}) == "a"
    assert sent[0]["own"] == "1"
    assert handle("a", sent[0]) == "A"
    # One message is in order whatever happens.
    with pytest.raises(AssertionError, match=r"vacuous: the execution does not contain two messages"):
        recorder.assert_keeps("ST")
    publish("b")
    handle("b", sent[1])
    recorder.assert_keeps("ST")


def test_threads(recorder: Recorder) -> None:
    entity = recorder.entity("x")
    threads = [threading.Thread(target=lambda: [entity.send(to=[]) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    written = rows(recorder)
    assert [row["clock"]["x"] for row in written] == list(range(1, 801))
    assert len({row["message"] for row in written}) == 800
    assert [row["seq"] for row in written] == sorted({row["seq"] for row in written})


def test_what_was_written_survives_a_kill(tmp_path: Path) -> None:
    program = (
        "import os, signal\nfrom precedes.record import Recorder\n"
        f"recorder = Recorder({str(tmp_path / 'a.jsonl')!r})\n"
        "for _ in range(1000): recorder.entity('x').send(to=['y'])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -signal.SIGKILL
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["message"] for line in lines] == [f"x-{k}" for k in range(1, 1001)]


def test_processes_have_files_of_their_own(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.jsonl") as here:
        headers = [here.entity("x").send(to=["y"]) for _ in range(2)]
    with Recorder(tmp_path / "b.jsonl") as there:
        for each in headers:
            there.entity("y").deliver(each)
        there.assert_keeps("ST", "causal_order", traces=[tmp_path / "a.jsonl"])
    with pytest.raises(OSError, match=os.strerror(9)):
        here.entity("x").send()


def test_it_needs_nothing_but_python() -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nimport precedes.record\n"
        "print({name.partition('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "{'precedes'}"


def test_a_recorder_goes_on_where_it_was(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.jsonl") as first:
        first.entity("x").send(to=["y"])
    with Recorder(tmp_path / "a.jsonl") as again:
        headers = again.entity("x").send(to=["y"])
        again.entity("y").deliver(headers)
        assert (headers[MESSAGE], json.loads(headers[CLOCK])) == ("x-2", {"x": 2})
        # The first one was sent and never came.
        with pytest.raises(AssertionError, match="selectively_information_preserving"):
            again.assert_keeps("SP")
    with Recorder(tmp_path / "a.jsonl", "another") as other:
        assert other.entity("x").send()[MESSAGE] == "x-1"


def test_a_row_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"execution":"run","ent')
    with Recorder(tmp_path / "a.jsonl") as recorder:
        recorder.entity("x").send(to=[])
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert (len(lines), json.loads(lines[1])["message"]) == (2, "x-1")


def test_what_the_system_takes_in_parts_is_written_whole(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    recorder.entity("x").send("m", to=[])
    assert rows(recorder)[0]["message"] == "m"


def test_a_closed_recorder_writes_to_no_other_file(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.jsonl") as recorder:
        entity = recorder.entity("x")
    recorder.close()
    with (tmp_path / "other").open("wb"), pytest.raises(OSError, match=os.strerror(9)):
        entity.send()
    assert (tmp_path / "other").read_bytes() == b""


def test_ids_are_text(recorder: Recorder) -> None:
    one, two = recorder.entity(1), recorder.entity("2")  # type: ignore[arg-type]
    assert recorder.entity("1") is one
    one.deliver(two.send(7, to=[1]))
    assert json.loads(one.send(to=["2"])[CLOCK]) == {"1": 2, "2": 1}
    assert rows(recorder)[0]["dest"] == ["1"]


@pytest.mark.parametrize(
    ("message", "to", "error"),
    [
        (object(), ["y"], TypeError),
        (True, ["y"], TypeError),
        ("", ["y"], ValueError),
        ("m", "y", TypeError),
        ("m", [""], ValueError),
    ],
)
def test_what_is_no_id_is_not_recorded(
    recorder: Recorder, message: Any, to: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        recorder.entity("x").send(message, to=to)
    assert rows(recorder) == []
    assert json.loads(recorder.entity("x").send()[CLOCK]) == {"x": 1}


def test_nothing_required_is_a_mistake(recorder: Recorder) -> None:
    recorder.entity("x").deliver(recorder.entity("x").send())
    with pytest.raises(TypeError, match="nothing is required"):
        recorder.assert_keeps()


def test_what_messages_carry_is_recorded(recorder: Recorder) -> None:
    x, y = recorder.entity("x"), recorder.entity("y")
    headers = x.send("m", to=["y"], attributes={"key": "k1", "priority": 2})
    y.deliver(headers, attributes={"position": 7})
    sent, delivered = rows(recorder)
    assert (sent["key"], sent["priority"], delivered["position"]) == ("k1", 2, 7)
    with pytest.raises(ValueError, match="`time` is a column of every trace"):
        x.send(attributes={"time": 1})
    with pytest.raises(ValueError, match="`seq` is a column of every trace"):
        y.deliver(headers, attributes={"seq": 1})
    assert len(rows(recorder)) == 2


def test_no_attribute_is_called_like_a_column() -> None:
    assert set(INPUT_COLUMNS) - {"redelivered"} == COLUMNS


def test_what_is_unknown_is_called_as_in_a_trace() -> None:
    assert UNKNOWN_SENDER == SOMEBODY
    assert NOBODY_KNOWS == TO_SOMEBODY


def test_what_was_recorded_is_held_against_a_model(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    first, second = recorder.entity("E1"), recorder.entity("E2")
    header = first.send(to=["E2"])
    second.deliver(header)
    recorder.assert_conforms("cmd", quiescent=True)
    first.send(to=["E2"])
    recorder.assert_conforms("cmd")
    with pytest.raises(AssertionError, match="something is in flight after the last"):
        recorder.assert_conforms("cmd", quiescent=True)
