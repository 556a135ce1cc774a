"""Traces of which rows may be missing, at the command: every engine says what every completion agrees on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from precedes.engines.scan.partials import Count, Partial, merge
from precedes.jobs.infer import OF_CRASHES, proved
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from tests.command.running import precedes
from tests.command.test_verify import ENGINES, rows

GAP = rows(
    "1 S send p R,T", "1 S send q R,T", "1 R deliver p", "1 R deliver q", "1 T deliver q"
)  # fmt: skip
CAUSAL = rows("1 A send p B,R", "1 B send q R", "1 R deliver q", "1 R deliver p")
"""R may have delivered them out of order: if B delivered p before it sent q."""
FIFO = rows("1 S send p R", "1 S send q R", "1 R deliver q")
TIMED = "".join(
    json.dumps({"execution": "1", "entity": entity, "event": event, "message": message, "time": time, **more})
    + "\n"
    for entity, event, message, time, more in (
        ("S", "send", "p", 0, {"dest": ["R"]}),
        ("S", "send", "q", 1, {"dest": ["R"]}),
        ("R", "deliver", "q", 1.5, {}),
    )
)
SWAPPED = rows("1 S send p R", "1 S send q R", "1 R deliver q", "1 R deliver p")
CYCLE = rows(
    "1 A send a", "1 A deliver a", "1 A deliver b",
    "1 B send b", "1 B deliver b", "1 B deliver c",
    "1 C send c", "1 C deliver c", "1 C deliver a",
)  # fmt: skip

UNKNOWN: list[tuple[str, str]] = [
    (FIFO, "fifo_delivery"),
    (FIFO, "causal_delivery"),
    (FIFO, "SP"),
    (FIFO, "local_order"),
    (FIFO, "information_equivalent"),
    (FIFO, "no_creation"),
    (GAP, "gap_free_order"),
    (GAP, "prefix_order"),
    (GAP, "agreement"),
    (GAP, "ST"),
    (CAUSAL, "causal_order"),
    (CAUSAL, "process_causal_order"),
    (CAUSAL, "CO"),
    (CAUSAL, "order_equivalent"),
    (TIMED, "forall p: forall i in dest(p): deliver_time(p, i) - send_time(p) <= 1s"),
    (TIMED, "forall p: forall i in dest(p): deliver_time(p, i) <= send_time(p) + 1s"),
    (TIMED, "forall p: forall i in dest(p): send(p) ~> deliver(p, i)"),
    (TIMED, "forall p: forall i in dest(p): position(p, RL[i]) <= 5"),
    (TIMED, "forall i: size(RL[i]) <= 2"),
    (TIMED, "exists p: exists i: deliver(p, i) ~> send(p) or (p in RL[i] and not sent(p))"),
    (TIMED, '"later" in RL["R"]'),
    (TIMED, "forall i in dest(\"p\"): \"p\" in RL[i]"),
]  # fmt: skip

VIOLATED: list[tuple[str, str]] = [
    (SWAPPED, "fifo_delivery"),
    (SWAPPED, "causal_delivery"),
    (SWAPPED, "order_preserving"),
    (SWAPPED, "ST"),
    (CYCLE, "acyclic_order"),
    (CYCLE, "TO"),
    (TIMED, "forall p: forall i in dest(p): deliver_time(p, i) - send_time(p) <= 400ms"),
    (TIMED, "forall i: forall p in RL[i]: size(RL[i]) <= 0"),
    (FIFO, "broadcast"),
    (GAP, "forall i: forall p in RL[i]: position(p, RL[i]) <= 1"),
    (GAP, 'not "p" in SL["S", "R"]'),
]

HELD: list[tuple[str, str]] = [
    (GAP, "forall p: sent(p) implies p = p"),
    (GAP, '"q" in RL["T"] and "p" <[SL["S"]] "q"'),
    (GAP, "exists p, q: exists i: p <[RL[i]] q"),
    (GAP, "forall p: forall i: not deliver(p, i) ~> send(p)"),
    (FIFO, "not broadcast"),
]


def verified(tmp_path: Path, trace: str, asked: str, *more: object) -> dict[str, Any]:
    path = tmp_path / "trace.jsonl"
    path.write_text(trace, encoding="utf-8")
    ended = precedes("verify", path, "--incomplete", "--format", "json", "--require", asked, *more)
    assert not ended.err, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


@pytest.mark.parametrize(("trace", "asked"), UNKNOWN)
def test_what_a_missing_row_decides_is_unknown(tmp_path: Path, trace: str, asked: str) -> None:
    found = verified(tmp_path, trace, asked)
    assert found["verdict"] == "unknown"
    assert all(count["holds"] == count["violated"] == 0 for count in found["predicates"].values())


@pytest.mark.parametrize(("trace", "asked"), VIOLATED)
def test_what_was_recorded_violates(tmp_path: Path, trace: str, asked: str) -> None:
    found = verified(tmp_path, trace, asked)
    assert found["verdict"] == "violated"
    assert found["violations"]
    assert all(violation["figure"] for violation in found["violations"])


@pytest.mark.parametrize(("trace", "asked"), HELD)
def test_what_no_row_changes_holds(tmp_path: Path, trace: str, asked: str) -> None:
    assert verified(tmp_path, trace, asked)["predicates"][asked] == {
        "holds": 1, "violated": 0, "unknown": 0, "as_recorded": {"holds": 1, "violated": 0, "unknown": 0}
    }  # fmt: skip


ASKED = [asked for _, asked in (*UNKNOWN, *VIOLATED, *HELD)]
ALL = [word for asked in dict.fromkeys(ASKED) for word in ("--require", asked)]
MANY = "".join(
    trace.replace('"execution": "1"', f'"execution": "{x}"')
    for x, trace in enumerate((FIFO, GAP, CAUSAL, TIMED, SWAPPED, CYCLE))
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("laid_out", [False, True])
def test_every_engine_says_the_same(tmp_path: Path, engine: str, laid_out: bool) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(MANY, encoding="utf-8")
    asked = ("--incomplete", "--format", "json", "--max-violations", 40, *ALL)
    here = json.loads(precedes("verify", path, *asked).out)
    assert {violation["predicate"] for violation in here["violations"]} >= {
        "TO",
        "acyclic_order",
        "broadcast",
    }
    if laid_out:
        assert precedes("convert", path, "-o", tmp_path / "trace.parquet").code == 0
        path = tmp_path / "trace.parquet"
    there = json.loads(precedes("verify", path, *asked, "--engine", engine).out)
    for part in ("verdict", "predicates", "violations", "unknown", "nothing_to_judge"):
        assert there[part] == here[part], part


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_recorded_is_counted_where_a_part_of_the_work_is_empty(tmp_path: Path, engine: str) -> None:
    """Of one execution most tasks of Spark get nothing."""
    path = tmp_path / "trace.jsonl"
    path.write_text(FIFO.replace('"execution": "1"', '"execution": "fifo"'), encoding="utf-8")
    asked = ("--incomplete", "--format", "json", "--engine", engine, "--require", "SP")
    found = json.loads(precedes("verify", path, *asked).out)["predicates"]
    assert found["order_preserving"]["as_recorded"] == {"holds": 1, "violated": 0, "unknown": 0}
    assert found["SP"]["as_recorded"] == {"holds": 0, "violated": 1, "unknown": 0}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_parts_are_merged_in_any_order(order: tuple[int, int, int]) -> None:
    asked = plan([requirement("SP", standard_library())])
    counts = dict.fromkeys(asked.names, Count(1, 0, 0))
    nothing = dict.fromkeys(asked.names, Count())
    parts = [
        Partial(1, 3, 2, counts, (), (), as_recorded=counts),
        Partial(0, 0, 0, nothing, (), ()),
        Partial(1, 3, 2, counts, (), (), as_recorded=counts),
    ]
    found = merge([parts[k] for k in order], asked, 10)
    assert found.as_recorded == dict.fromkeys(asked.names, Count(2, 0, 0))


def test_the_report_says_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(GAP + GAP.replace('"1"', '"2"'), encoding="utf-8")
    required = ("--require", "fifo_delivery", "--require", "causal_order", "--require", "order_equivalent")
    ended = precedes("verify", path, "--incomplete", *required)
    assert ended.code == 3
    assert "\nfifo_delivery     unknown   2 unknown (none holds as recorded)\n" in f"\n{ended.out}"
    assert "\ncausal_order      unknown   2 unknown (2 hold as recorded)\n" in ended.out
    assert (
        "\nexecutions 1, 2: fifo_delivery is unknown\n"
        "  violated as recorded, but a row may be missing: S sends p before q, T delivers q without p\n"
    ) in ended.out
    assert (
        "\nexecutions 1, 2: causal_order, order_equivalent are unknown\n"
        "  not violated by the recorded rows; a missing row may violate it\n"
    ) in ended.out
    (first, *_) = verified(tmp_path, GAP, "fifo_delivery")["unknown"]
    assert first["as_recorded"] == "violated"
    assert first["explanation"] == "S sends p before q, T delivers q without p"


def test_what_is_inferred_of_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(GAP, encoding="utf-8")
    ended = precedes("infer", path, "--incomplete", "--format", "json")
    assert ended.code == 3
    found = json.loads(ended.out)

    def members(groups: dict[str, Any]) -> set[str]:
        return {name for first, others in groups.items() for name in (first, *others)}

    complete = json.loads(precedes("infer", path, "--format", "json").out)
    fits = found["not_violated_as_recorded"]
    assert found["kept"] == {}
    assert members(fits) == members(complete["kept"])
    # Nobody knows that there is no view, but no message is for the one who sent it.
    assert "self_delivery" in complete["nothing_to_judge"]
    assert "self_delivery" in found["nothing_to_judge"]
    broken = {name: [*one["with"]] for name, one in found["broken"].items()}
    lacking = {name: [*one["with"]] for name, one in found["violated_as_recorded"].items()}
    assert members(broken) | members(lacking) >= members(
        {n: o["with"] for n, o in complete["broken"].items()}
    )
    assert "fifo_delivery" in found["violated_as_recorded"]
    names = {name for names in proved().equal.values() for name in names} - OF_CRASHES
    told = (
        members(fits)
        | members(broken)
        | members(lacking)
        | set(found["unknown"])
        | set(found["nothing_to_judge"])
    )
    # Of what is unknown, the weakest names are told.
    stronger = {name for name in names for weak in found["unknown"] if proved().implies(name, weak)}
    assert told | stronger == names
    text = precedes("infer", path, "--incomplete").out
    assert "not violated by the recorded rows; a missing row may violate it\n" in text
    assert "violated as recorded, but a row may be missing\n" in text
