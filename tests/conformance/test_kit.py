"""The kit itself: cases that come again by their numbers and can be pasted, and what it says of an engine that errs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import precedes
from precedes import testing
from precedes.core import formula as core
from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.transposition import execution_of
from precedes.core.verdict import Reason, Verdict, verdict
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.testing import KINDS, Answer, Case, Kind, Unsupported, case, cases, check_engine
from precedes.testing.__main__ import main
from precedes.testing.numbered_cases import BATCH, EXECUTIONS, REQUIREMENTS, definitions, expression
from precedes.testing.random_formulas import ATTRIBUTES, EVENT_ATTRIBUTES
from precedes.traces import TraceOptions
from tests.conformance.engines import OneByOne
from tests.traces.reading import batches, json_lines

ROOT = Path(__file__).parents[2]
Judge = Callable[[Requirement, Execution], Answer]


def by_definition(asked: Requirement, execution: Execution) -> Answer:
    return verdict(evaluate(asked.formula, execution))


def engine(judge: Judge = by_definition, name: str = "toy") -> OneByOne:
    return OneByOne(name, judge)


# ---- what is public


def test_what_is_public_is_documented() -> None:
    """And stands in the page on engines, but for the words of a case."""
    page = (ROOT / "docs/contributing/engine.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^::: precedes\.testing\.(\w+)$", page, re.MULTILINE))
    assert len(shown) > 5
    assert shown <= set(testing.__all__)
    for name in shown:
        assert getattr(testing, name).__doc__, name


def test_it_needs_no_hypothesis() -> None:
    code = "import sys, precedes.testing; print({'hypothesis', 'z3', 'pyspark'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "set()\n"


# ---- cases


def test_a_number_says_everything() -> None:
    program = "from precedes.testing import case; print(case(300, 'formulas'), case(300, 'doubts'))"
    told = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    ).stdout
    assert told == f"{case(300, 'formulas')} {case(300, 'doubts')}\n"
    assert list(cases(5, 298, "formulas"))[2] == case(300, "formulas")


@pytest.mark.parametrize("wrong", [lambda: case(-1), lambda: case(0, "formula")])  # type: ignore[arg-type]
def test_a_case_that_is_not_there(wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="there is no case"):
        wrong()


def test_every_name_of_the_library_is_asked() -> None:
    enough = -(-len(definitions()) // REQUIREMENTS)
    asked = {one.requirement.name for one in cases(enough * BATCH)}
    assert asked == set(standard_library().names())
    assert {one.name for one in definitions()} == asked


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_every_verdict(kind: Kind) -> None:
    found = {by_definition(one.requirement, one.execution) for one in cases(8 * BATCH, 0, kind)}
    assert found == set(Verdict)


def test_the_executions_of_a_batch_have_in_common_what_a_run_has() -> None:
    for kind in KINDS:
        common = {
            (e.entities, e.delta, e.epsilon, e.complete, e.delivery, e.by_clocks)
            for e in (one.execution for one in cases(BATCH, 0, kind))
        }
        assert len(common) == 1


def read_back(one: Case, path: Path) -> Execution | None:
    """What reading the rows of a case makes; None where it has no rows."""
    execution = one.execution
    options = TraceOptions(
        delivery=execution.delivery,
        cluster=execution.entities,
        delta=execution.delta,
        epsilon=execution.epsilon,
        complete=execution.complete,
        attributes=(*ATTRIBUTES, *EVENT_ATTRIBUTES),
        strict=True,
    )
    path.write_bytes(json_lines(one.rows()))
    found = [batch for batch in batches(path, options=options) if batch.executions]
    return execution_of(found[0], 0) if found else None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "doubts"])
def test_rows_read_back_as_the_execution(kind: Kind, tmp_path: Path) -> None:
    empty = 0
    for number in range(10 * EXECUTIONS):
        one = case(number // EXECUTIONS * BATCH + number % EXECUTIONS, kind)
        if one.execution.doubt & Reason.ROW_ORDER:
            continue
        found = read_back(one, tmp_path / "rows.jsonl")
        if found is None:
            empty += 1
            assert one.rows() == []
        else:
            assert found == one.execution, one
    assert empty < 5 * EXECUTIONS


def test_a_printed_case_is_judged_by_the_command_as_by_the_kit() -> None:
    """What is printed is pasted into the command, rows and options; what is violated is violated there, too."""
    violated = [
        one for one in cases(1_024) if by_definition(one.requirement, one.execution) is Verdict.VIOLATED
    ]
    in_time = next(one for one in violated if one.requirement.name == "in_time")
    for one in (violated[0], violated[-1], in_time):
        *said, words = (line for line in str(one).splitlines() if line.startswith("# "))
        assert f"case({one.number}, 'definitions')" in said[0]
        pasted = "\n".join(line for line in str(one).splitlines() if not line.startswith("# "))
        command = shlex.split(words.removeprefix("# precedes "))
        ended = subprocess.run(
            [sys.executable, "-m", "precedes", *command],
            input=pasted,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 1, ended


def test_a_printed_formula_is_python() -> None:
    for number in range(0, 4 * BATCH, EXECUTIONS):
        one = case(number, "formulas")
        text = expression(one.requirement.formula)
        assert f"# {text}\n" in str(one)
        names = {**vars(core), "Reason": Reason}
        assert eval(text, names) == one.requirement.formula


def test_the_public_face_reads_the_rows() -> None:
    one = case(BATCH)
    report = precedes.verify(one.rows(), one.requirement, cluster=one.execution.entities)
    assert report.executions == 1


# ---- check_engine


def test_an_engine_that_agrees() -> None:
    found = check_engine(engine(), cases=200)
    total = 200 * len(KINDS)
    assert found.judged.total() == total
    assert not found.unsupported
    assert str(found).startswith(
        f"toy: {total:,} cases of {total:,} judged, 0 disagreements\n  definitions: "
    )


def test_reasons_are_compared_where_they_are_given() -> None:
    def exact(asked: Requirement, execution: Execution) -> Answer:
        value = evaluate(asked.formula, execution)
        return Reason(value) if value > 0 else verdict(value)

    def wrong(asked: Requirement, execution: Execution) -> Answer:
        answer = exact(asked, execution)
        return Reason.CONTRADICTION if isinstance(answer, Reason) else answer

    assert check_engine(engine(exact), cases=200).judged.total() == 200 * len(KINDS)
    with pytest.raises(
        AssertionError, match=r"unknown \(rows of this execution contradict each other\), by defin"
    ):
        check_engine(engine(wrong), cases=200)


def test_an_engine_that_is_wrong_about_one_definition() -> None:
    """It takes `order_preserving` for what is always true."""

    def credulous(asked: Requirement, execution: Execution) -> Answer:
        if asked.name == "order_preserving":
            return Verdict.HOLDS
        return by_definition(asked, execution)

    with pytest.raises(AssertionError) as caught:
        check_engine(engine(credulous), cases=1_024, kinds=["definitions"])
    told = str(caught.value)
    assert "order_preserving on x" in told
    assert "the engine says holds, by definition violated" in told
    again = told.splitlines()[-1]
    assert again.startswith("to judge it again: check_engine(engine, cases=1, first=")
    with pytest.raises(AssertionError, match="0 cases of 1 judged, 1 disagreement"):
        eval(
            again.removeprefix("to judge it again: "),
            {"check_engine": check_engine, "engine": engine(credulous)},
        )


@pytest.mark.parametrize("answer", [True, 0, None, "holds"])
def test_what_is_no_verdict_is_a_disagreement(answer: object) -> None:
    with pytest.raises(AssertionError, match="which is no verdict"):
        check_engine(engine(lambda *_: answer), cases=1)  # type: ignore[arg-type, return-value]


def test_what_is_not_supported_is_counted_and_said() -> None:
    def whole(asked: Requirement, execution: Execution) -> Answer:
        return by_definition(asked, execution) if execution.complete else Unsupported("incomplete executions")

    found = check_engine(engine(whole), cases=512)
    skipped = sum(not one.execution.complete for kind in KINDS for one in cases(512, 0, kind))
    assert found.unsupported.total() == skipped > 0
    assert "not supported (incomplete executions)" in str(found)
    assert found.judged.total() + skipped == 512 * len(KINDS)


def test_an_engine_that_supports_nothing_fails() -> None:
    with pytest.raises(AssertionError, match="has judged nothing"):
        check_engine(engine(lambda *_: Unsupported("everything")), cases=10)


def test_no_case_is_no_pass() -> None:
    with pytest.raises(AssertionError, match="has judged nothing"):
        check_engine(engine(), cases=0)


@dataclass
class Short:
    """An engine that forgets the last execution."""

    name: str = "short"

    def verdicts(
        self, requirements: Sequence[Requirement], executions: Sequence[Execution]
    ) -> list[list[Answer]]:
        return engine().verdicts(requirements, executions[:-1])


def test_an_answer_for_each_is_wanted() -> None:
    with pytest.raises(AssertionError, match="short has not answered for each of 8 executions by each of 8"):
        check_engine(Short(), cases=BATCH)


def test_what_an_engine_raises_says_of_which_cases() -> None:
    def fail(*_: object) -> Answer:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        check_engine(engine(fail), cases=3, first=BATCH)
    assert caught.value.__notes__ == [f"while toy judged cases {BATCH} to {BATCH + 2} of kind definitions"]


# ---- the command


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "from precedes.testing import Unsupported, Verdict\n"
        "from precedes.engines.reference import evaluate\n"
        "from precedes.core.verdict import verdict\n"
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def verdicts(self, asked, runs):\n"
        "        return [[verdict(evaluate(one.formula, run)) for one in asked] for run in runs]\n"
        "class Always(Mine):\n"
        "    def verdicts(self, asked, runs):\n"
        "        return [[Verdict.HOLDS for one in asked] for run in runs]\n"
        "class Broken(Mine):\n"
        "    def verdicts(self, asked, runs):\n"
        "        assert not runs, 'its own mistake'\n"
        "class Unmade(Mine):\n"
        "    def __init__(self, size):\n"
        "        self.size = size\n",
        encoding="utf-8",
    )

    def told(*words: str) -> tuple[int, str]:
        ended = subprocess.run(
            [sys.executable, "-m", "precedes.testing", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.returncode, ended.stdout + ended.stderr

    code, said = told("mine:Mine", "--cases", "100", "--from", "50", "--kind", "atoms")
    assert (code, said.splitlines()[0]) == (0, "mine: 100 cases of 100 judged, 0 disagreements")
    code, said = told("mine:Always", "--cases", "300")
    assert code == 1
    assert "to judge it again" in said
    code, said = told("mine:Broken", "--cases", "3", "--kind", "atoms")
    assert (code, said.splitlines()[-1]) == (2, "mine:Broken raised AssertionError: this is no verdict")
    for part in ("in verdicts", "its own mistake", "while mine judged cases 0 to 2 of kind atoms"):
        assert part in said
    code, said = told("mine:Unmade")
    assert (code, "mine:Unmade cannot be made: TypeError" in said, "in _engine" in said) == (2, True, True)
    monkeypatch.syspath_prepend(tmp_path)
    for wrong in ("mine", "mine:Nobody", "nowhere:Mine"):
        monkeypatch.setattr(sys, "argv", ["precedes.testing", wrong])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert wrong in capsys.readouterr().err
