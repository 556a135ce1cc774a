"""`[[conform]]`: what the gate finds, and what makes it weaker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from precedes.core.isolation import Channel
from precedes.gate.checks import behaviors
from precedes.gate.config import Conformance, load
from precedes.gate.entry import Entry
from precedes.gate.findings import Mark
from precedes.gate.scope import weaker
from precedes.gate.surveys import Instance, Survey
from tests.gate.projects import gate

TRACE = """\
{"execution": "x", "entity": "E1", "seq": 0, "event": "send", "message": "m", "dest": ["E3"]}
{"execution": "x", "entity": "E1", "seq": 1, "event": "send", "message": "n", "dest": ["E2"]}
{"execution": "x", "entity": "E2", "seq": 0, "event": "deliver", "message": "n"}
{"execution": "x", "entity": "E2", "seq": 1, "event": "send", "message": "p", "dest": ["E3"]}
{"execution": "x", "entity": "E3", "seq": 0, "event": "deliver", "message": "m"}
{"execution": "x", "entity": "E3", "seq": 1, "event": "deliver", "message": "p"}
"""
WRONG = (
    TRACE.replace('"deliver", "message": "m"', '"deliver", "message": "?"')
    .replace('"seq": 1, "event": "deliver", "message": "p"', '"seq": 1, "event": "deliver", "message": "m"')
    .replace('"message": "?"', '"message": "p"')
)

BROKEN = """\
from precedes.protocol import Protocol, Reliable


class Broken(Protocol[None]):
    network = Reliable()

    def start(self, here):
        raise OSError

    def send(self, here, state, message):
        return None

    def arrive(self, here, state, packet, sender):
        return None
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run.jsonl").write_text(TRACE, encoding="utf-8")
    text = '[[conform]]\nmodel = "cmd"\nfiles = ["run.jsonl"]\n'
    (tmp_path / "precedes.toml").write_text(text, encoding="utf-8")
    return tmp_path


def check(folder: Path, **settings: Any) -> behaviors.BehaviorCheck:
    """The check of one `[[conform]]`, as if the model had been looked at."""
    stated = Conformance(model="cmd", files=("run.jsonl",), **settings)
    entry = Entry(folder / "precedes.toml", "conform")
    return next(behaviors.checks(folder, entry, stated, Survey((Instance("cmd", 0, "unicast"),))))


def test_what_conforms_passes(folder: Path) -> None:
    (item,) = check(folder).run(Channel())
    assert (item.rule, item.result, item.message) == ("G106", "passed", "1 execution conforms")
    assert item.name == "conform cmd run.jsonl: every execution is a behavior of the model"
    assert item.facts == {"executions": 1, "violated": 0, "unknown": 0}


def test_what_does_not_conform_fails_with_its_first_event(folder: Path) -> None:
    (folder / "run.jsonl").write_text(WRONG, encoding="utf-8")
    (item,) = check(folder).run(Channel())
    assert (item.result, item.message, item.place.path) == (
        "failed",
        "1 of 1 execution does not conform",
        "run.jsonl",
    )
    assert "x does not conform: E3 delivers p (its event 1), and no run has that" in item.detail
    assert item.marks == (Mark("E3", "deliver", "p"),)
    assert "H3: < ?p ?m ]" in item.scenario


def test_nothing_and_what_is_undecided_do_not_pass(folder: Path) -> None:
    (folder / "run.jsonl").write_text(WRONG, encoding="utf-8")
    (item,) = check(folder, states=1).run(Channel())
    assert (item.result, item.message) == ("undecided", "undecided in 1 of 1 execution")
    (folder / "run.jsonl").write_text("", encoding="utf-8")
    (item,) = check(folder).run(Channel())
    assert (item.rule, item.result) == ("G301", "undecided")


@pytest.mark.parametrize(
    "settings",
    [
        {"losses": 3},
        {"timeouts": 201},
        {"ignore": ("clock",)},
        {"quiescent": False},
        {"state": {}},
        {"entities": 4},
        {"strict": False},
        {"order": "rows"},
    ],
    ids=lambda settings: "".join(settings),
)
def test_a_check_that_asks_less_is_weaker(folder: Path, settings: dict[str, Any]) -> None:
    before: dict[str, Any] = {"quiescent": True, "state": {"clock": "c"}, "strict": True}
    was, now = check(folder, **before).scope, check(folder, **{**before, **settings}).scope
    assert len(list(weaker(was, now))) == 1
    assert list(weaker(was, was)) == []


@pytest.mark.slow
def test_the_whole_gate(folder: Path) -> None:
    assert load(folder / "precedes.toml").conform
    ended = gate(folder, "-v")
    assert (ended.code, "passed: 1 passed in 1 check" in ended.out) == (0, True), ended
    (folder / "run.jsonl").write_text(WRONG, encoding="utf-8")
    ended = gate(folder)
    assert ended.code == 1
    assert "run.jsonl:1: G106 error: 1 of 1 execution does not conform" in ended.out


def test_a_mistake_of_the_model_is_told_at_the_model(folder: Path) -> None:
    (folder / "model.py").write_text(BROKEN, encoding="utf-8")
    (folder / "precedes.toml").write_text(
        '[[conform]]\nfiles = ["run.jsonl"]\nmodel = "model.py"\n', encoding="utf-8"
    )
    ended = gate(folder)
    assert ended.code == 2
    assert "precedes.toml:3:1: M005 model: start of E1 raised OSError" in ended.err
