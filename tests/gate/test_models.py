"""Models under the gate: what they may do to it, and what a kept result of one depends on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from precedes.gate import cache
from tests.command.running import precedes
from tests.gate.changes import EXAMPLE, MODEL
from tests.gate.projects import changed, gate, project

BEHIND = "if one.number == state.due"
EXPLORE = """\
[[explore]]
model = "{}"
messages = 2
destinations = "broadcast"
"""
HELPER = "def due(number, state):\n    return number == state.due\n"


def written(path: Path, old: str = "", new: str = "") -> Path:
    """The example's model, changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (EXAMPLE / MODEL).read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
    return path


def helped(path: Path, how: str = "from due import due") -> Path:
    """The model with what decides its order in a module of its own."""
    written(path, BEHIND, "if due(one.number, state)")
    changed(path.parent, path.name, "SEQUENCER = 0", f"{how}\nSEQUENCER = 0")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "precedes.toml").write_text(EXPLORE.format("model.py"), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("SEQUENCER = 0", "raise SystemExit(0)", "M003"),
        (
            "        return State()",
            "        raise SystemExit(0)",
            "M005 sequencer: start of E1 raised SystemExit: 0",
        ),
    ],
    ids=["read", "run"],
)
def test_a_model_that_ends_the_program_does_not_pass(folder: Path, old: str, new: str, said: str) -> None:
    written(folder / "model.py", old, new)
    ended = gate(folder)
    assert (ended.code, said in ended.err) == (2, True), ended
    assert precedes("explore", folder / "model.py").code == 2


@pytest.mark.parametrize(
    ("old", "new", "said", "closing"),
    [
        (
            "SEQUENCER = 0",
            "raise SystemExit(0)",
            "M003",
            "could not run: 1 error, 6 passed in the other 3 checks",
        ),
        ("return State()", "raise OSError", "M005", "could not run: 1 error, 6 passed in the other 3 checks"),
        ("SEQUENCER = 0", "SEQUENCER = 0", "", "failed: 2 errors, 10 passed in 4 checks"),
    ],
    ids=["read", "run", "as it is"],
)
def test_what_cannot_run_does_not_hide_what_other_checks_found(
    tmp_path: Path, old: str, new: str, said: str, closing: str
) -> None:
    folder = project(tmp_path)
    written(folder / "model.py", "", "")
    with (folder / "precedes.toml").open("a", encoding="utf-8") as file:
        file.write(EXPLORE.format("model.py"))
    gate(folder, "--write-baseline")
    kept = (folder / "baseline.json").read_bytes()
    written(folder / "model.py", old, new)
    changed(folder, "specs/first.prec", "expect SP", "expect not SP")
    ended = gate(folder, "--output", "json:report.json")
    assert (ended.code, said in ended.err) == (2 if said else 1, True), ended
    assert "specs/first.prec:5: G101 error" in ended.out
    assert ended.out.splitlines()[-1].startswith(closing)
    assert (folder / "report.json").exists() is not bool(said)
    if said:
        # What a check did not find because it could not run was not removed, and a document would lack it.
        assert "G201" not in ended.out
        assert gate(folder, "--format", "json").out == ""
        assert "error file=specs/first.prec,line=5" in gate(folder, "--format", "github").out
        gate(folder, "--write-baseline")
        assert (folder / "baseline.json").read_bytes() == kept


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("modle.py", "M001 no such file"),
        ('cmd"\nset = {limt = 1}#', "M004 cmd has no parameter limt"),
        ('raynal-schiper-toueg"\nas-written = true#', "U001 raynal-schiper-toueg has one form"),
    ],
)
def test_a_mistake_of_the_configuration_is_told_before_checks_run(
    folder: Path, model: str, said: str
) -> None:
    written(folder / "model.py")
    text = EXPLORE.format("model.py") + EXPLORE.format(model)
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(folder)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


HOSTILE = {
    "ends": "import os; os._exit(0)",
    "is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "hangs": "while True: pass",
    "raises": "raise KeyboardInterrupt",
    "patches": "import precedes.protocol.exploration.judgment as j; j.Judge.fail = lambda *_: None; return State()",
}


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("what", HOSTILE)
def test_a_model_without_a_verdict_is_told_and_others_are_judged(folder: Path, what: str, jobs: int) -> None:
    written(folder / "model.py", "        return State()", f"        {HOSTILE[what]}")
    written(folder / "other.py")
    text = "hang-limit = 2\n" + EXPLORE.format("other.py") + EXPLORE.format("model.py")
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(folder, "--jobs", jobs)
    assert (ended.code, ended.out) == (2, "could not run: 4 passed in the other check\n"), ended
    assert ended.err.startswith("M01"), ended.err
    assert "no verdict on explore model.py" in ended.err
    assert "other.py" not in ended.err
    # What the others came to is kept.
    changed(folder, "model.py", HOSTILE[what], "return State()")
    assert "2 checks, 1 of them unchanged" in gate(folder).out


@pytest.mark.parametrize("what", ["import os; os._exit(0)", "import sys; sys.exit(0)", "while True: pass"])
def test_a_model_that_ends_when_it_is_read_is_told(folder: Path, what: str) -> None:
    text = "hang-limit = 1\n" + EXPLORE.format("model.py") + EXPLORE.format("other.py")
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    written(folder / "other.py")
    written(folder / "model.py", "SEQUENCER = 0", f"{what}\nSEQUENCER = 0")
    ended = gate(folder)
    assert (ended.code, ended.out) == (2, "could not run: 4 passed in the other check\n")
    assert "model.py" in ended.err
    assert "other.py" not in ended.err


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_what_a_model_prints_is_not_in_the_report(folder: Path, jobs: int) -> None:
    written(folder / "model.py", "        return State()", '        print("printed"); return State()')
    written(folder / "other.py", "SEQUENCER = 0", 'SEQUENCER = 0; print("printed")')
    text = EXPLORE.format("model.py") + EXPLORE.format("other.py")
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "precedes", "gate", "--format", "json", "--jobs", str(jobs)]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert json.loads(said.stdout)["outcome"] == "passed"
    assert "printed" in said.stderr


def test_two_models_with_helpers_of_one_name_have_each_its_own(folder: Path) -> None:
    for name in ("a", "b"):
        helped(folder / name / "model.py")
        (folder / name / "due.py").write_text(HELPER, encoding="utf-8")
    changed(folder, "b/due.py", "number == state.due", "number >= 0")
    text = EXPLORE.format("a/model.py") + EXPLORE.format("b/model.py")
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(folder)
    assert (ended.code, "b/model.py:1: G103 error: order_equivalent" in ended.out) == (1, True), ended


@pytest.mark.parametrize("model", ["model.py", "../beside/model.py"], ids=["helper", "both"])
def test_a_result_depends_on_modules_outside_the_folder(tmp_path: Path, model: str) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "precedes.toml").write_text(EXPLORE.format(model), encoding="utf-8")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside/due.py").write_text(HELPER, encoding="utf-8")
    helped(
        folder / model, f"import sys; sys.path.insert(0, {str(tmp_path / 'beside')!r})\nfrom due import due"
    )
    assert gate(folder, "-q").code == 0
    changed(tmp_path, "beside/due.py", "number == state.due", "number >= 0")
    assert gate(folder, "-q").code == 1


def test_a_result_depends_on_what_is_installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def key() -> str:
        cache._program.cache_clear()
        return cache.key("k", {}, ())

    before = key()
    assert key() == before
    monkeypatch.setattr(cache, "distributions", lambda: ())
    assert key() != before
    monkeypatch.undo()
    cache._program.cache_clear()


HIDDEN = """\
import sys
from due import due

del sys.modules["due"]
"""
READ = """\
from pathlib import Path

exec(Path(__file__).with_name("due.py").read_text())
"""


@pytest.mark.parametrize("how", [HIDDEN, READ], ids=["hidden", "read"])
def test_a_result_depends_on_what_a_model_reads(folder: Path, how: str) -> None:
    (folder / "due.py").write_text(HELPER, encoding="utf-8")
    helped(folder / "model.py", how)
    assert gate(folder).code == 0
    assert "unchanged" in gate(folder).out
    changed(folder, "due.py", "number == state.due", "number >= 0")
    assert gate(folder).code == 1


def test_what_a_model_reads_while_it_runs_is_read_again(folder: Path) -> None:
    (folder / "due.txt").write_text("0", encoding="utf-8")
    reading = "from pathlib import Path; Path(__file__).with_name('due.txt').read_text(); return State()"
    written(folder / "model.py", "        return State()", f"        {reading}")
    for _ in range(2):
        ended = gate(folder)
        assert (ended.code, "unchanged" in ended.out) == (0, False)
    with (folder / "precedes.toml").open("a", encoding="utf-8") as file:
        file.write('depends = ["due.txt"]\n')
    gate(folder)
    assert "unchanged" in gate(folder).out


def test_every_instance_of_a_model_is_run(folder: Path) -> None:
    text = '[[simulate]]\nmodel = "delta-causal"\nrequire = ["causal_order"]\nexecutions = 2\n'
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    assert [line for line in gate(folder, "-v").out.splitlines() if line.startswith("passed: sim")] == [
        f"passed: simulate delta-causal max_cb={bound}: causal_order" for bound in ("1", "2", "None")
    ]
    changed(folder, "precedes.toml", "executions", "set = { max_cb = 2 }\nexecutions")
    assert "passed: simulate delta-causal max_cb=2: causal_order" in gate(folder, "-v").out


def test_an_expected_violation_is_one_of_what_is_required(folder: Path) -> None:
    # Where nobody sends, no order is wrong; that all requests wait for ever is another mistake.
    written(folder / "model.py", '"""Ask for a number."""', "return None")
    expected = EXPLORE.format("model.py") + 'expect = "violated"\n'
    (folder / "precedes.toml").write_text(expected, encoding="utf-8")
    ended = gate(folder, "--format", "json")
    assert (ended.code, "as expected, no deadlock violated" in ended.out) == (0, True), ended.out
    (folder / "precedes.toml").write_text(expected + 'require = ["order_equivalent"]\n', encoding="utf-8")
    assert gate(folder).code == 3


def test_what_is_required_stands_in_place_of_what_the_model_claims(folder: Path) -> None:
    text = '[[explore]]\nmodel = "high-integrity"\ndestinations = "broadcast"\nmessages = 1\n'
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    assert gate(folder, "-q").code == 3, "some of its invariants need more messages"
    (folder / "precedes.toml").write_text(text + 'require = ["no_creation"]\n', encoding="utf-8")
    assert gate(folder, "-q").code == 0


def test_what_is_undecided_is_tried_again(folder: Path) -> None:
    written(folder / "model.py")
    with (folder / "precedes.toml").open("a", encoding="utf-8") as file:
        file.write("states = 10\n")
    for _ in range(2):
        ended = gate(folder)
        assert (ended.code, "unchanged" in ended.out) == (3, False)


def test_messages_go_where_the_model_has_it_unless_the_configuration_says_otherwise(folder: Path) -> None:
    written(
        folder / "model.py",
        "class Sequencer(Protocol[State]):",
        "class Sequencer(Protocol[State]):\n    destinations = 'broadcast'\n",
    )
    told = EXPLORE.format("model.py")
    untold = told.replace('destinations = "broadcast"\n', "")
    states = []
    for text in (told, untold, untold + 'destinations = "unicast"\n'):
        (folder / "precedes.toml").write_text(text, encoding="utf-8")
        ended = gate(folder, "--format", "json")
        states.append(json.loads(ended.out)["items"][0]["facts"]["states"])
    assert states[0] == states[1] != states[2]


def test_a_script_stands_in_place_of_every_choice(folder: Path) -> None:
    (folder / "precedes.toml").write_text(
        '[[explore]]\nmodel = "st"\nentities = 2\nscript = "a{1,2}"\nlosses = 1\nquiescent = true\n'
        # One message has no order.
        'unmet = ["order_preserving", "order_equivalent"]\n',
        encoding="utf-8",
    )
    ended = gate(folder, "--format", "json")
    document = json.loads(ended.out)
    items = document["items"]
    assert ended.code == 0, ended.out
    assert {item["check"] for item in items} == {"explore st a{1,2}"}
    assert "messages" not in document["scopes"]["explore st a{1,2}"]
    facts = items[0]["facts"]
    assert facts["quiescent only"] == 1
    changed(folder, "precedes.toml", "quiescent = true", "")
    everywhere = json.loads(gate(folder, "--format", "json").out)["items"][0]["facts"]
    # On one channel, what is asked in quiescence alone needs fewer states.
    assert everywhere["states"] > facts["states"]


def test_a_script_that_cannot_be_read(folder: Path) -> None:
    (folder / "precedes.toml").write_text('[[explore]]\nmodel = "st"\nscript = "a{1,9}"\n', encoding="utf-8")
    ended = gate(folder)
    assert ended.code == 2
    assert "names an entity that does not exist" in ended.err


def test_what_may_go_wrong_in_a_simulation(folder: Path) -> None:
    text = '[[simulate]]\nmodel = "dynamic-cluster"\nrequire = ["1C"]\nexecutions = 20\nmessages = 4\ncrash = {}\n'
    delivered = []
    for rate in ("0.0", "1.0"):
        (folder / "precedes.toml").write_text(text.format(rate), encoding="utf-8")
        (scope,) = json.loads(gate(folder, "--format", "json").out)["scopes"].values()
        delivered.append(scope["crash per million"])
    assert delivered == [0, 1_000_000]


def test_what_is_known_to_be_met_nowhere(folder: Path) -> None:
    text = (
        '[[explore]]\nmodel = "high-integrity"\nset = { adj = "ring" }\ndestinations = "broadcast"\n'
        'messages = 1\ndead = 1\nunmet = ["integrity, origin lost", "step 6, repetition"]\n'
    )
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(folder, "--format", "json")
    said = [item["message"] for item in json.loads(ended.out)["items"] if "as stated" in item["message"]]
    assert (ended.code, len(said)) == (0, 2), ended.out
    # With an origin that stops its premise is met: nothing is waived then that was not said.
    changed(folder, "precedes.toml", '"integrity, origin lost", ', "")
    assert gate(folder).code == 3
    changed(folder, "precedes.toml", '["step 6, repetition"]', '["step 9"]')
    ended = gate(folder)
    assert ended.code == 2
    assert "precedes.toml:7:11: C002 explore high-integrity adj=ring has no property 'step 9'" in ended.err


def test_a_limit_is_not_waived_by_what_is_known_to_be_unmet(folder: Path) -> None:
    text = (
        '[[explore]]\nmodel = "high-integrity"\nset = { adj = "ring" }\ndestinations = "broadcast"\n'
        'messages = 1\nentities = 4\nlosses = 1\nstates = 500\nunmet = ["step 7, removal"]\n'
    )
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    items = json.loads(gate(folder, "--format", "json").out)["items"]
    assert {item["result"] for item in items if item["subject"] == "step 7, removal"} == {"undecided"}


@pytest.mark.slow
def test_what_must_come_true_in_the_end_is_required_by_name(tmp_path: Path) -> None:
    page = (EXAMPLE.parents[1] / "docs" / "protocols.md").read_text(encoding="utf-8")
    model = page.partition("<!-- file: again.py -->\n```python\n")[2].partition("```")[0]
    silent = model.replace("            return Step(state, (confirm,))", "            return Step(state)")
    (tmp_path / "again.py").write_text(silent, encoding="utf-8")
    asked = 'entities = 2\nlosses = 1\nrequire = ["eventual delivery", "eventual quiescence"]\n'
    text = f'[[explore]]\nmodel = "again.py"\nmessages = 1\n{asked}'
    (tmp_path / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(tmp_path)
    assert ended.code == 1
    assert "eventual quiescence (in the end): violated after 5 steps" in ended.out
    assert "eventual delivery (" not in ended.out
