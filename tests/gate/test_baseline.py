"""Against a baseline: what would let a guarantee go without a word, and what would cry wolf."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command.running import Ended
from tests.gate.changes import EXAMPLE, MODEL, TIMERS
from tests.gate.projects import SWAPPED, changed, gate, project

EXPLORE = """\
baseline = "baseline.json"

[[explore]]
model = "model.py"
messages = 2
destinations = "broadcast"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = project(tmp_path)
    assert gate(made, "--write-baseline", "-q").code == 0
    return made


@pytest.fixture
def modelled(tmp_path: Path) -> Path:
    (tmp_path / "precedes.toml").write_text(EXPLORE, encoding="utf-8")
    text = (EXAMPLE / MODEL).read_text(encoding="utf-8") + TIMERS
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    return tmp_path


def rewritten(folder: Path, **texts: str) -> None:
    """The configuration with one [[verify]] that requires what is said, and the baseline of it."""
    lines = [f"{key} = {value}\n" for key, value in texts.items()]
    text = f'baseline = "baseline.json"\n[[verify]]\nfiles = ["traces/*.jsonl"]\n{"".join(lines)}'
    (folder / "precedes.toml").write_text(text, encoding="utf-8")


def test_checks_of_one_name_are_told_apart(modelled: Path) -> None:
    second = EXPLORE.partition("\n\n")[2].replace("messages = 2", "messages = 2\nearly = 1")
    (modelled / "precedes.toml").write_text(EXPLORE + second, encoding="utf-8")
    assert gate(modelled, "--write-baseline").out.startswith("passed: 8 passed in 2 checks")
    assert gate(modelled).code == 0
    changed(modelled, "precedes.toml", "early = 1\n", "")
    ended = gate(modelled)
    assert ended.code == 1
    assert "G201 error: explore model.py (2) is no longer run" in ended.out


def test_what_is_named_twice_is_checked_once(folder: Path) -> None:
    changed(folder, "precedes.toml", 'files = ["specs"]', 'files = ["specs", "specs/*.prec"]')
    with (folder / "precedes.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[check]]\nfiles = ["specs/first.prec"]\n')
    assert "7 passed in 3 checks" in gate(folder).out


def test_a_requirement_that_makes_way_for_an_expected_violation(modelled: Path) -> None:
    gate(modelled, "--write-baseline")
    changed(modelled, "model.py", "if one.number == state.due", "if one.number >= 0")
    changed(modelled, "precedes.toml", "messages = 2", 'messages = 2\nexpect = "violated"')
    ended = gate(modelled)
    assert ended.code == 1
    assert "G202 error: order_equivalent is no longer required, and nothing replaces it" in ended.out


def test_a_requirement_is_known_however_it_is_spaced(folder: Path) -> None:
    rewritten(folder, require='["SP   and  causal_order"]')
    gate(folder, "--write-baseline")
    rewritten(folder, require='["causal_order"]')
    ended = gate(folder)
    assert ended.code == 1
    assert "G202 error: SP and causal_order is no longer required" in ended.out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'budget = { SP = "0.1 %" }\n',
            'budget = { SP = "5 %" }\n',
            "budget per million: 50,000; the baseline has 1,000",
        ),
        ("budget", "#", ""),
        ('delta = "10ms"', 'delta = "10s"', "delta in ns: 10,000,000,000; the"),
        ('delta = "10ms"', 'delta = "9ms"', ""),
    ],
)
def test_settings_that_ask_for_less(folder: Path, old: str, new: str, said: str) -> None:
    rewritten(folder, require='["SP"]', budget='{ SP = "0.1 %" }', delta='"10ms"')
    gate(folder, "--write-baseline")
    changed(folder, "precedes.toml", old, new)
    ended = gate(folder)
    assert (ended.code, said in ended.out) == (1 if said else 0, True), ended.out
    assert ("G204" in ended.out) == bool(said)


def test_faults_and_losses_that_are_lowered(modelled: Path) -> None:
    simulate = '\n[[simulate]]\nmodel = "model.py"\nrequire = ["order_equivalent"]\nexecutions = 5\n'
    (modelled / "precedes.toml").write_text(EXPLORE + "dead = 1\n" + simulate, encoding="utf-8")
    gate(modelled, "--write-baseline")
    changed(modelled, "precedes.toml", "dead = 1", "dead = 0")
    changed(modelled, "precedes.toml", "executions = 5", "executions = 5\nmessages = 3")
    out = gate(modelled).out
    assert "G204 error: dead: 0; the baseline has 1" in out
    assert "G204 error: messages: 3; the baseline has 12" in out


def test_fixed_is_what_passes_now(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    gate(folder, "--write-baseline")
    changed(folder, "precedes.toml", '[[verify]]\nfiles = ["traces/*.jsonl"]\nrequire = ["SP"]\n', "")
    ended = gate(folder)
    assert (ended.code, "fixed:" in ended.out) == (1, False)
    assert "0 fixed" in ended.out


def test_what_cannot_be_compared_is_not_accepted_with_the_unknown(folder: Path) -> None:
    changed(folder, "precedes.toml", "baseline =", 'unknown = "accepted"\nbaseline =')
    assert gate(folder, "--write-baseline").code == 0
    assert gate(folder).code == 0
    changed(folder, "baseline.json", '"text": "SP"', '"text": "GONE"')
    ended = gate(folder)
    assert ended.code == 3
    assert "G202 undecided: SP cannot be compared with the baseline" in ended.out
    assert gate(folder, "--accept", "SP").code == 0


def test_nothing_checked_is_not_missed_when_something_is(tmp_path: Path) -> None:
    text = 'baseline = "baseline.json"\n[[check]]\nfiles = ["a.prec"]\n'
    (tmp_path / "precedes.toml").write_text(text, encoding="utf-8")
    (tmp_path / "a.prec").write_text("# nothing\n", encoding="utf-8")
    assert gate(tmp_path, "--write-baseline").code == 3
    (tmp_path / "a.prec").write_text("claim TO implies PO\n", encoding="utf-8")
    assert gate(tmp_path).code == 0


@pytest.mark.parametrize("name", ["a: b.prec", "../beside/a.prec", "link.prec"])
def test_names_are_the_same_wherever_the_gate_is_run(folder: Path, name: str) -> None:
    inside = folder / "project"
    project(inside)
    (folder / "beside").mkdir()
    text = (inside / "specs/first.prec").read_text(encoding="utf-8")
    (folder / "beside/a.prec").write_text(text, encoding="utf-8")
    (inside / "a: b.prec").write_text(text, encoding="utf-8")
    (inside / "link.prec").symlink_to("../beside/a.prec")
    changed(inside, "precedes.toml", '"specs"', f'"specs", "{name}"')
    assert gate(inside, "--write-baseline").code == 0
    below: Ended = gate(inside / "specs")
    elsewhere = gate(folder, "--config", inside.resolve() / "precedes.toml")
    for ended in (gate(inside), below, elsewhere):
        assert (ended.code, "G201" in ended.out) == (0, False), ended.out


def test_what_is_asked_in_quiescence_only_is_asked_less(modelled: Path) -> None:
    assert gate(modelled, "--write-baseline").code == 0
    changed(modelled, "precedes.toml", "messages = 2", "messages = 2\nquiescent = true")
    ended = gate(modelled)
    assert ended.code == 1
    assert "G204 error: quiescent only: 1; the baseline has 0" in ended.out
