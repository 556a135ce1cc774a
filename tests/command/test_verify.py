"""`precedes verify`: verdicts, exit codes, formats, and the same answer from both engines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command.documents import ROOT
from tests.command.running import Ended, precedes
from tests.sampling import on_engines, one_in

SAMPLE = ROOT / "traces" / "rabbitmq-fanout.jsonl.gz"
ENGINES = [
    pytest.param("local", id="local"),
    pytest.param("spark", id="spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
]


def rows(*lines: str) -> str:
    """JSON Lines from `execution entity event message [dest]`, the place of a row being its seq."""
    written = []
    counts: dict[tuple[str, str], int] = {}
    for line in lines:
        execution, entity, event, message, *dest = line.split()
        seq = counts[execution, entity] = counts.get((execution, entity), -1) + 1
        row = {"execution": execution, "entity": entity, "seq": seq, "event": event, "message": message}
        written.append(json.dumps(row | ({"dest": dest[0].split(",")} if dest else {})))
    return "\n".join(written) + "\n"


KEPT = rows("1 A send a B,C", "1 B deliver a", "1 C deliver a")
ORDERED = rows(
    "5 A send a B,C", "5 A send b B,C", "5 B deliver a", "5 B deliver b", "5 C deliver a", "5 C deliver b"
)
LOST = rows("2 A send a B,C", "2 B deliver a", "2 C send x")
SWAPPED = rows(
    "3 A send a B,C", "3 D send d B,C", "3 B deliver a", "3 B deliver d", "3 C deliver d", "3 C deliver a"
)
CONTRADICTING = rows("4 A send a", "4 B send a", "4 B deliver a")


def verify(path: Path, *arguments: object) -> Ended:
    return precedes("verify", path, *arguments)


VERDICTS = [
    (ORDERED, "ST", 0, {"holds": 1, "violated": 0, "unknown": 0}),
    # One message is in order whatever happens.
    (KEPT, "ST", 3, {"holds": 1, "violated": 0, "unknown": 0}),
    (KEPT + SWAPPED, "ST", 1, {"holds": 1, "violated": 1, "unknown": 0}),
    (KEPT + CONTRADICTING, "ST", 3, {"holds": 1, "violated": 0, "unknown": 1}),
    (KEPT + SWAPPED + CONTRADICTING, "ST", 1, {"holds": 1, "violated": 1, "unknown": 1}),
    (KEPT, "forall p: exists i: p in RL[i]", 0, {"holds": 1, "violated": 0, "unknown": 0}),
    (LOST, "forall p: exists i: p in RL[i]", 1, {"holds": 0, "violated": 1, "unknown": 0}),
    (KEPT, "deadline", 3, {"holds": 0, "violated": 0, "unknown": 1}),
    ("", "ST", 3, {"holds": 0, "violated": 0, "unknown": 0}),
]


@pytest.mark.parametrize(
    ("engine", "text", "required", "code", "counts"),
    on_engines(3, VERDICTS, map(str, range(len(VERDICTS)))),
)
def test_the_verdict_of_a_trace(
    tmp_path: Path, engine: str, text: str, required: str, code: int, counts: dict[str, int]
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text, encoding="utf-8")
    ended = verify(path, "--require", required, "--engine", engine, "--format", "json")
    assert ended.code == code, ended
    assert json.loads(ended.out)["predicates"][required] == counts


def test_a_service_is_told_with_every_predicate_in_it(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(SWAPPED, encoding="utf-8")
    document = json.loads(verify(path, "--require", "ST", "--format", "json").out)
    assert set(document["predicates"]) == {
        "ST",
        "SP",
        "selectively_correct",
        "order_preserving",
        "selectively_information_preserving",
        "order_equivalent",
    }
    (violation,) = document["violations"]
    assert (violation["execution"], violation["predicate"]) == ("3", "order_equivalent")
    assert {"p": "a", "q": "d"}.items() <= violation["bindings"].items()
    assert violation["explanation"].startswith("B delivers a before d, C delivers d before a")


def test_of_an_incomplete_trace_only_what_was_recorded_violates(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(LOST + SWAPPED, encoding="utf-8")
    required = ("--require", "ST", "--format", "json")
    assert json.loads(verify(path, *required).out)["predicates"]["SP"]["violated"] == 1
    predicates = json.loads(verify(path, *required, "--incomplete").out)["predicates"]
    assert predicates["SP"] == {
        "holds": 0, "violated": 0, "unknown": 2, "as_recorded": {"holds": 1, "violated": 1, "unknown": 0}
    }  # fmt: skip
    assert predicates["order_equivalent"] == {
        "holds": 0, "violated": 1, "unknown": 1, "as_recorded": {"holds": 1, "violated": 1, "unknown": 0}
    }  # fmt: skip


def test_a_contradiction_names_both_rows(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT + CONTRADICTING, encoding="utf-8")
    (unknown, *_) = json.loads(verify(path, "--require", "order_equivalent", "--format", "json").out)[
        "unknown"
    ]
    assert unknown["execution"] == "4"
    assert "row 4" in unknown["reasons"][0]
    assert "row 5" in unknown["reasons"][0]
    strict = verify(path, "--require", "order_equivalent", "--strict")
    assert (strict.code, strict.out) == (2, "")


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unreadable_row_stops_the_run(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(
        KEPT + '{"execution": 5, "entity": "A", "event": "sned", "message": "m"}\n', encoding="utf-8"
    )
    ended = verify(path, "--require", "ST", "--engine", engine)
    assert (ended.code, ended.out) == (2, "")
    assert f"{path}: row 4" in ended.err
    assert "sned" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("engine", ENGINES)
def test_a_truncated_file_stops_the_run(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress(KEPT.encode())[:-12])
    ended = verify(path, "--require", "ST", "--engine", engine)
    assert (ended.code, ended.out) == (2, "")
    assert str(path) in ended.err


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("required", one_in(2, ["TO", "acyclic_order", "causal_order", "ST"]))
def test_both_engines_print_the_same(required: str) -> None:
    local, spark = (
        verify(SAMPLE, "--require", required, "--engine", engine, "--format", "json")
        for engine in ("local", "spark")
    )
    assert local.code == spark.code
    assert json.loads(local.out) | {"timings": None} == json.loads(spark.out) | {"timings": None}
    assert local.out.partition('"timings"')[0] == spark.out.partition('"timings"')[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_verdicts_are_written(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT + SWAPPED + CONTRADICTING, encoding="utf-8")
    out = tmp_path / "out"
    assert verify(path, "--require", "order_equivalent", "--out", out, "--engine", engine).code == 1
    assert [file.name for file in out.iterdir()] == ["verdicts.parquet"]
    violated, unknown = sorted(
        pq.read_table(out / "verdicts.parquet").to_pylist(), key=lambda row: row["execution"]
    )
    assert (violated["execution"], violated["verdict"], violated["count"]) == ("3", "violated", None)
    assert json.loads(violated["witness"]) == {"entities": ["B", "C"], "messages": ["a", "d"]}
    assert (unknown["execution"], unknown["verdict"]) == ("4", "unknown")
    assert "row" in unknown["reasons"]
    verify(path, "--require", "order_equivalent", "--out", out, "--all-verdicts", "--engine", engine)
    assert pq.read_table(out / "verdicts.parquet").num_rows == 3


def test_nothing_is_written_where_nothing_could_be_verified(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT + "{\n", encoding="utf-8")
    out = tmp_path / "out"
    assert verify(path, "--require", "ST", "--out", out).code == 2
    assert list(out.iterdir()) == []


def test_at_most_so_many_violations_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(SWAPPED.replace('"3"', f'"{x}"') for x in range(30, 50)), encoding="utf-8")
    document = json.loads(verify(path, "--require", "ST", "--max-violations", 3, "--format", "json").out)
    assert [violation["execution"] for violation in document["violations"]] == ["30", "31", "32"]
    assert document["predicates"]["ST"]["violated"] == 20
    assert "3 of 20 violations shown" in verify(path, "--require", "ST", "--max-violations", 3).out


def test_own_predicates_are_required_by_name(tmp_path: Path) -> None:
    spec, path = tmp_path / "own.prec", tmp_path / "trace.jsonl"
    spec.write_text("predicate delivered := forall p: exists i: p in RL[i]\n", encoding="utf-8")
    path.write_text(LOST, encoding="utf-8")
    assert verify(path, "--require", "delivered", "--spec", spec).code == 1
    ended = verify(path, "--require", "delivered")
    assert ended.code == 2
    assert "delivered" in ended.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "nothing is required"),
        (("--require", "STT"), "STT"),
        (("--require", "ST", "--delta", "10 parsecs"), "no duration"),
        (("--require", "ST", "--engine", "local", "--master", "local[1]"), "--master"),
        (("--require", "ST", "--all-verdicts"), "--out"),
    ],
)
def test_usage_is_explained(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT, encoding="utf-8")
    ended = verify(path, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


CLOCKS = """\
{"execution":"a","entity":"A","seq":0,"event":"send","message":"m1","dest":["B","C"],"clock":{"A":1}}
{"execution":"a","entity":"B","seq":0,"event":"deliver","message":"m1","clock":{"A":1,"B":1}}
{"execution":"a","entity":"B","seq":1,"event":"send","message":"m2","dest":["C"],"clock":{"A":1,"B":2}}
{"execution":"a","entity":"C","seq":0,"event":"deliver","message":"m2","clock":{"A":1,"B":2,"C":1}}
{"execution":"a","entity":"C","seq":1,"event":"deliver","message":"m1","clock":{"A":1,"B":5,"C":2}}
"""


def test_what_counts_events_is_explained_on_the_whole_execution(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(CLOCKS, encoding="utf-8")
    (violation,) = json.loads(verify(path, "--require", "vector_time", "--format", "json").out)["violations"]
    assert "(5)" in violation["explanation"]
    assert "(2)" in violation["explanation"]


@pytest.mark.parametrize("required", ['forall p in RL["Z"]: not sent(p)', 'SP among "B" "Z"'])
def test_a_name_that_occurs_nowhere_is_told_and_is_no_pass(tmp_path: Path, required: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT, encoding="utf-8")
    ended = verify(path, "--require", required)
    assert ended.code == 3
    assert "Z is named in a requirement but occurs in no execution" in ended.out
    assert json.loads(verify(path, "--require", required, "--format", "json").out)["unmet"] == ["Z"]


def test_executions_without_a_message_are_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    crash = '{"execution": 9, "entity": "A", "seq": 0, "event": "crash"}\n'
    path.write_text(ORDERED + crash, encoding="utf-8")
    ended = verify(path, "--require", "ST")
    assert ended.code == 0
    assert "1 execution has no message: names hold vacuously there" in ended.out
    path.write_text(crash, encoding="utf-8")
    nothing = verify(path, "--require", "ST")
    assert nothing.code == 3
    # Where no execution has a message, that is the verdict, and no remark besides.
    assert "no message: names hold vacuously there" not in nothing.out


@pytest.mark.parametrize("name", ["m_", "_", "a\nholds", "\x1b[31m", 'q"\\', "\u2028", " "])
def test_a_figure_with_odd_names_can_be_pasted_back(tmp_path: Path, name: str) -> None:
    path, pasted = tmp_path / "trace.jsonl", tmp_path / "pasted.prec"
    path.write_text(SWAPPED.replace('"a"', json.dumps(name)), encoding="utf-8")
    ended = verify(path, "--require", "ST", "--format", "json")
    (violation,) = json.loads(ended.out)["violations"]
    text = f"scenario s\n{violation['figure']}\nexpect not order_equivalent\nexpect no_creation\nexpect SP\n"
    pasted.write_text(text, encoding="utf-8")
    checked = precedes("check", pasted)
    assert checked.code == 0, text + checked.out + checked.err
    assert "\x1b" not in verify(path, "--require", "ST").out


def test_two_specifications_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT, encoding="utf-8")
    for name, body in (("one", "true"), ("two", "false")):
        (tmp_path / f"{name}.prec").write_text(f"predicate mine := {body}\n", encoding="utf-8")
    specs = [word for name in ("one", "two") for word in ("--spec", tmp_path / f"{name}.prec")]
    ended = verify(path, "--require", "mine", *specs)
    assert (ended.code, ended.out) == (2, "")
    assert "mine is defined in" in ended.err


def test_a_place_that_cannot_be_written_is_told_and_left_clean(tmp_path: Path) -> None:
    path, out = tmp_path / "trace.jsonl", tmp_path / "out"
    path.write_text(KEPT, encoding="utf-8")
    (out / "verdicts.parquet").mkdir(parents=True)
    ended = verify(path, "--require", "ST", "--out", out)
    assert (ended.code, ended.out) == (2, "")
    assert "cannot write" in ended.err
    assert [file.name for file in out.iterdir()] == ["verdicts.parquet"]


CONSUMED = rows("1 B deliver a", "1 B deliver b", "1 C deliver a", "1 C deliver b", "2 B deliver a")
PRODUCED = rows("1 A send a B", "1 A send b B")
SPREAD = "forall p: sent(p) implies (exists i: p in RL[i])"


VACUOUS = [
    (CONSUMED, "order_equivalent", 0, []),
    (CONSUMED, "acyclic_order", 0, []),
    (CONSUMED, "deadline", 3, ["deadline"]),
    (CONSUMED, "1C", 3, ["1C", "order_preserving"]),
    (CONSUMED, "prefix_order", 3, ["prefix_order"]),
    (CONSUMED, "no_creation", 1, []),
    (CONSUMED, SPREAD, 3, [SPREAD]),
    (CONSUMED, "forall p: exists i: p in RL[i]", 0, []),
    (PRODUCED, "order_preserving", 3, ["order_preserving"]),
    (PRODUCED, "validity", 1, []),
    (KEPT, "causal_order", 3, ["causal_order"]),
    (KEPT, "order_equivalent", 3, ["order_equivalent"]),
    (KEPT, "true", 3, ["true"]),
    (
        KEPT,
        'forall p: p in RL["B"] or not p in RL["B"]',
        3,
        ['forall p: p in RL["B"] or not p in RL["B"]'],
    ),
    # A premise that is rarely met is none that cannot be.
    (ORDERED, "local_order", 0, []),
    (KEPT + CONSUMED, "1C", 0, []),
]


@pytest.mark.parametrize(
    ("engine", "text", "required", "code", "idle"),
    on_engines(4, VACUOUS, map(str, range(len(VACUOUS)))),
)
def test_what_holds_vacuously_is_no_pass(
    tmp_path: Path, engine: str, text: str, required: str, code: int, idle: list[str]
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text, encoding="utf-8")
    ended = verify(path, "--require", required, "--engine", engine, "--format", "json")
    assert ended.code == code, ended
    document = json.loads(ended.out)
    assert document["nothing_to_judge"] == idle
    # Verdicts on executions are what they were.
    counts = document["predicates"][required]
    assert counts["unknown"] == 0
    assert bool(counts["violated"]) == (code == 1)


def test_what_holds_vacuously_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(CONSUMED, encoding="utf-8")
    ended = verify(path, "--require", "deadline", "--require", "order_equivalent")
    assert ended.code == 3
    why = "none of the 2 executions contains a send, so there was nothing to check"
    assert f"notice vacuous: {why} (deadline)\n" in ended.out
    assert "\ndeadline          unknown   2 vacuous\n" in ended.out
    assert "notice T112 deliveries have no send" in ended.out
    assert "undecided: some requirements could not be judged" in ended.out


def test_a_delivery_that_is_not_recorded_may_have_happened(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(PRODUCED, encoding="utf-8")
    required = ("--require", "order_preserving", "--format", "json")
    assert json.loads(verify(path, *required, "--incomplete").out)["nothing_to_judge"] == []


def test_reasons_that_are_alike_are_told_once_with_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(KEPT.replace('"1"', f'"{x}"') for x in range(20, 26)), encoding="utf-8")
    ended = verify(path, "--require", "deadline")
    assert ended.out.count("deadline is unknown") == 1
    assert "executions 20, 21, 22, ...: deadline is unknown\n" in ended.out
    assert "as in --delta 100ms" in ended.out


UNSENT = [
    "1 A send a B",
    *(f"1 A send m{number} B" for number in (1, 2)),
    *(f"1 B deliver {name}" for name in ("a", "m1", "m2", "x3", "x1", "x2")),
]


@pytest.mark.parametrize("sender", ["A", "?"])
def test_what_has_no_send_is_named(tmp_path: Path, sender: str) -> None:
    """Also in a columnar file, and whether one knows who sent it or not."""
    given = rows(*UNSENT).splitlines()
    told = [json.loads(line) for line in given]
    for row in told:
        if row["message"].startswith("x"):
            row["sender"] = sender
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in told), encoding="utf-8")
    said = "  the send of a message was not logged: x1, x2 and 1 more\n"
    assert said in verify(path, "--require", "order_preserving").out
    converted = tmp_path / "trace.parquet"
    assert precedes("convert", path, "-o", converted).code == 0
    assert said in verify(converted, "--require", "order_preserving").out
    (unknown,) = json.loads(verify(path, "--require", "order_preserving", "--format", "json").out)["unknown"]
    assert unknown["reasons"] == ["the send of a message was not logged"]
    assert unknown["unsent"] == {"count": 3, "first": ["x1", "x2"]}
    page = tmp_path / "page.html"
    assert verify(path, "--require", "order_preserving", "--html", page).code == 3
    assert "not logged: x1, x2 and 1 more in execution 1" in page.read_text(encoding="utf-8")


def test_of_several_executions_the_first_names_what_has_no_send(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(
        "".join(
            f'{{"execution": "{x}", "entity": "B", "event": "deliver", "message": "m{x}", "sender": "A"}}\n'
            for x in (1, 2)
        ),
        encoding="utf-8",
    )
    said = verify(path, "--require", "selectively_information_preserving").out
    assert "executions 1, 2: selectively_information_preserving is unknown\n" in said
    assert "  the send of a message was not logged: m1 in execution 1\n" in said


def test_that_a_broadcast_is_one_is_told_where_it_may_be_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(rows("1 A send a", "1 A deliver a", "1 B deliver a"), encoding="utf-8")
    assert "T109" not in verify(path, "--require", "ST").out
    path.write_text(rows("1 A send a", "1 B deliver a"), encoding="utf-8")
    assert "T109 sends have no `dest`" in verify(path, "--require", "ST").out
