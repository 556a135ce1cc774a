"""Histories of Jepsen, as EDN and as JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from precedes.traces.foreign import edn, jepsen
from tests.traces.foreign.importing import PUBLIC, cut_everywhere, refusal, text_rows

WORD = "jepsen"
KAFKA = """\
{:index 0, :time 81, :type :invoke, :process 2, :f :send, :value [[:send 7 30]]}
#jepsen.history.Op{:index 1, :time 95, :type :ok, :process 2, :f :send, :value [[:send 7 [12 30]]]}
{:type :invoke, :process :nemesis, :f :start-partition, :value nil}
{:index 2, :time 96, :type :invoke, :process 5, :f :poll, :value [[:poll]]}
{:index 3, :time 99, :type :ok, :process 5, :f :poll, :value [[:poll {7 [[11 29] [12 30]]}]]}
"""


def events(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["entity"], row["event"], row["message"]) for row in found]


def test_sends_and_polls_are_messages(tmp_path: Path) -> None:
    sent, other, got = text_rows(WORD, tmp_path, KAFKA, "history.edn")
    common = {"execution": tmp_path.name, "message": "7:30", "partition": "7", "position": 12}
    assert sent == common | {"entity": "process 2", "event": "send", "dest": ["group:?"], "time": 95}
    assert got == common | {"entity": "process 5", "event": "deliver", "time": 99}
    assert (other["message"], other["position"], other["sender"]) == ("7:29", 11, "?")


def history(outcome: str, value: str = "[[:send 7 30]]") -> str:
    """A send that ended like this, and a poll of its message."""
    call = "{:type :invoke, :process 2, :f :send, :value [[:send 7 30]]}\n"
    end = f"{{:type :{outcome}, :process 2, :f :send, :value {value}}}\n" if outcome else ""
    return call + end + "{:type :ok, :process 5, :f :poll, :value [[:poll {7 [[12 30]]}]]}\n"


@pytest.mark.parametrize(
    ("outcome", "sender"),
    [("info", "process 2"), ("fail", None), ("", "process 2")],
    ids=["info", "fail", "no end"],
)
def test_what_is_not_certain_is_no_send(tmp_path: Path, outcome: str, sender: str | None) -> None:
    [got] = text_rows(WORD, tmp_path, history(outcome))
    assert (got["event"], got["message"], got.get("sender")) == ("deliver", "7:30", sender)


def test_a_send_that_failed_may_be_tried_again(tmp_path: Path) -> None:
    found = text_rows(WORD, tmp_path, history("fail") + history("ok"))
    assert events(found) == [
        ("process 5", "deliver", "7:30"),
        ("process 2", "send", "7:30"),
        ("process 5", "deliver", "7:30"),
    ]
    assert "sender" not in found[0]


def test_transactions_have_steps(tmp_path: Path) -> None:
    txn = '{:type :ok, :process 1, :f :txn, :value [[:poll {"a:b" [[3 1] [4 2]]}] [:send :k [nil 5]] [:send :k 6]]}'
    found = text_rows(WORD, tmp_path, txn)
    assert [row["message"] for row in found] == ["a%3Ab:1", "a%3Ab:2", "k:5", "k:6"]
    assert [row["event"] for row in found] == ["deliver", "deliver", "send", "send"]
    assert "position" not in found[2]


def test_queues_have_enqueues_and_dequeues(tmp_path: Path) -> None:
    text = """[{:type :invoke, :process 0, :f :enqueue, :value 1}
      {:type :ok, :process 0, :f :enqueue, :value 1} ; accepted
      #_{:type :ok, :process 0, :f :enqueue, :value 9}
      {:type :invoke, :process 1, :f :enqueue, :value 2}
      {:type :info, :process 1, :f :enqueue, :value 2 :error :timeout}
      {:type :ok, :process 2, :f :dequeue, :value 1} {:type :ok, :process 2, :f :dequeue, :value nil}
      {:type :fail, :process 2, :f :dequeue, :error :empty}
      {:type :ok, :process 3, :f :drain, :value (2 3)}]"""
    found = text_rows(WORD, tmp_path, text)
    assert events(found) == [
        ("process 0", "send", "1"),
        ("process 2", "deliver", "1"),
        ("process 3", "deliver", "2"),
        ("process 3", "deliver", "3"),
    ]
    assert [row.get("sender") for row in found] == [None, None, "process 1", "?"]


def test_json_says_the_same(tmp_path: Path) -> None:
    operations = [
        {"type": "ok", "process": 2, "f": "send", "value": [["send", 7, [12, 30]]], "time": 95},
        {"type": ":ok", "process": 5, "f": ":poll", "value": [[":poll", {"7": [[12, 30]]}]]},
    ]
    expected = [("process 2", "send", "7:30"), ("process 5", "deliver", "7:30")]
    assert events(text_rows(WORD, tmp_path, json.dumps(operations))) == expected
    assert (
        events(text_rows(WORD, tmp_path, "".join(json.dumps(each) + "\n" for each in operations))) == expected
    )


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ("7", "T012"),
        ("{:process 1, :f :send, :value []}", "T011"),
        ("{:type :ok, :f :send, :value []}", "T011"),
        ("{:type :ok, :process 1, :value []}", "T011"),
        ("{:type :no, :process 1, :f :send, :value []}", "T012"),
        ("{:type :ok, :process 1.5, :f :send, :value []}", "T012"),
        ('{:type :ok, :process "1", :f :send, :value []}', "T012"),
        ("{:type :ok, :process 1, :f :read, :value []}", "T013"),
        ("{:type :ok, :process 1, :f [1], :value []}", "T013"),
        ("{:type :ok, :process 1, :f :send, :value 7}", "T012"),
        ("{:type :ok, :process 1, :f :send}", "T012"),
        ("{:type :ok, :process 1, :f :send, :value [7]}", "T012"),
        ("{:type :ok, :process 1, :f :send, :value [[:send 1]]}", "T012"),
        ('{:type :ok, :process 1, :f :send, :value [[:send 1 ["x" 2]]]}', "T012"),
        ("{:type :ok, :process 1, :f :poll, :value [[:poll {1 7}]]}", "T012"),
        ("{:type :ok, :process 1, :f :poll, :value [[:poll {1 [7]}]]}", "T012"),
        ("{:type :ok, :process 1, :f :poll, :value [[:poll 7]]}", "T012"),
        ("{:type :ok, :process 1, :f :drain, :value 7}", "T012"),
        ("{:type :ok, :process 1, :f :send, :value [], :time :now}", "T012"),
        ("{:type :ok, :process 1, :f :enqueue, :value 1, :time 99999999999999999999}", "T015"),
        ("{:type :ok :type :ok}", "T008"),
        ("{:type}", "T007"),
        ("{{:a 1} 2}", "T007"),
        ("}", "T007"),
        ("(]", "T007"),
        ('"x', "T007"),
        ("{:a #tag}", "T007"),
        ("{:a 1 #_}", "T007"),
        ("[" * 300, "T007"),
    ],
)
def test_what_is_no_operation_is_refused(tmp_path: Path, operation: str, code: str) -> None:
    good = "{:type :invoke, :process 1, :f :poll, :value [[:poll]]}\n"
    assert refusal(WORD, tmp_path, good + operation + "\n") == (code, 2)


def test_cut_histories_are_refused(tmp_path: Path) -> None:
    first, second, *_ = KAFKA.splitlines(keepends=True)
    cut_everywhere(WORD, tmp_path, first + second)
    assert refusal(WORD, tmp_path, "[" + KAFKA) == ("T007", 1)
    assert refusal(WORD, tmp_path, b"{:a \xff}") == ("T006", 1)
    assert refusal(WORD, tmp_path, '[{"type":"ok"')[0] == "T007"
    assert len(text_rows(WORD, tmp_path, KAFKA, "history.edn.gz")) == 3
    assert text_rows(WORD, tmp_path, "") == []


def test_edn_is_read_as_clojure_prints_it() -> None:
    text = r"""nil true #{1 "a\n\"b\u0041"} (1N -2 +3 1.5M 2e3) #inst "2026" \a \newline :a/b sym #"re"
    {:a nil, [1 2] :b}"""
    assert [value for _, value in edn.values(text)] == [
        *(None, True, (1, 'a\n"bA'), (1, -2, 3, Decimal("1.5"), Decimal(2000)), "2026", "a", "newline"),
        *("a/b", "sym", "re", {"a": None, (1, 2): "b"}),
    ]
    assert list(edn.values("1 ; one\n\n#_ 2 #_ #_ 3 4 5")) == [(1, 1), (3, 5)]


def test_what_is_recognized() -> None:
    assert jepsen.recognizes(KAFKA, "history.edn")
    assert jepsen.recognizes("; a comment\n[" + KAFKA, "history.edn")
    assert jepsen.recognizes('[{"type":"ok","process":2,"f":"send","value":[]}]', "history.json")
    for other in (
        "",
        "x",
        "{:a 1}",
        '{"execution":"r","entity":"E","event":"send","type":"ok","process":1,"f":2}\n',
    ):
        assert not jepsen.recognizes(other, "history.edn")


def test_the_published_operations_are_read(tmp_path: Path) -> None:
    path = PUBLIC / "jepsen-kafka" / "inline_examples.edn"
    if not path.exists():
        pytest.skip("the published operations are not here")
    found = text_rows(WORD, tmp_path, path.read_bytes())
    assert jepsen.recognizes(path.read_text(), path.name)
    assert [(row["message"], row["position"]) for row in found] == [
        *(("11:641", 537), ("11:645", 537), ("56:5", 4), ("56:6", 5), ("56:9", 8)),
    ]
