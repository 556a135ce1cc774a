"""Rows to executions: the order of events, the cluster, repeats, contradictions, senders, clocks."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from precedes.core.columns import Batch
from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind, Message
from precedes.core.transposition import execution_of
from precedes.core.verdict import Reason
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.assembly import encoding
from tests.traces.reading import batch_of_rows, json_lines, read_bytes, told


def row(
    entity: str, event: str, message: str | None = None, seq: int | None = None, **more: Any
) -> dict[str, Any]:
    """A row of execution x."""
    columns = {"execution": "x", "entity": entity, "event": event, "message": message, "seq": seq}
    return {name: value for name, value in {**columns, **more}.items() if value is not None}


def histories(batch: Batch, x: int = 0) -> dict[str, list[str]]:
    """Histories in short: `send m`."""
    execution = execution_of(batch, x)
    return {
        h.entity: [" ".join(filter(None, (e.kind.value, e.message))) for e in h.events]
        for h in execution.histories
    }


def same(one: Batch, other: Batch) -> None:
    """Assert that two batches are the same, column by column."""
    for field in fields(Batch):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            assert left.tolist() == right.tolist(), field.name
        elif field.name in ("views", "groups"):
            assert (left is None) == (right is None), field.name
            for column in () if left is None else fields(left):
                one_column, other_column = (getattr(side, column.name) for side in (left, right))
                assert one_column.tolist() == other_column.tolist(), (field.name, column.name)
        elif field.name not in ("clocks", "members"):
            assert left == right, field.name


FIGURE = [
    row("E1", "send", "a", 0, dest=["E2", "E3"]),
    row("E1", "send", "b", 1, dest=["E2"]),
    row("E2", "deliver", "a", 0),
    row("E2", "deliver", "b", 1),
    row("E3", "deliver", "a", 5),
    row("E3", "send", "c", 2),
]


def test_the_columns_of_a_small_execution() -> None:
    batch, notices = batch_of_rows(FIGURE)
    assert [(n.code, n.count) for n in notices] == [("T109", 1)]
    assert batch.entity_names.tolist() == ["E1", "E2", "E3"]
    assert batch.message_names.tolist() == ["a", "b", "c"]
    assert batch.sender.tolist() == [0, 0, 2]
    assert batch.send_position.tolist() == [0, 1, 0]
    assert batch.to_all.tolist() == [False, False, True]
    assert batch.destination_offsets.tolist() == [0, 2, 3, 3]
    assert batch.destinations.tolist() == [1, 2, 1]
    assert (batch.sent_offsets.tolist(), batch.sent.tolist()) == ([0, 2, 2, 3], [0, 1, 2])
    assert (batch.delivered_offsets.tolist(), batch.delivered.tolist()) == ([0, 0, 2, 3], [0, 1, 0])
    assert histories(batch)["E3"] == ["send c", "deliver a"]


def test_the_order_of_rows_does_not_matter_where_there_is_seq() -> None:
    batch, _ = batch_of_rows(FIGURE)
    for seed in range(5):
        rows = FIGURE + [r | {"execution": "w"} for r in FIGURE]
        expected, _ = batch_of_rows(rows)
        random.Random(seed).shuffle(rows)
        shuffled, _ = batch_of_rows(rows)
        same(shuffled, expected)
        assert histories(shuffled, 1) == histories(batch)


def test_without_seq_the_order_of_rows_counts_also_after_a_shuffle() -> None:
    rows = [row("E1", "send", m) for m in ("b", "a", "c")] + [
        row("E2", "deliver", m) for m in ("c", "a", "c")
    ]
    table, _ = read_bytes(json_lines(rows))
    notices = Notices()
    batch = assemble(table.take([4, 2, 0, 3, 5, 1]), TraceOptions(), notices)
    assert histories(batch) == {
        "E1": ["send b", "send a", "send c"],
        "E2": ["deliver c", "deliver a", "deliver c"],
    }
    assert [(n.code, n.count) for n in notices.all()] == [("T102", 6), ("T109", 3)]
    # Without places two equal deliveries are two.
    assert batch.delivered.tolist() == [2, 0]
    assert batch.repeated.tolist() == [True, False]


def test_seq_in_some_rows_of_an_entity_is_an_error() -> None:
    rows = [row("E1", "send", "a", 0), row("E2", "deliver", "a"), row("E1", "send", "b")]
    (problem,) = told(lambda: batch_of_rows(rows))
    assert (problem.code, problem.row) == ("T020", 3)
    assert "t.jsonl: row 1" in problem.message
    # One entity with, another without: fine.
    assert histories(batch_of_rows(rows[:2])[0]) == {"E1": ["send a"], "E2": ["deliver a"]}


def test_the_cluster_is_whoever_is_named() -> None:
    rows = [row("E1", "send", "a", dest=["E5"]), row("E2", "deliver", "b", sender="E4"), row("E3", "crash")]
    assert execution_of(batch_of_rows(rows)[0], 0).entities == ("E1", "E2", "E3", "E4", "E5")
    batch, _ = batch_of_rows(
        [*rows, row("E1", "send", "a") | {"execution": "y"}], TraceOptions(cluster=("E9", "E1"))
    )
    assert execution_of(batch, 0).entities == ("E1", "E2", "E3", "E4", "E5", "E9")
    assert execution_of(batch, 1).messages == {"a": Message("a", "E1", frozenset({"E1", "E9"}))}


def test_nobody_is_not_everybody() -> None:
    messages = execution_of(
        batch_of_rows([row("E1", "send", "a", dest=[]), row("E1", "send", "b")])[0], 0
    ).messages
    assert (messages["a"].destinations, messages["b"].destinations) == (frozenset(), frozenset({"E1"}))


def test_senders() -> None:
    rows = [
        row("E1", "deliver", "unsent"),
        row("E1", "deliver", "unlogged", sender="E2"),
        row("E2", "deliver", "unlogged"),
        row("E1", "send", "sent", sender="E1"),
        row("E2", "deliver", "sent", sender="E1"),
    ]
    batch, _ = batch_of_rows(rows)
    assert execution_of(batch, 0).messages == {
        "unsent": Message("unsent", None, None),
        "unlogged": Message("unlogged", "E2", None),
        "sent": Message("sent", "E1", frozenset({"E1", "E2"})),
    }
    assert not batch.unknown.any()
    assert batch.send_logged.tolist() == [True, False, False]
    assert batch.send_position.tolist() == [0, -1, -1]


def test_what_is_guessed_is_told() -> None:
    rows = [
        row("E1", "send", "a", 0, dest=["E2", "ghost", "later"]),
        row("E1", "send", "b", 1),
        row("E2", "deliver", "a", 0),
        row("E2", "deliver", "unsent", 1),
        row("E2", "deliver", "named", 2, sender="E4"),
        row("E3", "deliver", "unsent", 0),
    ]
    later = row("later", "crash", seq=0) | {"execution": "y"}
    _, notices = batch_of_rows([*rows, later])
    assert [(n.code, n.count) for n in notices] == [("T109", 1), ("T110", 1), ("T112", 2)]
    assert notices[1].text.endswith(': "ghost"')
    _, notices = batch_of_rows([*rows, later], TraceOptions(cluster=("ghost",)))
    assert "T110" not in [n.code for n in notices]


def test_the_same_row_twice_is_one_event() -> None:
    more = {"time": 1.5, "clock": {"E1": 1}, "members": ["a"], "channel": "c"}
    rows = [r | more for r in FIGURE]
    batch, notices = batch_of_rows(rows * 3)
    same(batch, batch_of_rows(rows)[0])
    assert [(n.code, n.count) for n in notices] == [("T103", 12), ("T109", 1)]


def test_a_send_repeated_unchanged_is_one_event() -> None:
    rows = [
        row("E1", "send", "a", 0, dest=["E2", "E1"], time=1),
        row("E1", "send", "a", 1, dest=["E1", "E2", "E1"], time=2),
        row("E1", "send", "a", 2, time=3),
        row("E2", "deliver", "a", 0),
    ]
    batch, notices = batch_of_rows(rows)
    assert histories(batch)["E1"] == ["send a"]
    assert batch.send_time.tolist() == [10**9]
    assert [(n.code, n.count) for n in notices] == [("T104", 2)]
    assert not batch.unknown.any()


CONTRADICTIONS = [
    ("T031", [row("E1", "send", "a", 0), row("E2", "send", "a", 0)],
     "a is sent by E1 (t.jsonl: row 1) and by E2 (t.jsonl: row 2)"),
    ("T032", [row("E1", "send", "a", 0, dest=["E2"]), row("E1", "send", "a", 1)],
     "a is sent to {E2} (t.jsonl: row 1) and to every entity (t.jsonl: row 2)"),
    ("T032", [row("E1", "send", "a", 0, dest=["E2"]), row("E1", "send", "a", 1, dest=[])],
     "a is sent to {E2} (t.jsonl: row 1) and to {} (t.jsonl: row 2)"),
    ("T033", [row("E1", "send", "a", 3), row("E1", "deliver", "a", 3)],
     "E1 has two events with seq 3 that differ (t.jsonl: row 1; t.jsonl: row 2)"),
    ("T033", [row("E1", "deliver", "a", 3, time=1), row("E1", "deliver", "a", 3, time=2)], "that differ"),
    ("T033", [row("E1", "send", "a", 3, clock=[1]), row("E1", "send", "a", 3, clock=[2])], "that differ"),
    ("T033", [row("E1", "view", None, 3, members=["E1"]), row("E1", "view", None, 3)], "that differ"),
    ("T034", [row("E1", "crash", None, 0), row("E1", "send", "a", 1)],
     "E1 crashes (t.jsonl: row 1), but its next event is not a recovery (t.jsonl: row 2)"),
    ("T035", [row("E1", "send", "a", 0), row("E2", "deliver", "a", 0, sender="E2")],
     "a was sent by E1 (t.jsonl: row 1), but its sender is E2 by t.jsonl: row 2"),
    ("T035", [row("E1", "deliver", "a", 0, sender="E3"), row("E2", "deliver", "a", 0, sender="E2")],
     "a was sent by E3 (t.jsonl: row 1), but its sender is E2 by t.jsonl: row 2"),
    ("T036", [row("E1", "send", "a", 0, clock=[1, 2])], "a clock of E1 has more numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "rows", "says"), CONTRADICTIONS)
def test_a_contradiction_makes_its_execution_unknown(
    code: str, rows: list[dict[str, Any]], says: str
) -> None:
    good = [r | {"execution": name} for name in ("w", "y") for r in FIGURE]
    batch, _ = batch_of_rows([*rows, *good])
    assert batch.names.tolist() == ["w", "x", "y"]
    assert batch.unknown.tolist() == [0, Reason.CONTRADICTION, 0]
    assert list(batch.contradictions) == [1]
    assert says in batch.contradictions[1]
    # What is there is well-formed, whoever may look at it.
    execution_of(batch, 1)
    assert histories(batch, 0) == histories(batch, 2)
    (problem,) = told(lambda: batch_of_rows([*rows, *good], TraceOptions(strict=True)))
    assert (problem.code, problem.path, problem.row) == (code, "t.jsonl", len(rows))
    assert says in problem.message


def test_recovery_and_several_contradictions() -> None:
    assert not batch_of_rows([row("E1", "crash"), row("E1", "recover"), row("E1", "send", "a")])[
        0
    ].unknown.any()
    rows = [row(f"E{number}", "send", "a", 0) for number in range(1, 7)]
    parts = batch_of_rows(rows)[0].contradictions[0].split("; ")
    assert [part.split(" (")[0] for part in parts] == ["a is sent by E1"] * 3 + ["and 2 more"]


def test_arrivals_as_deliveries() -> None:
    rows = [
        row("E1", "send", "a", 0),
        row("E2", "arrive", "a", 0, time=1),
        row("E2", "deliver", "a", 1, time=2),
    ]
    for kind, nanoseconds in ((EventKind.ARRIVE, 10**9), (EventKind.DELIVER, 2 * 10**9)):
        batch, _ = batch_of_rows(rows, TraceOptions(delivery=kind))
        assert batch.delivered_time.tolist() == [nanoseconds]
        assert execution_of(batch, 0).delivery is kind


def test_clocks() -> None:
    rows = [
        row("10", "send", "a", 0, clock=[0, 1]),
        row("9", "deliver", "a", 0, clock={"10": 1, "9": 1, "other": 4}),
        row("9", "send", "b", 1, clock={}),
        row("9", "send", "c", 2),
    ]
    batch, notices = batch_of_rows(rows)
    ten, nine = execution_of(batch, 0).histories
    # A bare list follows the numbers: 9 before 10.
    assert [event.clock for event in ten.events] == [{"9": 0, "10": 1}]
    assert [event.clock for event in nine.events] == [{"10": 1, "9": 1}, {}, None]
    assert [(n.code, n.count) for n in notices] == [("T108", 1), ("T109", 3)]
    named, _ = batch_of_rows([row("b", "send", "m", clock=[1, 2]), row("a", "send", "n")])
    assert execution_of(named, 0).history("b").events[0].clock == {"a": 1, "b": 2}


def test_names_are_in_code_point_order() -> None:
    odd = ["\U00010000", "￿", "é", "E10", "E9", "10", "9"]
    batch, _ = batch_of_rows([row(name, "send", name) for name in odd])
    assert batch.entity_names.tolist() == batch.message_names.tolist() == sorted(odd)


def test_large_seq_values() -> None:
    rows = [row("E1", "send", "b", 2**63 - 1), row("E1", "send", "a", 5), row("E2", "deliver", "a", 2**62)]
    assert histories(batch_of_rows(rows)[0])["E1"] == ["send a", "send b"]


def test_the_ways_of_numbering_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        r | {"execution": f"x{x}", "message": r["message"] + (f"-{x}" if x % 2 else "")}
        for x in range(20)
        for r in FIGURE
    ]
    own = [r | {"execution": f"x{x}", "message": f"{r['message']}-{x}"} for x in range(20) for r in FIGURE]
    for given in (rows, own):
        table, _ = read_bytes(json_lines(given))
        table = table.take(random.Random(1).sample(range(len(table)), len(table)))
        monkeypatch.setattr(encoding, "_DENSE_CELLS", 1 << 25)
        dense = assemble(table, TraceOptions(), Notices())
        monkeypatch.setattr(encoding, "_DENSE_CELLS", 0)
        same(assemble(table, TraceOptions(), Notices()), dense)


def test_an_empty_table() -> None:
    table, _ = read_bytes(b"")
    assert assemble(table, TraceOptions(cluster=("E1",)), Notices()).executions == 0


def test_errors_are_picklable() -> None:
    import pickle

    with pytest.raises(PrecedesError) as caught:
        batch_of_rows(CONTRADICTIONS[0][1], TraceOptions(strict=True))
    assert pickle.loads(pickle.dumps(caught.value)).diagnostics == caught.value.diagnostics
