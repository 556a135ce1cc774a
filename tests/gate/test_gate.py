"""The gate: verdicts, exit codes, the cache, and what a baseline adds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from precedes.gate.run import baseline
from tests.gate.changes import EXAMPLE, MODEL
from tests.gate.projects import SWAPPED, TRACE, changed, gate, project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = project(tmp_path)
    ended = gate(made, "--write-baseline", "-q")
    assert (ended.code, ended.err) == (0, "")
    return made


def told(folder: Path, *arguments: object) -> tuple[int, str]:
    ended = gate(folder, *arguments)
    return ended.code, ended.out


def test_a_project_that_passes(folder: Path) -> None:
    code, out = told(folder)
    assert code == 0
    assert out == "passed: 7 passed in 3 checks, 3 of them unchanged; against the baseline 0 new, 0 fixed\n"


def test_what_passed_is_told_where_asked(folder: Path) -> None:
    _, out = told(folder, "-v")
    assert "passed: check specs/first.prec: claim TO implies PO\n" in out


def test_a_reordered_trace_fails_with_its_figure(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    code, out = told(folder)
    assert code == 1
    assert "traces/run.jsonl:1: G105 error (new): order_preserving: 1 of 1 execution violates it" in out
    assert "< b a ]" in out
    assert "failed: 2 errors" in out


def test_what_was_told_of_a_trace_goes_before_its_finding(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(
        TRACE.replace('"dest": ["E2"]', '"dest": ["E3"]'), encoding="utf-8"
    )
    code, out = told(folder)
    assert code == 1
    assert out.count("notice T110 destinations have no row anywhere") == 1
    assert 'have no events: "E3"' in out


def test_what_holds_vacuously_is_undecided(folder: Path) -> None:
    deliveries = "".join(line for line in TRACE.splitlines(keepends=True) if "deliver" in line)
    (folder / "traces/run.jsonl").write_text(deliveries, encoding="utf-8")
    changed(folder, "precedes.toml", 'require = ["SP"]', 'require = ["order_preserving"]')
    gate(folder, "--write-baseline")
    code, out = told(folder)
    assert code == 3
    assert (
        "order_preserving: vacuous: the execution does not contain a send, so there was nothing to check"
        in out
    )
    assert "notice T112 deliveries have no send" in out


def test_what_is_undecided_in_a_trace_has_its_reason(folder: Path) -> None:
    unsent = (
        '{"execution": "x", "entity": "E2", "seq": 2, "event": "deliver", "message": "c", "sender": "E1"}\n'
    )
    (folder / "traces/run.jsonl").write_text(TRACE + unsent, encoding="utf-8")
    changed(folder, "precedes.toml", 'require = ["SP"]', 'require = ["order_preserving"]')
    gate(folder, "--write-baseline")
    code, out = told(folder)
    assert code == 3
    assert (
        "    execution x\n      the send of a message was not logged: c\n"
        in out.partition("G105 undecided: order_preserving: unknown in 1 of 1 execution")[2]
    )
    (case,) = (item for item in json.loads(gate(folder, "--format", "json").out)["items"] if item["detail"])
    assert "was not logged: c" in case["detail"]


def test_what_stands_is_told_in_brief_and_still_fails(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    gate(folder, "--write-baseline")
    code, out = told(folder)
    assert code == 1
    assert "(standing)" in out
    assert "b a" not in out
    (folder / "traces/run.jsonl").write_text(TRACE, encoding="utf-8")
    code, out = told(folder)
    assert code == 0
    assert "fixed: verify traces/*.jsonl: SP\n" in out


def test_a_budget(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED + TRACE.replace('"x"', '"y"') * 1, encoding="utf-8")
    changed(
        folder,
        "precedes.toml",
        'require = ["SP"]',
        'require = ["order_preserving"]\nbudget = { order_preserving = "50 %" }',
    )
    gate(folder, "--write-baseline")
    assert told(folder)[0] == 0
    changed(folder, "precedes.toml", "50 %", "49 %")
    code, out = told(folder)
    assert code == 1
    assert "1 of 2 executions violate it, more than the budget of 49 %" in out


@pytest.mark.parametrize("meaning", [("undecided", 3), ("violated", 1), ("accepted", 0)])
def test_unknown_means_what_the_configuration_says(folder: Path, meaning: tuple[str, int]) -> None:
    changed(folder, "precedes.toml", 'require = ["SP"]', 'require = ["deadline"]')
    changed(folder, "precedes.toml", "baseline =", f'unknown = "{meaning[0]}"\nbaseline =')
    gate(folder, "--write-baseline")
    code, out = told(folder)
    assert (code, "unknown in 1 of 1 execution\n" in out) == (meaning[1], True), out


def test_a_severity(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    with (folder / "precedes.toml").open("a", encoding="utf-8") as file:
        file.write('\n[severity]\nG105 = "warning"\n')
    gate(folder, "--write-baseline")
    code, out = told(folder)
    assert code == 0
    assert "G105 warning" in out
    changed(
        folder, "precedes.toml", 'G105 = "warning"', 'trace-property = "warning"\norder_preserving = "error"'
    )
    assert told(folder)[0] == 1


def test_a_weakened_definition_fails_unless_accepted(folder: Path) -> None:
    changed(
        folder,
        "specs/words.prec",
        "(forall j: j in dest(p) implies p in RL[j])",
        "(exists j: j in dest(p) and p in RL[j])",
    )
    code, out = told(folder)
    assert code == 1
    assert "specs/words.prec:1: G202 error: definition spread demands less than it did" in out
    assert "cluster E1 E2" in out
    assert told(folder, "--accept", "definition spread")[0] == 0
    ended = gate(folder, "--accept", "definition spred")
    assert ended.code == 2
    assert (
        "U001 --accept: to accept definition spred has no effect: neither the baseline nor this" in ended.err
    )
    assert "did you mean definition spread?" in ended.err
    changed(folder, "precedes.toml", "baseline =", 'accept = ["definition spread"]\nbaseline =')
    assert told(folder)[0] == 0


def test_another_wording_of_a_definition_is_none_the_weaker(folder: Path) -> None:
    changed(folder, "specs/words.prec", "implies p in RL[j])", "implies not not p in RL[j])")
    assert told(folder)[0] == 0


def test_a_stronger_requirement_is_a_new_check_and_a_removed_one_is_told(folder: Path) -> None:
    changed(folder, "precedes.toml", '["SP"]', '["ST"]')
    code, out = told(folder)
    assert code == 0, "ST demands all that SP did"
    changed(folder, "precedes.toml", '["ST"]', '["order_preserving"]')
    code, out = told(folder)
    assert code == 1
    assert "G202 error: SP is no longer required: this execution was forbidden and is allowed now" in out


def test_a_check_that_is_gone_is_told_once(folder: Path) -> None:
    changed(folder, "precedes.toml", '[[verify]]\nfiles = ["traces/*.jsonl"]\nrequire = ["SP"]\n', "")
    code, out = told(folder)
    assert code == 1
    assert out.count("G201") == 1
    assert "precedes.toml:1: G201 error: verify traces/*.jsonl is no longer run" in out
    assert told(folder, "--accept", "verify traces/*.jsonl")[0] == 0


def test_a_removed_expectation(folder: Path) -> None:
    changed(folder, "specs/first.prec", "expect not ST\n", "")
    code, out = told(folder)
    assert code == 1
    assert "G201 error: check specs/first.prec: first: expect not ST is no longer checked" in out


def test_nothing_checked_is_no_pass(tmp_path: Path) -> None:
    (tmp_path / "precedes.toml").write_text('[[check]]\nfiles = ["a.prec"]\n', encoding="utf-8")
    (tmp_path / "a.prec").write_text("# nothing\n", encoding="utf-8")
    code, out = told(tmp_path)
    assert code == 3
    assert "a.prec:1: G301 undecided: there is no expectation and no claim, so nothing was checked" in out


def test_a_mistake_in_a_spec_is_told_at_its_line(folder: Path) -> None:
    changed(folder, "specs/first.prec", "expect SP", "expect SPP")
    ended = gate(folder)
    assert ended.code == 2
    assert "specs/first.prec:5:8: N0" in ended.err


def test_what_changed_is_done_again_and_nothing_else(folder: Path) -> None:
    changed(folder, "specs/first.prec", "scenario first", "scenario  first")
    _, out = told(folder)
    assert "2 of them unchanged" in out
    _, out = told(folder, "--no-cache")
    assert "unchanged" not in out


def test_a_baseline_says_nothing_of_lines_and_times(folder: Path) -> None:
    text = (folder / "baseline.json").read_bytes()
    changed(folder, "specs/first.prec", "scenario first", "# a comment\nscenario first")
    gate(folder, "--write-baseline", "--no-cache")
    assert (folder / "baseline.json").read_bytes() == text


def test_a_baseline_that_is_none(folder: Path) -> None:
    (folder / "baseline.json").write_text("{}", encoding="utf-8")
    ended = gate(folder)
    assert ended.code == 2
    assert "C004" in ended.err
    (folder / "baseline.json").unlink()
    ended = gate(folder)
    assert ended.code == 2
    assert "--write-baseline" in ended.err


def kept(folder: Path, **changes: object) -> None:
    """Change the only item of the baseline that has the facts."""
    document = json.loads((folder / "baseline.json").read_text(encoding="utf-8"))
    for item in document["items"]:
        if item["name"].startswith(str(changes.get("name", "verify"))):
            item.update({key: value for key, value in changes.items() if key != "name"})
    (folder / "baseline.json").write_text(json.dumps(document), encoding="utf-8")


def test_fewer_executions_than_in_the_baseline(folder: Path) -> None:
    kept(folder, facts={"executions": 2})
    code, out = told(folder)
    assert code == 1
    assert "G204 error: executions: 1; the baseline has 2" in out


def test_a_lost_proof(folder: Path) -> None:
    read = baseline.read(folder / "baseline.json")
    assert {item.name: item.proof for item in read.items}[
        "check specs/first.prec: claim TO implies PO"
    ] == "proved"
    changed(folder, "specs/first.prec", "claim TO implies PO", "find TO with entities = 2, messages <= 2")
    gate(folder, "--write-baseline")
    kept(folder, name="check specs/first.prec: find", proof="proved")
    code, out = told(folder)
    assert code == 1
    assert "G203 error" in out


@pytest.mark.parametrize(
    ("settings", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
    ids=["neither", "forced", "both"],
)
def test_colours(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], coloured: bool
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    code, out = told(folder)
    assert code == 1
    assert ("\x1b[31m\x1b[1merror\x1b[0m" in out, "\x1b[31m\x1b[1mfailed\x1b[0m" in out) == (
        coloured,
        coloured,
    )


def test_simulated_executions(tmp_path: Path) -> None:
    (tmp_path / "sequencer.py").write_text((EXAMPLE / MODEL).read_text(encoding="utf-8"), encoding="utf-8")
    simulate = '[[simulate]]\nmodel = "sequencer.py"\nexecutions = 20\nseed = 3\ndestinations = "broadcast"\n'
    (tmp_path / "precedes.toml").write_text(simulate + 'require = ["order_equivalent"]\n', encoding="utf-8")
    assert told(tmp_path, "-q") == (0, "passed: 1 passed in 1 check\n")
    # Requests overtake each other on their way to the sequencer.
    (tmp_path / "precedes.toml").write_text(simulate + 'require = ["order_preserving"]\n', encoding="utf-8")
    code, out = told(tmp_path)
    assert code == 1
    assert "sequencer.py:1: G104 error: order_preserving:" in out
    assert "of 20 executions violate it" in out
    assert "^^" in out


def test_definitions_alone_are_no_check(folder: Path) -> None:
    (folder / "precedes.toml").write_text('[[check]]\nfiles = ["specs/words.prec"]\n', encoding="utf-8")
    code, out = told(folder)
    assert code == 3
    assert (
        "G301 undecided: there are only definitions, and no statements about them, so nothing was checked"
        in out
    )


def many(violating: int, executions: int) -> str:
    texts = [SWAPPED if number < violating else TRACE for number in range(executions)]
    return "".join(text.replace('"x"', f'"{number}"') for number, text in enumerate(texts))


@pytest.mark.parametrize(("violating", "code"), [(0, 0), (3, 0), (4, 1)])
def test_a_budget_is_exact_and_holds_for_the_parts(folder: Path, violating: int, code: int) -> None:
    # As floats, 0.03 % of 10,000 are less than 3.
    (folder / "traces/run.jsonl").write_text(many(violating, 10_000), encoding="utf-8")
    text = '[[verify]]\nfiles = ["traces"]\nrequire = ["ST"]\nbudget = { ST = "0.03 %" }\n'
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(folder, "-v")
    assert ended.code == code, ended.out
    assert ended.out.count("G105 error") == 2 * code


def test_a_budget_of_one_requirement_is_none_of_another(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    rewritten = 'require = ["ST", "SP"]\nbudget = { ST = "100 %" }'
    changed(folder, "precedes.toml", 'require = ["SP"]', rewritten)
    code, out = told(folder)
    assert (code, "G105 error (new): order_preserving" in out) == (1, True)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'require = ["SP"]',
            'require = ["SP"]\nbudget = { SPP = "1 %" }',
            "C002 a budget of SPP, which is not required",
        ),
        (
            'require = ["SP"]',
            'require = ["SP"]\n[severity]\nG109 = "off"',
            "C002 the severity of G109 has no effect: it is neither a",
        ),
        ('require = ["SP"]', 'require = ["SP"]\n[severity]\nSPP = "off"', "did you mean SP?"),
        (
            'baseline = "baseline.json"',
            'baseline = "baseline.json"\naccept = ["verify traces/*.jsonl: SPP"]',
            "did you mean verify traces/*.jsonl: SP?",
        ),
    ],
)
def test_names_that_would_change_nothing_are_mistakes(folder: Path, old: str, new: str, said: str) -> None:
    changed(folder, "precedes.toml", old, new)
    ended = gate(folder)
    assert (ended.code, said in ended.err) == (2, True), ended


def test_what_lies_beside_the_traces_is_left_alone(folder: Path) -> None:
    (folder / "traces/README.md").write_text("# Where they are from\n", encoding="utf-8")
    changed(folder, "precedes.toml", '"traces/*.jsonl"', '"traces"')
    gate(folder, "--write-baseline")
    assert told(folder)[0] == 0


def test_a_kept_result_is_told_where_it_stands_now(folder: Path) -> None:
    text = '[[explore]]\nmodel = "raynal-schiper-toueg"\nmessages = 1\nexpect = "violated"\n'
    (folder / "precedes.toml").write_text(text, encoding="utf-8")
    assert "precedes.toml:2: G103" in told(folder)[1]
    (folder / "precedes.toml").write_text("\n\n" + text, encoding="utf-8")
    assert "precedes.toml:4: G103" in told(folder)[1]


def test_the_name_of_an_execution_does_nothing_to_a_terminal(folder: Path) -> None:
    text = SWAPPED.replace('"x"', '"x\\n::error::\\u001b[31m"')
    (folder / "traces/run.jsonl").write_text(text, encoding="utf-8")
    assert 'execution "x\\u{a}::error::\\u{1b}[31m"' in told(folder)[1]
