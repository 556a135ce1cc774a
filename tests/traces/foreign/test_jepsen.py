"""Histories of Jepsen, as EDN and as JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from precedes.traces.foreign import edn, jepsen
from tests.traces.foreign.logs import PUBLIC, check_cuts, refused_at, rows_of

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
    sent, other, got = rows_of(tmp_path / "history.edn", KAFKA, WORD, ("partition", "position"))
    common = {"message": "7:30", "partition": "7", "position": "12"}
    assert sent == common | {
        "entity": "process 2",
        "event": "send",
        "dest": ["group:?"],
        "time": 95,
        "row": 2,
    }
    assert got == common | {"entity": "process 5", "event": "deliver", "time": 99, "row": 5}
    assert (other["message"], other["position"], other["sender"]) == ("7:29", "11", "?")


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
    [got] = rows_of(tmp_path / "a.log", history(outcome), WORD)
    assert (got["event"], got["message"], got.get("sender")) == ("deliver", "7:30", sender)


def test_a_send_that_failed_may_be_tried_again(tmp_path: Path) -> None:
    found = rows_of(tmp_path / "a.log", history("fail") + history("ok"), WORD)
    assert events(found) == [
        ("process 5", "deliver", "7:30"),
        ("process 2", "send", "7:30"),
        ("process 5", "deliver", "7:30"),
    ]
    assert "sender" not in found[0]


def test_transactions_have_steps(tmp_path: Path) -> None:
    txn = '{:type :ok, :process 1, :f :txn, :value [[:poll {"a:b" [[3 1] [4 2]]}] [:send :k [nil 5]] [:send :k 6]]}'
    found = rows_of(tmp_path / "a.log", txn, WORD, ("position",))
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
    found = rows_of(tmp_path / "a.log", text, WORD)
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
    assert events(rows_of(tmp_path / "a.log", json.dumps(operations), WORD)) == expected
    assert (
        events(rows_of(tmp_path / "a.log", "".join(json.dumps(each) + "\n" for each in operations), WORD))
        == expected
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
    assert refused_at(tmp_path / "a.log", good + operation + "\n", WORD) == (code, 2)


def test_cut_histories_are_refused(tmp_path: Path) -> None:
    first, second, *_ = KAFKA.splitlines(keepends=True)
    check_cuts(tmp_path / "a.log", first + second, WORD)
    assert refused_at(tmp_path / "a.log", "[" + KAFKA, WORD) == ("T007", 1)
    assert refused_at(tmp_path / "a.log", b"{:a \xff}", WORD) == ("T006", 1)
    assert refused_at(tmp_path / "a.log", '[{"type":"ok"', WORD)[0] == "T007"
    assert len(rows_of(tmp_path / "history.edn.gz", KAFKA, WORD)) == 3
    assert rows_of(tmp_path / "a.log", "", WORD) == []


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
    found = rows_of(tmp_path / "a.log", path.read_bytes(), WORD, ("position",))
    assert jepsen.recognizes(path.read_text(), path.name)
    assert [(row["message"], row["position"]) for row in found] == [
        *(("11:641", "537"), ("11:645", "537"), ("56:5", "4"), ("56:6", "5"), ("56:9", "8")),
    ]
