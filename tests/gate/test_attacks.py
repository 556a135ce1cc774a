"""Ways to make a pull request pass that should not: the gate is measured against the baseline of the base branch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from precedes.gate.config import Configuration, Conformance, Model, Simulation, Specs, Trace
from precedes.gate.scope import ELSEWHERE, WEAKER
from tests.gate.changes import EXAMPLE, MODEL, TIMERS
from tests.gate.projects import SWAPPED, TRACE, changed, gate
from tests.sampling import one_in

CONFIGURATION = """\
baseline = "baseline.json"

[[check]]
files = ["specs"]

[[verify]]
files = ["traces/*.jsonl"]
require = ["SP", "delta_causal_order"]
budget = { SP = "1 %" }
delta = "10ms"
epsilon = "1ms"
cluster = ["E1", "E2", "E3"]
strict = true

[[explore]]
model = "model.py"
messages = 2
destinations = "broadcast"
early = 1

[[simulate]]
model = "model.py"
require = ["order_equivalent"]
executions = 5
messages = 4
seed = 3
"""
SPEC = """\
predicate spread
  := forall p: (exists i: p in RL[i]) implies (forall j: j in dest(p) implies p in RL[j])

scenario first
cluster E1 E2
RL1: < a b ]   SL1: < a{1,2} ]
RL2: < b a ]   SL2: < b{1,2} ]
expect SP
expect not ST
claim TO implies PO
"""
TIMES = {"send": '"send", "time": 0.5', "deliver": '"deliver", "time": 0.502'}


def timed(text: str) -> str:
    """The trace with times and another execution."""
    for event, with_time in TIMES.items():
        text = text.replace(f'"{event}"', with_time)
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The pull request's copy of the project; `base.json` is the baseline of the base branch."""
    for name, text in {
        "precedes.toml": CONFIGURATION,
        "specs/first.prec": SPEC,
        "traces/a.jsonl": timed(TRACE),
        "traces/b.jsonl": timed(TRACE.replace('"x"', '"y"')),
        "model.py": (EXAMPLE / MODEL).read_text(encoding="utf-8") + TIMERS,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baseline of the base branch, and what is kept of its run."""
    made = folder.__wrapped__(tmp_path_factory.mktemp("base"))  # type: ignore[attr-defined]
    ended = gate(made, "--write-baseline", "-q")
    assert (ended.code, ended.err) == (0, ""), ended
    return Path(made)


def judged(folder: Path, base: Path, *arguments: object) -> tuple[int, str]:
    """The gate over the pull request, against the base branch. What did not change is taken from its cache."""
    shutil.copytree(base / ".precedes-cache", folder / ".precedes-cache", dirs_exist_ok=True)
    ended = gate(folder, "--baseline", base / "baseline.json", *arguments)
    return ended.code, ended.out + ended.err


def test_nothing_changed(folder: Path, base: Path) -> None:
    code, out = judged(folder, base)
    assert (code, "4 of them unchanged" in out) == (0, True), out


@dataclass(frozen=True)
class Lowered:
    """A change of the configuration, and what has to be said of it."""

    old: str
    new: str
    said: str


LOWERED = {
    "a severity": Lowered(
        "", '[severity]\nG105 = "warning"\n', "G206 error: G105 counts as warning; the base"
    ),
    "a severity of a requirement": Lowered(
        "", "[severity]\nSP = 'off'\n", "G206 error: SP counts as off; the"
    ),
    "a severity by the name of its rule": Lowered(
        "", "[severity]\nmodel-property = 'note'\n", "G103 counts as note"
    ),
    "a severity of the comparison": Lowered(
        "early = 1\n\n",
        "early = 0\n\n[severity]\nG204 = 'off'\n",
        "G204 error: early: 0; the baseline has 1",
    ),
    "a severity of the severities": Lowered(
        "", "[severity]\nG206 = 'off'\nG105 = 'off'\n", "G206 error: G105 counts as off"
    ),
    "what is unknown": Lowered(
        "baseline =", 'unknown = "accepted"\nbaseline =', "an unknown verdict counts as accepted; the"
    ),
    "a budget": Lowered('"1 %"', '"2 %"', "budget per million: 20,000; the baseline has 10,000"),
    "delta": Lowered('"10ms"', '"10s"', "delta in ns: 10,000,000,000; the baseline has 10,000,000"),
    "epsilon": Lowered('"1ms"', '"1.5ms"', "epsilon in ns: 1,500,000; the baseline has 1,000,000"),
    "completeness": Lowered("strict = true", "strict = true\nincomplete = true", "incomplete: 1; the base"),
    "strictness": Lowered("strict = true", "strict = false", "strict: 0; the baseline has 1"),
    "the cluster": Lowered('"E2", "E3"]', '"E2"]', "cluster: without E3, which the baseline has"),
    "what a delivery is": Lowered(
        "strict = true",
        'strict = true\ndelivery = "arrive"',
        "delivery: arrive; the baseline has deliver",
    ),
    "a file of a glob": Lowered(
        '"traces/*.jsonl"', '"traces/[a].jsonl"', "verify traces/*.jsonl is no longer run"
    ),
    "messages": Lowered("messages = 2", "messages = 1", "messages: 1; the baseline has 2"),
    "faults": Lowered("early = 1", "early = 0", "early: 0; the baseline has 1"),
    "entities": Lowered("early = 1", "early = 1\nentities = 2", "entities: 2; the baseline has 3"),
    "destinations": Lowered(
        '"broadcast"', '"unicast"', "destinations: without broadcast, which the baseline has"
    ),
    "what is not met": Lowered(
        "early = 1",
        'early = 1\nunmet = ["no deadlock"]',
        "unmet: with no deadlock, which the baseline does not have",
    ),
    "where it is asked": Lowered(
        "early = 1", "early = 1\nquiescent = true", "quiescent: 1; the baseline has 0"
    ),
    "what is expected": Lowered(
        "early = 1", 'early = 1\nexpect = "violated"', "G202 error: order_equivalent is no longer"
    ),
    "executions": Lowered("executions = 5", "executions = 4", "executions: 4; the baseline has 5"),
    "messages of a simulation": Lowered("messages = 4", "messages = 3", "messages: 3; the baseline has 4"),
    "the seed": Lowered("seed = 3", "seed = 4", "seed: 4; the baseline has 3"),
    "a script": Lowered("early = 1", 'early = 1\nscript = "a{1}"', "explore model.py is no longer run"),
    "a requirement": Lowered(
        '["SP", "delta_causal_order"]', '["SP"]', "delta_causal_order is no longer required"
    ),
    "a check": Lowered('[[check]]\nfiles = ["specs"]\n', "", "check specs/first.prec is no longer run"),
    "bounds of claims": Lowered('["specs"]', '["specs"]\naccept-bounds = true', "accept-bounds: 1; the base"),
}


@pytest.mark.parametrize("name", LOWERED)
def test_what_is_lowered_in_the_configuration_is_told(folder: Path, base: Path, name: str) -> None:
    change = LOWERED[name]
    if change.old:
        changed(folder, "precedes.toml", change.old, change.new)
    else:
        with (folder / "precedes.toml").open("a", encoding="utf-8") as file:
            file.write(change.new)
    code, out = judged(folder, base)
    assert (code, change.said in out) == (1, True), out


RAISED = {
    "a budget": ('"1 %"', '"0.5 %"'),
    "delta": ('"10ms"', '"5ms"'),
    "epsilon": ("epsilon =", "# epsilon ="),
    "the cluster": ('"E2", "E3"]', '"E2", "E3", "E4"]'),
    "messages": ("messages = 4", "messages = 5"),
    "destinations": ('"broadcast"', '"any"'),
    "what is unknown": ("baseline =", 'unknown = "violated"\nbaseline ='),
}


@pytest.mark.parametrize("name", one_in(2, RAISED))
def test_what_is_raised_is_not(folder: Path, base: Path, name: str) -> None:
    changed(folder, "precedes.toml", *RAISED[name])
    code, out = judged(folder, base)
    assert "G204" not in out
    assert "G206" not in out
    assert code == 0, out


MODELLED: dict[str, tuple[Callable[[Path], None], str]] = {
    "fewer destinations": (
        lambda folder: changed(
            folder, "model.py", "(Protocol[State]):", "(Protocol[State]):\n    destinations = 'unicast'"
        ),
        "destinations: without",
    ),
    "fewer claims": (
        lambda folder: changed(folder, "model.py", "claims = (", "claims = ('no_duplication',)\n    unclaimed = ("),
        "order_equivalent is no longer required: this execution was forbidden and is allowed now",
    ),
    "fewer rows": (
        lambda folder: (folder / "traces/b.jsonl").write_text(
            "".join(line for line in timed(TRACE.replace('"x"', '"y"')).splitlines(True) if '"a"' in line), "utf-8"
        ),
        "messages: 3; the baseline has 4",
    ),
    "a file that a glob no longer finds": (
        lambda folder: (folder / "traces/b.jsonl").rename(folder / "traces/b.json"),
        "G201 error: traces/b.jsonl is no longer verified",
    ),
    "an expectation": (
        lambda folder: changed(folder, "specs/first.prec", "expect not ST\n", ""),
        "first: expect not ST is no longer checked",
    ),
    "a proof": (
        lambda folder: changed(folder, "specs/first.prec", "claim TO implies PO", "find TO with messages <= 2"),
        "claim TO implies PO is no longer checked",
    ),
    "a definition": (
        lambda folder: changed(folder, "specs/first.prec", "(forall j: j in", "(exists j: j in"),
        "definition spread demands less than it did",
    ),
    "a name of the library": (
        lambda folder: (
            (folder / "own.prec").write_text("service SP := no_duplication\n", encoding="utf-8"),
            changed(folder, "precedes.toml", "strict = true", 'strict = true\nspecs = ["own.prec"]'),
        )[0],
        "SP",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELLED)
def test_what_is_lowered_in_what_is_judged_is_told(folder: Path, base: Path, name: str) -> None:
    change, said = MODELLED[name]
    if name == "fewer destinations":
        changed(folder, "precedes.toml", 'destinations = "broadcast"\n', "")
    change(folder)
    code, out = judged(folder, base)
    assert (code != 0, said in out) == (True, True), out


def test_a_baseline_that_the_pull_request_rewrote_counts_for_nothing(folder: Path, base: Path) -> None:
    changed(folder, "precedes.toml", "early = 1", "early = 0")
    assert gate(folder, "--write-baseline").code == 0
    assert gate(folder).code == 0, "against its own"
    assert judged(folder, base)[0] == 1
    changed(folder, "precedes.toml", 'baseline = "baseline.json"', "")
    assert gate(folder).code == 0, "against none"
    assert judged(folder, base)[0] == 1


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 1, "items": []}', None])
def test_a_baseline_that_is_not_there_is_no_empty_one(folder: Path, text: str | None) -> None:
    """`git show` of what is not there leaves an empty file."""
    path = folder / "base.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    ended = gate(folder, "--baseline", path)
    assert (ended.code, "C004" in ended.err) == (2, True), ended


def test_a_baseline_from_a_pipe(folder: Path, base: Path) -> None:
    changed(folder, "precedes.toml", "early = 1", "early = 0")
    data = (base / "baseline.json").read_bytes()
    command = ["precedes", "gate", "--baseline", "-", "-q"]
    from tests.gate.test_pipelines import PATH

    ended = subprocess.run(
        command, cwd=folder, input=data, env={**os.environ, "PATH": PATH}, capture_output=True
    )
    assert ended.returncode == 1, ended


def test_what_was_accepted_once_is_not_accepted_again(folder: Path, base: Path) -> None:
    accepting = 'accept = ["explore model.py: early", "simulate model.py: messages"]\nbaseline ='
    changed(folder, "precedes.toml", "baseline =", accepting)
    changed(folder, "precedes.toml", "early = 1", "early = 0")
    code, out = judged(folder, base)
    assert (code, "(accepted)" in out) == (0, True), out
    # Merged, with the name left where it is: the next pull request.
    assert gate(folder, "--write-baseline").code == 0
    merged = folder / "merged.json"
    (folder / "baseline.json").rename(merged)
    assert gate(folder, "--baseline", merged).code == 0
    changed(folder, "precedes.toml", "messages = 4", "messages = 3")
    ended = gate(folder, "--baseline", merged)
    assert (ended.code, "a name is not accepted twice" in ended.out) == (1, True), ended.out
    # Who starts the gate may accept it.
    assert gate(folder, "--baseline", merged, "--accept", "simulate model.py: messages").code == 0


def test_a_weaker_check_of_the_same_name_does_not_stand_in(folder: Path, base: Path) -> None:
    weak = (
        '[[explore]]\nmodel = "model.py"\nmessages = 1\ndestinations = "broadcast"\nearly = 1\n\n[[explore]]'
    )
    changed(folder, "precedes.toml", "[[explore]]", weak)
    code, out = judged(folder, base)
    assert (code, "messages: 1; the baseline has 2" in out) == (1, True), out


def test_a_limit_does_not_make_what_passed_pass_as_unknown(folder: Path, base: Path) -> None:
    changed(folder, "precedes.toml", "early = 1", "early = 1\nstates = 10")
    assert judged(folder, base)[0] == 3
    # On a base branch where an unknown verdict counts as accepted.
    changed(folder, "precedes.toml", "baseline =", 'unknown = "accepted"\nbaseline =')
    lenient = json.loads((base / "baseline.json").read_text(encoding="utf-8"))
    lenient["unknown"] = "accepted"
    (folder / "lenient.json").write_text(json.dumps(lenient), encoding="utf-8")
    ended = gate(folder, "--baseline", folder / "lenient.json")
    assert (ended.code, "G203 error: order_equivalent was decided and is now undecided" in ended.out) == (
        1,
        True,
    ), ended.out


def test_another_configuration_in_front_of_the_first_is_compared_all_the_same(
    folder: Path, base: Path
) -> None:
    """precedes.toml goes before pyproject.toml."""
    text = (folder / "precedes.toml").read_text(encoding="utf-8")
    nested = text.replace("baseline =", "[tool.precedes]\nbaseline =").replace("[[", "[[tool.precedes.")
    (folder / "pyproject.toml").write_text(nested, encoding="utf-8")
    (folder / "precedes.toml").unlink()
    assert judged(folder, base)[0] == 0
    (folder / "precedes.toml").write_text('[[check]]\nfiles = ["specs"]\n', encoding="utf-8")
    code, out = judged(folder, base)
    assert (code, out.count("is no longer run")) == (1, 3)


INVARIANT = """
    invariants = (OfEntity("due", "", lambda self, here, state: state.due >= 0 or None),)
    waits: bool = False

    @classmethod
    def instances(cls, *, as_written):
        return (cls(as_written=as_written), cls(as_written=as_written, waits=True))

    @property
    def network("""


@pytest.mark.parametrize(
    "how",
    [
        "quiescent order_equivalent",
        *(
            pytest.param(how, marks=pytest.mark.slow)
            for how in ("quiescent (order_equivalent)", "OWN", "MINE")
        ),
    ],
)
def test_what_was_asked_in_every_state_and_is_asked_in_quiescence(folder: Path, how: str) -> None:
    """Of a completed execution both ask the same; the solver is asked about the others, too."""
    own = folder / "own.prec"
    own.write_text("service OWN := order_equivalent\npredicate MINE := OWN\n", encoding="utf-8")
    required = how if how in ("OWN", "MINE") else "order_equivalent"
    changed(
        folder, "precedes.toml", "early = 1", f'early = 1\nspecs = ["own.prec"]\nrequire = ["{required}"]'
    )
    assert gate(folder, "--write-baseline", "-q").code == 0
    if required == how:
        changed(folder, "own.prec", "OWN := order_equivalent", "OWN := quiescent order_equivalent")
    else:
        changed(folder, "precedes.toml", f'["{required}"]', f'["{how}"]')
    ended = gate(folder)
    assert ended.code == 1
    assert "this execution was forbidden where something is in flight and is allowed now" in ended.out
    # The other way round more is asked.
    assert gate(folder, "--write-baseline", "-q").code == 0
    if required == how:
        changed(folder, "own.prec", "OWN := quiescent order_equivalent", "OWN := order_equivalent")
    else:
        changed(folder, "precedes.toml", f'["{how}"]', f'["{required}"]')
    ended = gate(folder)
    assert (ended.code, "G20" in ended.out.replace("G205", "")) == (0, False), ended.out


def test_an_invariant_or_an_instance_that_is_gone_is_told(folder: Path) -> None:
    changed(folder, "model.py", "import Deliver,", "import OfEntity, Deliver,")
    changed(folder, "model.py", "\n    @property\n    def network(", INVARIANT)
    assert gate(folder, "--write-baseline").code == 0
    before = (folder / "baseline.json").rename(folder / "before.json")
    changed(folder, "model.py", ", cls(as_written=as_written, waits=True))", ",)")
    ended = gate(folder, "--baseline", before)
    assert (ended.code, "explore model.py waits=True is no longer run" in ended.out) == (1, True), ended.out
    changed(
        folder,
        "model.py",
        ",)\n\n    @property",
        ", cls(as_written=as_written, waits=True))\n\n    @property",
    )
    changed(folder, "model.py", 'OfEntity("due"', 'OfEntity("overdue"')
    ended = gate(folder, "--baseline", before)
    assert (ended.code, "explore model.py waits=True: due is no longer checked" in ended.out) == (1, True), (
        ended.out
    )


def test_a_file_whose_name_reads_like_another_check_does_not_stand_in(folder: Path, base: Path) -> None:
    """`check specs/first.prec: a.prec: ...`: a name does not show where the check ends."""
    changed(folder, "specs/first.prec", "scenario first", 'scenario "a.prec: first"')
    assert gate(folder, "--write-baseline", "-q").code == 0
    before = (folder / "baseline.json").rename(folder / "before.json")
    spec = (folder / "specs/first.prec").read_text(encoding="utf-8")
    (folder / "specs/first.prec: a.prec").write_text(spec.replace("a.prec: first", "first"), encoding="utf-8")
    changed(folder, "specs/first.prec", "expect not ST\n", "")
    ended = gate(folder, "--baseline", before)
    assert (ended.code, "expect not ST is no longer checked" in ended.out) == (1, True), ended.out


def test_a_violation_is_one_whatever_else_changes(folder: Path, base: Path) -> None:
    (folder / "traces/a.jsonl").write_text(timed(SWAPPED), encoding="utf-8")
    assert judged(folder, base)[0] == 1
    changed(folder, "precedes.toml", "strict = true", "strict = true\nincomplete = true")
    assert judged(folder, base)[0] == 1


def test_every_setting_is_compared_or_it_is_said_where(folder: Path) -> None:
    """A setting that somebody adds must not be a way to ask for less."""
    known = {name.split(" per ")[0].split(" in ")[0].replace("-", "_") for name in WEAKER} | set(ELSEWHERE)
    for table in (Specs, Model, Simulation, Trace, Conformance):
        for field in msgspec.structs.fields(table):
            assert field.name in known, f"{table.__name__}.{field.name}"
    compared = {"check", "explore", "simulate", "verify", "conform", "unknown", "severity", "accept"}
    harmless = {"baseline", "cache", "jobs", "hang_limit"}
    assert {field.name for field in msgspec.structs.fields(Configuration)} == compared | harmless
