"""`precedes infer`: the strongest that a trace keeps, and nothing that it does not keep."""

from __future__ import annotations

import json
import shlex
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from precedes.jobs.infer import OF_CRASHES, proved
from precedes.language.library import standard_library
from tests.command.documents import ROOT
from tests.command.running import precedes
from tests.command.test_verify import CONSUMED, ENGINES, KEPT, SWAPPED, rows
from tests.sampling import one_in

SAMPLES = sorted((ROOT / "traces").glob("*.jsonl.gz"))
CHAIN = rows(
    "1 A send a B,C", "1 B deliver a", "1 B send b C", "1 C deliver b", "1 C deliver a", "1 D send d B,C"
)


def inferred(path: Path, *arguments: object) -> dict[str, Any]:
    ended = precedes("infer", path, "--format", "json", *arguments)
    assert ended.code == 0, ended.err
    document: dict[str, Any] = json.loads(ended.out)
    return document


@cache
def of_sample(sample: Path) -> dict[str, Any]:
    """What is inferred of a sample, which several tests look at."""
    return inferred(sample)


def counts(path: Path, names: list[str]) -> dict[str, dict[str, int]]:
    required = [word for name in names for word in ("--require", name)]
    found: dict[str, dict[str, int]] = json.loads(
        precedes("verify", path, "--format", "json", *required).out
    )["predicates"]
    return found


def members(groups: dict[str, Any]) -> set[str]:
    return {name for first, others in groups.items() for name in (first, *others)}


def test_there_are_samples() -> None:
    assert len(SAMPLES) >= 4


@pytest.mark.parametrize("sample", one_in(2, SAMPLES, [path.name for path in SAMPLES]))
def test_every_name_is_told_as_verify_judges_it(sample: Path) -> None:
    found = of_sample(sample)
    known = [name for names in proved().equal.values() for name in names if name not in OF_CRASHES]
    judged = counts(sample, known)
    broken = {name: group["with"] for name, group in found["broken"].items()}
    idle = set(found["nothing_to_judge"])
    assert members(found["kept"]) | idle == {
        name for name in known if judged[name]["holds"] == found["executions"]
    }
    assert not members(found["kept"]) & idle
    assert members(broken) == {name for name in known if judged[name]["violated"]}
    assert set(found["unknown"]) <= {
        name for name in known if judged[name]["unknown"] and not judged[name]["violated"]
    }
    for name, group in found["broken"].items():
        assert group["violated"] == judged[name]["violated"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_only_the_strongest_kept_and_the_weakest_broken_lead(sample: Path) -> None:
    found = of_sample(sample)
    assert found["kept"]
    for groups in (found["kept"], found["broken"]):
        for one, other in permutations(groups, 2):
            assert not proved().implies(one, other), (one, other)
    for name, follow in found["kept"].items():
        assert all(proved().implies(name, other) for other in follow)
    for name, group in found["broken"].items():
        assert all(proved().implies(other, name) for other in group["with"])


@pytest.mark.parametrize("engine", ENGINES)
def test_both_engines_infer_the_same(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT + SWAPPED)
    found = inferred(path, "--engine", engine)
    assert "selectively_information_preserving" in found["kept"]
    # No sender sent two messages.
    assert {"SP", "CO", "causal_order", "causal_delivery"} <= set(found["nothing_to_judge"])
    assert found["broken"]["order_equivalent"]["violated"] == 1
    assert "ST" in found["broken"]["order_equivalent"]["with"]


def test_the_text(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT + SWAPPED)
    ended = precedes("infer", path)
    assert ended.code == 0
    assert "satisfied in every execution\n  selectively_information_preserving " in ended.out
    width = len("selectively_information_preserving")
    assert f"\n  {'order_equivalent':<{width}}  1 of 2  both logs have" in ended.out
    assert (
        f"  {'vector_time':<{width}}  2 of 2  the recorded clocks are the ones that the events imply ("
        in ended.out
    )
    assert (
        "\nvacuous: in no execution could these have been violated, so there was nothing to check\n  causal_order  "
        in ended.out
    )
    assert ended.out.splitlines()[-1].startswith("inferred from 2 executions, 9 events, ")


def test_a_time_makes_deadlines_judgeable(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    timed = [json.loads(row) | {"time": place} for place, row in enumerate(CHAIN.splitlines())]
    path.write_text("".join(json.dumps(row) + "\n" for row in timed))
    assert "deadline" in inferred(path)["unknown"]
    broken = inferred(path, "--delta", "500ms")["broken"]
    assert "deadline" in broken
    assert "deadline" not in inferred(path, "--delta", "4s")["broken"]


def test_names_of_ones_own_are_judged_and_nothing_is_taken_for_proved_of_them(tmp_path: Path) -> None:
    spec = tmp_path / "own.prec"
    spec.write_text(
        'predicate spread "everything reaches two" := forall p: exists i, j: i != j and p in RL[i] and p in RL[j]\n'
        "predicate some(p) := exists i: p in RL[i]\n"
        "service ST := no_duplication\n"
    )
    path = tmp_path / "trace.jsonl"
    path.write_text(KEPT + SWAPPED)
    found = inferred(path, "--spec", spec)
    assert found["kept"]["spread"] == []
    # Defined anew: it is kept, and the library's ST says nothing of this one.
    assert found["kept"]["ST"] == []
    assert "some" not in members(found["kept"])


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "the trace has no execution"), (rows("1 A crash -"), "there was no message")],
)
def test_nothing_is_inferred_from_nothing(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text.replace(', "message": "-"', ""))
    ended = precedes("infer", path)
    assert ended.code == 3
    assert f"undecided: {said}, so nothing can be inferred" in ended.out


def test_every_unknown_name_has_its_reason_however_many_there_are(tmp_path: Path) -> None:
    """A retry to one of two: what was sent to whom is contradicted, and then nothing is known."""
    rows = [
        ("A", 0, "send", ["B", "C"]),
        ("A", 1, "send", ["C"]),
        ("B", 0, "deliver", None),
        ("C", 0, "deliver", None),
    ]
    keys = ("entity", "seq", "event", "dest")
    text = "".join(
        json.dumps({"execution": "x", "message": "m", **dict(zip(keys, row, strict=True))}) + "\n"
        for row in rows
    )
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    found = json.loads(precedes("infer", tmp_path / "x.jsonl", "--format", "json").out)
    reasons = {each["reason"] for each in found["unknown"].values()}
    assert len(found["unknown"]) > 20
    assert all("is sent to {B,C}" in reason for reason in reasons), reasons


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("{\n")
    ended = precedes("infer", path)
    assert ended.code == 2
    assert not ended.out
    assert "trace.jsonl" in ended.err


def test_what_holds_vacuously_is_neither_kept_nor_suggested(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(CONSUMED)
    found = inferred(path)
    assert members(found["kept"]) == {
        "order_equivalent",
        "information_equivalent",
        "equivalent",
        "acyclic_order",
        "no_duplication",
    }
    assert {"causal_order", "deadline", "vector_time", "1C"} <= set(found["nothing_to_judge"])
    # With a causal chain that is met there is something to judge.
    path.write_text(CONSUMED + CHAIN.replace('"1"', '"3"'))
    assert "causal_order" in inferred(path)["broken"]


def test_deliveries_alone_may_keep_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(CONSUMED.replace('"b"', '"a"').replace("deliver", "arrive"))
    ended = precedes("infer", path)
    assert ended.code == 3
    assert "nothing is satisfied for certain" in ended.out
    assert "to require this" not in ended.out


def test_the_commands_can_be_pasted(tmp_path: Path) -> None:
    spec, path = tmp_path / "my own.prec", tmp_path / "a trace.jsonl"
    spec.write_text("predicate spread := forall p: exists i: p in RL[i]\n")
    path.write_text(KEPT + SWAPPED)
    given = ("--spec", spec, "--delta", "2s", "--cluster", "Z,Y", "--epsilon", "1ms", "--strict")
    ended = precedes("infer", path, *given)
    (hold,) = [line for line in ended.out.splitlines() if line.startswith("to require this: ")]
    (see,) = [line for line in ended.out.splitlines() if line.startswith("to see a violation: ")]
    for line, code in ((hold, 0), (see, 1)):
        program, *words = shlex.split(line.partition(": ")[2])
        assert program == "precedes"
        assert {str(word) for word in (path, *given)} <= set(words)
        again = precedes(*words)
        assert (again.code, again.err) == (code, "")


KEYED = (
    '{"execution": "1", "entity": "A", "event": "send", "message": "a", "dest": ["B", "C"], "key": "k1"}',
    '{"execution": "1", "entity": "A", "event": "send", "message": "b", "dest": ["B", "C"], "key": "k2"}',
    '{"execution": "1", "entity": "A", "event": "send", "message": "c", "dest": ["B", "C"], "key": "k1"}',
    '{"execution": "1", "entity": "B", "event": "deliver", "message": "b"}',
    '{"execution": "1", "entity": "B", "event": "deliver", "message": "a"}',
    '{"execution": "1", "entity": "B", "event": "deliver", "message": "c"}',
    '{"execution": "1", "entity": "C", "event": "deliver", "message": "a"}',
    '{"execution": "1", "entity": "C", "event": "deliver", "message": "c"}',
    '{"execution": "1", "entity": "C", "event": "deliver", "message": "b"}',
)


def test_every_name_is_tried_per_key(tmp_path: Path) -> None:
    path = tmp_path / "keyed.jsonl"
    path.write_text("\n".join(KEYED) + "\n", encoding="utf-8")
    whole, keyed = inferred(path), inferred(path, "--per", "key")
    broken = [
        members({name: group["with"] for name, group in each["broken"].items()}) for each in (whole, keyed)
    ]
    assert {"SP", "ST"} <= broken[0]
    assert {"ST per key", "CO per key", "acyclic_order per key"} <= members(keyed["kept"])
    assert all(name.endswith(" per key") for name in members(keyed["kept"]) | broken[1])
    assert "SP per key" in keyed["kept"]["ST per key"]
    # A proof about happens-before says nothing of parts: messages of other keys may make it.
    assert "fifo_delivery per key" not in keyed["kept"].get("causal_delivery per key", ())
    asked = list(keyed["kept"])[:3]
    assert all(each["holds"] == 1 for each in counts(path, asked).values())
    text = precedes("infer", path, "--per", "key").out
    [command] = [line for line in text.splitlines() if line.startswith("to require this: ")]
    assert "--require 'ST per key'" in command


def test_without_the_attribute_nothing_is_inferred(tmp_path: Path) -> None:
    path = tmp_path / "keyed.jsonl"
    path.write_text("\n".join(KEYED) + "\n", encoding="utf-8")
    ended = precedes("infer", path, "--per", "session,key", "--format", "json")
    assert ended.code == 3
    found = json.loads(ended.out)
    assert not found["kept"]
    assert not found["broken"]
    assert found["unknown"]["order_preserving per (session, key)"]["unknown"] == 1


def test_an_attribute_that_is_not_declared_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keyed.jsonl"
    path.write_text("\n".join(KEYED) + "\n", encoding="utf-8")
    ended = precedes("infer", path, "--per", "kee")
    assert ended.code == 2
    assert "--per: N016 there is no attribute kee" in ended.err
    assert "did you mean key?" in ended.err


CRASHED = """
{"execution":"x","entity":"P","event":"send","message":"a","dest":["C","D"]}
{"execution":"x","entity":"P","event":"send","message":"b","dest":["C","D"]}
{"execution":"x","entity":"C","event":"deliver","message":"a"}
{"execution":"x","entity":"C","event":"deliver","message":"b"}
{"execution":"x","entity":"D","event":"deliver","message":"b"}
{"execution":"x","entity":"D","event":"deliver","message":"a"}
{"execution":"x","entity":"D","event":"crash"}
"""


def test_what_correct_entities_keep_is_told_where_one_crashed(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for text, there in ((CRASHED, True), (CRASHED.strip().rpartition("\n")[0], False)):
        path.write_text(text, encoding="utf-8")
        found = json.loads(precedes("infer", path, "--format", "json").out)
        named = members(found["kept"]) | members({n: o["with"] for n, o in found["broken"].items()})
        assert ("nonuniform_total_order" in named) is there
        assert "order_equivalent" in named
    assert {name for name in standard_library().names() if name.startswith("nonuniform_")} == OF_CRASHES
