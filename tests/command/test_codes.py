"""Every code is met by a small input, and what `precedes explain` says of it is what the program does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.error_codes import codes
from precedes.core.execution import EventKind
from precedes.engines.spark import java
from precedes.language.parsing.lexer import MAXIMUM_DEPTH
from precedes.language.syntax import Sort
from precedes.language.vocabulary import KEYWORDS, STATEMENTS, UNITS
from tests.command.running import precedes
from tests.gate.projects import gate

HEAD = "scenario s\ncluster A B\n"
TEXTS: Mapping[str, str] = {
    "P001": "claim ST implies SP ;",
    "P002": 'scenario s "a title\ncluster A',
    "P003": HEAD + "RL1: < a b\n",
    "P004": "claim ST implies implies SP",
    "P005": "clam ST implies SP",
    "P006": "claim " + "not (" * 101 + "ST" + ")" * 101,
    "P007": "predicate f := forall p: forall L: 1 < position(p, L) < 3",
    "P008": "predicate f := 1 and true",
    "P009": "predicate f(p: letter) := true",
    "P010": "find ST with crashes <= 2",
    "P011": HEAD + "DL1: < a ]",
    "P012": HEAD + "delta 1h",
    "P013": f"predicate f(L) := size(L) = {'9' * 400}",
    "P014": "predicate f := forall SL: true",
    "P018": HEAD + "RL1: < a ]\nSL1: < a{team:A} ]",
    "P016": "attribute key of entity: text",
    "P015": "predicate f(i) := forall p in RL[i, i]: true",
    "N001": "claim STT implies SP",
    "N002": HEAD + "RL1: < a ]\nexpect b in RL1",
    "N003": "predicate f(p: message) := origin(p) = p",
    "N004": "predicate f(L) := order_equivalent(L)",
    "N005": "predicate f(p: message) := p in p",
    "N006": "predicate f(x) := x = x",
    "N007": "predicate f := f",
    "N008": "predicate f := true\npredicate f := false",
    "N009": "predicate f := forall p, p: p = p",
    "N010": "predicate f := forall p in RL1: p = p",
    "N011": HEAD + "expect forall p in RL3: p = p",
    "N012": "predicate f(L) := size(L) * size(L) = 1",
    "N013": "".join(f"predicate f{n} := not f{n + 1}\n" for n in range(600))
    + "predicate f600 := true\nclaim f0",
    "N014": HEAD + "RL1: < a ]\nexpect size(RL1[2..]) = 0",
    "N016": "claim ST per hue implies ST",
    "N015": "predicate f(p: message) := dest(p) = dest(p)",
    "S001": "scenario s\nexpect ST",
    "S002": "scenario s\ncluster A A",
    "S003": HEAD + "SL1: < a{3} ]",
    "S004": "scenario s\ncluster A B C D E F G H I J\nSL1: < a_{23} ]",
    "S005": HEAD + "RL1: < a ]\nRL1: < b ]",
    "S006": HEAD + "SL1: < a ]\nSL2: < a ]",
    "S007": HEAD + "SL1: < a a ]",
    "S008": HEAD + "RL1: < crash ]",
    "S009": HEAD + "H1: < crash !a ]",
    "S010": HEAD + "SL1: < a || ]",
    "S011": HEAD + "SL1: < a{2} ]\nRL2: < a{1} ]",
    "S012": HEAD + "SL1: < a ]\nSL2: < b ]\nRL1: < a^2 ]",
    "S013": HEAD + "delta 1\ndelta 2",
    "S014": HEAD + "H1: < ?b !a ]\nH2: < ?a !b ]",
    "S015": "cluster A B",
    "S016": HEAD + "H1: < !a@99999999999s ]",
    "S017": HEAD + "H1: < a ]",
    "S018": HEAD + "SL1: < a[key=k1] b[priority=high] ]",
    "S019": HEAD + "SL1: < a{group:team} ]",
    "S020": HEAD + "H1: < view v{1} ]\nH2: < view v{2} ]",
}
"""Files that `check` refuses, and nothing else in them is wrong."""


@pytest.mark.parametrize("code", TEXTS)
def test_a_text_that_is_refused(code: str, tmp_path: Path) -> None:
    path = tmp_path / "f.prec"
    path.write_text(TEXTS[code] + "\n", encoding="utf-8")
    ended = precedes("check", path)
    assert ended.code == 2
    assert told(ended.err) == {code}, ended.err


def told(text: str) -> set[str]:
    """The codes in what is printed."""
    return set(re.findall(r"(?m)^(?:notice |.*: |passed: )?([A-Z]\d{3}) ", text))


SEND = {"execution": "x", "entity": "A", "seq": 0, "event": "send", "message": "m", "dest": ["B"]}
VIEW = {"execution": "x", "entity": "A", "event": "view", "view": "v"}
DELIVER = {"execution": "x", "entity": "B", "seq": 0, "event": "deliver", "message": "m"}
ROWS: Mapping[str, tuple[dict[str, object], ...]] = {
    "T008": (SEND,),
    "T010": ({"run": "x", "node": "A", "kind": "send"},) * 3,
    "T011": ({**SEND, "message": None}, DELIVER),
    "T012": ({**SEND, "seq": "first"},),
    "T013": ({**SEND, "event": "sned"},),
    "T014": ({**SEND, "message": ""},),
    "T015": ({**SEND, "seq": -1},),
    "T016": ({**SEND, "time": "yesterday"},),
    "T020": (SEND, {**SEND, "message": "n", "seq": None}),
    "T031": (SEND, {**SEND, "entity": "B", "seq": 1}),
    "T032": (SEND, {**SEND, "seq": 1, "dest": ["A"]}),
    "T033": (SEND, {**SEND, "message": "n"}),
    "T034": ({**SEND, "event": "crash", "message": None, "dest": None}, {**SEND, "seq": 1}),
    "T035": (SEND, {**DELIVER, "sender": "B"}),
    "T036": (SEND, {**DELIVER, "clock": [1, 1, 1]}),
    "T038": (SEND, {**VIEW, "seq": 1, "members": ["A"]}, {**VIEW, "seq": 2, "members": ["B"]}),
    "T039": ({**SEND, "group": "g"}, {**SEND, "seq": 1, "message": "n", "group": "h"}),
    "T101": ({**SEND, "colour": "red"}, DELIVER),
    "T102": ({**SEND, "seq": None}, {**DELIVER, "seq": None}),
    "T103": (SEND, SEND, DELIVER),
    "T104": (SEND, {**SEND, "seq": 1}, DELIVER),
    "T105": (SEND, {**DELIVER, "dest": ["A"]}),
    "T108": ({**SEND, "clock": {"A": 1, "Z": 1}}, DELIVER),
    "T109": ({**SEND, "dest": None}, {**SEND, "seq": 1, "message": "n"}, DELIVER),
    "T110": ({**SEND, "dest": ["B", "Z"]}, DELIVER),
    "T112": (SEND, DELIVER, {**DELIVER, "seq": 1, "message": "n"}),
    "T113": (
        SEND,
        {**DELIVER, "seq": None, "time": 2},
        {**DELIVER, "seq": None, "time": 1, "message": "n", "sender": "A"},
    ),
    "T114": ({**SEND, "time": 2}, {**SEND, "seq": 1, "message": "n", "time": 1}, DELIVER),
    "T115": ({**SEND, "clock": {"A": 1}}, {**DELIVER, "clock": {"B": 1}}),
    "T116": ({**SEND, "clock": {"A": 1}}, {**DELIVER, "clock": {"B": 1}}),
    "T117": ({**SEND, "clock": {"A": 1}}, {**DELIVER, "clock": {"B": 1}}),
}
"""Rows of a trace that are refused, contradict each other or are told of."""
ORDER = {"T116": ("--order", "rows"), "T117": ("--order", "clocks")}
STRICT = ("T031", "T032", "T033", "T034", "T035", "T036", "T038", "T039")


@pytest.mark.parametrize("code", ROWS)
def test_rows_of_a_trace(code: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [json.dumps({key: value for key, value in row.items() if value is not None}) for row in ROWS[code]]
    text = "".join(f"{row}\n" for row in rows)
    if code == "T008":
        text = text.replace('"seq": 0', '"seq": 0, "seq": 0')
    path.write_text(text, encoding="utf-8")
    strict = ["--strict"] if code in STRICT else []
    ended = precedes("verify", path, "--require", "order_equivalent", *strict, *ORDER.get(code, ()))
    assert code in told(ended.out + ended.err), ended
    refused = code < "T100"
    assert (ended.code == 2) is refused
    if strict:
        # Without it what they touch is unknown, and the rest is judged.
        assert precedes("verify", path, "--require", "order_equivalent").code == 3


GOOD = f"{json.dumps(SEND)}\n{json.dumps(DELIVER)}\n"


def files_of_a_trace(folder: Path) -> Mapping[str, tuple[object, ...]]:
    """Arguments of `verify` by the code that they lead to."""
    (folder / "t.jsonl").write_text(GOOD, encoding="utf-8")
    (folder / "t.txt").write_text(GOOD, encoding="utf-8")
    (folder / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (folder / "damaged.parquet").write_bytes(b"PAR1")
    (folder / "latin.jsonl").write_bytes(GOOD.replace('"m"', '"\xe4"').encode("latin-1"))
    (folder / "cut.jsonl").write_text(GOOD[:-10], encoding="utf-8")
    (folder / "array.jsonl").write_text(json.dumps([SEND, DELIVER]), encoding="utf-8")
    (folder / "header.csv").write_text("execution,entity,event,message\n", encoding="utf-8")
    (folder / "cells.csv").write_text("execution,entity,event,message\nx,A,send\n", encoding="utf-8")
    (folder / "commas.csv").write_text(
        'execution,entity,event,message,dest\nx,A,send,m,"B,C"\nx,B,deliver,m,\n', encoding="utf-8"
    )
    partitioned = folder / "partitioned/execution=7"
    partitioned.mkdir(parents=True)
    (partitioned / "t.jsonl").write_text(GOOD, encoding="utf-8")
    mixed = folder / "mixed"
    mixed.mkdir()
    (mixed / "t.jsonl").write_text(GOOD, encoding="utf-8")
    (mixed / "notes.md").write_text("no trace", encoding="utf-8")
    (folder / "folder.parquet").mkdir()
    return {
        "T001": (folder / "none.jsonl",),
        "T002": (folder / "t.txt",),
        "T004": (folder / "cut.jsonl.gz",),
        "T005": (folder / "damaged.parquet",),
        "T006": (folder / "latin.jsonl",),
        "T007": (folder / "cut.jsonl",),
        "T009": (folder / "array.jsonl",),
        "T017": (folder / "cells.csv",),
        "T018": (folder / "partitioned",),
        "T106": (mixed,),
        "T107": (folder / "t.jsonl", folder / "t.jsonl"),
        "T111": (folder / "commas.csv",),
        "T120": (folder / "t.jsonl", folder / "header.csv"),
    }


FILES = (
    "T001",
    "T002",
    "T004",
    "T005",
    "T006",
    "T007",
    "T009",
    "T017",
    "T018",
    "T106",
    "T107",
    "T111",
    "T120",
)


@pytest.mark.parametrize("code", FILES)
def test_files_of_a_trace(code: str, tmp_path: Path) -> None:
    ended = precedes("verify", *files_of_a_trace(tmp_path)[code], "--require", "order_equivalent")
    assert told(ended.out + ended.err) >= {code}, ended
    assert (ended.code == 2) is (code < "T100")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text(GOOD, encoding="utf-8")
    (tmp_path / "o.parquet").mkdir()
    ended = precedes("convert", trace, "-o", tmp_path / "o.parquet")
    assert (ended.code, told(ended.err)) == (2, {"T003"}), ended


def test_what_cannot_be_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(precedes("verify", tmp_path).err) == {"U001"}
    (tmp_path / "scenario.prec").write_text("scenario s\ncluster A\n", encoding="utf-8")
    refused = precedes("draw", tmp_path / "scenario.prec", "-o", tmp_path / "none/x.svg")
    assert (refused.code, told(refused.err)) == (2, {"U003"})
    monkeypatch.setattr("precedes.reports.error_codes.listed", lambda: 1 // 0)
    failed = precedes("explain")
    assert (failed.code, told(failed.err)) == (2, {"I001"})
    assert "PRECEDES_DEBUG=1" in failed.err


def test_there_is_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_carried", lambda: None)
    with pytest.raises(PrecedesError) as caught:
        java.find_java({"PATH": ""})
    assert told(str(caught.value)) == {"U002"}
    assert f"version {java.OLDEST} or newer" in help_of("U002")


MODEL = """\
from precedes.protocol import Deliver, Message, Protocol, Reliable, Step, Transmit


class Echo(Protocol[int]):
    name = "echo"
    claims = ("causal_order",)

    @property
    def network(self):
        return Reliable()

    def start(self, here):
        return 0

    def send(self, here, state, message):
        return Step(state, (Transmit(message),))

    def arrive(self, here, state, packet, sender):
        return Step(state, (Deliver(packet),))
"""
MODELS: Mapping[str, tuple[str, str]] = {
    "M002": ("(Protocol[int])", ""),
    "M003": ("class Echo", "import nothing_of_that_name\n\n\nclass Echo"),
    "M005": ("return Step(state, (Deliver(packet),))", "raise KeyError(packet)"),
    "M006": ("return Step(state, (Deliver(packet),))", "return packet"),
    "M007": ("return 0", "return []"),
    "M008": ("(Deliver(packet),)", "(Deliver(Message(0, 9, frozenset((1,)))),)"),
    "M012": ('("causal_order",)', '"causal_order"'),
    "M013": ("name =", "answers = False\n    name ="),
}
"""What is changed in a model, and the code that it leads to."""


@pytest.mark.parametrize("code", MODELS)
def test_a_model_that_is_refused(code: str, tmp_path: Path) -> None:
    old, new = MODELS[code]
    text = MODEL.replace(old, new, 1)
    if code == "M013":
        text = text.replace("(Deliver(packet),)", "(Deliver(packet), Transmit(packet))")
    assert text != MODEL
    path = tmp_path / "echo.py"
    path.write_text(text, encoding="utf-8")
    ended = precedes("explore", path, "--entities", 2, "--messages", 1)
    assert (ended.code, told(ended.err)) == (2, {code}), ended.err


def test_a_model_that_is_not_there_and_a_parameter_that_it_has_not() -> None:
    assert told(precedes("explore", "nothing").err) == {"M001"}
    assert told(precedes("explore", "cmd", "--set", "speed=2").err) == {"M004"}


CHECK = '[[check]]\nfiles = ["*.prec"]\n'
VERIFY = '[[verify]]\nfiles = ["t.jsonl"]\nrequire = ["order_preserving"]\n'
FIGURE = "cluster A B\nSL1: < a b ]\nRL2: < b a ]\n"
GATE: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "C001": ("[[check]\n", {}),
    "C002": (CHECK + "timeouts = 3\n", {"s.prec": f"scenario s\n{FIGURE}expect not ST\n"}),
    "C003": (CHECK + 'timeout = "long"\n', {"s.prec": f"scenario s\n{FIGURE}expect not ST\n"}),
    "C004": (
        'baseline = "b.json"\n' + CHECK,
        {"s.prec": f"scenario s\n{FIGURE}expect not ST\n", "b.json": "{"},
    ),
    "G101": (CHECK, {"s.prec": f"scenario s\n{FIGURE}expect ST\n"}),
    "G102": (CHECK, {"s.prec": "claim SP implies ST\n"}),
    "G103": (
        '[[explore]]\nmodel = "cmd-auxiliary"\nas-written = true\nmessages = 2\nrequire = ["validity"]\n',
        {},
    ),
    "G104": (
        '[[simulate]]\nmodel = "cmd-auxiliary"\nas-written = true\nexecutions = 50\nrequire = ["validity"]\n',
        {},
    ),
    "G105": (
        VERIFY,
        {
            "t.jsonl": "".join(
                f"{json.dumps(row)}\n"
                for row in (
                    SEND,
                    {**SEND, "seq": 1, "message": "n"},
                    {**DELIVER, "message": "n"},
                    {**DELIVER, "seq": 1},
                )
            )
        },
    ),
    "G301": (CHECK, {"s.prec": "predicate f := true\n"}),
}
"""A configuration and the files beside it."""


@pytest.mark.parametrize("code", GATE)
def test_a_run_of_the_gate(code: str, tmp_path: Path) -> None:
    configuration, beside = GATE[code]
    for name, text in {"precedes.toml": configuration, **beside}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ended = gate(tmp_path)
    assert code in told(ended.out + ended.err), ended
    assert ended.code == (2 if code < "G" else 3 if code == "G301" else 1)


def test_every_code_is_met() -> None:
    """Here, or in a test of its own where it takes more than a small input; failures of Spark (K) need a Spark."""
    here = {*TEXTS, *ROWS, *FILES, *MODELS, *GATE}
    here |= {"T003", "U001", "U002", "U003", "I001", "M001", "M004"}
    assert here <= set(codes())
    others = (path for path in Path(__file__).parents[1].rglob("*.py") if path != Path(__file__))
    text = "\n".join(path.read_text(encoding="utf-8") for path in others)
    rest = [code for code in codes() if code not in here and not code.startswith("K")]
    assert [code for code in rest if not re.search(rf"\b{code}\b", text)] == []


# ---- what is said of them --------------------------------------------------------------------------------------


def help_of(code: str) -> str:
    """All that `explain` says."""
    return " ".join(precedes("explain", code).out.split())


def test_explanations_name_what_there_is() -> None:
    """Lists in explanations are those of the program."""
    units = [unit for unit in UNITS if unit.isascii()]
    assert f"The units are {', '.join(units[:-1])} and {units[-1]}" in help_of("P012")
    statements = {word for word, kind in KEYWORDS.items() if kind in STATEMENTS and word.isascii()}
    assert statements <= set(re.findall(r"\w+", help_of("P005")))
    assert {sort.value for sort in Sort} <= set(re.findall(r"\w+", help_of("P009")))
    assert {kind.value for kind in EventKind} <= set(re.findall(r"\w+", help_of("T013")))
    assert MAXIMUM_DEPTH == 100
    assert "a hundred deep" in help_of("P006")


def test_times_in_a_scenario_may_run_against_its_order(tmp_path: Path) -> None:
    """S016 is about the size of a time alone: a history has its order, and clocks may be set back."""
    path = tmp_path / "f.prec"
    path.write_text(HEAD + "H1: < !a{2}@5 !b{2}@0.2 ]\nH2: < ?a@6 ?b@7 ]\nexpect SP\n", encoding="utf-8")
    assert precedes("check", path).code == 0
    assert "the order counts" in help_of("S016")


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.isascii()])
def test_every_unit_is_read(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "f.prec"
    path.write_text(HEAD + f"delta 1{unit}\nH1: < !a{{2}}@0 ]\nH2: < ?a@1{unit} ]\nexpect deadline\n")
    assert precedes("check", path).code == 0
    path.write_text("predicate f := forall i: forall p in RL[i]: deliver_time(p, i) - send_time(p) <= 1h\n")
    assert "h is not a unit; the units are" in precedes("check", path).err
