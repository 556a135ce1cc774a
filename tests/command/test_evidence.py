"""What rests on crashes, clocks, times and arrivals: the right verdict from every engine, and by definition."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from precedes.columns import execution_of
from precedes.engines.reference import evaluate
from precedes.execution import EventKind
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.traces import Notices, TraceOptions, read_batches
from precedes.verdict import verdict
from tests.command.running import precedes

ENGINES = [
    pytest.param("local", id="local"),
    pytest.param("spark", id="spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
]


def row(entity: str, event: str, message: str | None = None, seq: int | None = None, **more: Any) -> str:
    """A row of execution x; `seq` None leaves it out."""
    told = {"execution": "x", "entity": entity, "seq": seq, "event": event, "message": message, **more}
    return json.dumps({name: value for name, value in told.items() if value is not None})


@dataclass(frozen=True)
class Case:
    """A trace, and what each requirement comes to on it."""

    rows: tuple[str, ...]
    verdicts: dict[str, str]
    options: tuple[str, ...] = ()


CRASHED_RECEIVER = (
    row("1", "send", "m", 0, dest=["1", "2", "3"]),
    row("1", "deliver", "m", 1),
    row("2", "crash", None, 0),
    row("3", "deliver", "m", 0),
)
CRASHED_SENDER = (
    row("1", "send", "m", 0, dest=["1", "2", "3"]),
    row("1", "crash", None, 1),
    row("2", "send", "n", 0, dest=["2", "3"]),
    row("2", "deliver", "n", 1),
    row("3", "deliver", "n", 0),
)

CASES = {
    "a destination crashed": Case(
        CRASHED_RECEIVER, {"agreement": "holds", "uniform_agreement": "holds", "validity": "holds"}
    ),
    "a destination came back": Case(
        (*CRASHED_RECEIVER, row("2", "recover", None, 1)),
        {"agreement": "violated", "uniform_agreement": "violated", "validity": "holds"},
    ),
    "the only one that delivers crashed": Case(
        (*CRASHED_RECEIVER[:2], row("1", "crash", None, 2), row("3", "local", None, 0)),
        {"agreement": "holds", "uniform_agreement": "violated", "validity": "holds"},
    ),
    "a sender crashed": Case(CRASHED_SENDER, {"agreement": "holds", "validity": "holds"}),
    "a sender came back": Case(
        (*CRASHED_SENDER, row("1", "recover", None, 2)), {"agreement": "holds", "validity": "violated"}
    ),
    "who crashed may have come back": Case(
        CRASHED_SENDER,
        {"agreement": "unknown", "validity": "unknown", 'faulty("1")': "unknown"},
        ("--incomplete",),
    ),
    "who is faulty": Case(
        CRASHED_SENDER,
        {'faulty("1")': "holds", 'faulty("2")': "violated", "forall i: not faulty(i)": "violated"},
    ),
}


def written(case: Case, folder: Path) -> Path:
    path = folder / "trace.jsonl"
    path.write_text("".join(f"{line}\n" for line in case.rows), encoding="utf-8")
    return path


def required(case: Case) -> list[str]:
    return [word for name in case.verdicts for word in ("--require", name)]


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_is_right(case: Case, engine: str, tmp_path: Path) -> None:
    path = written(case, tmp_path)
    ended = precedes("verify", path, *required(case), "--engine", engine, "--format", "json", *case.options)
    counts = json.loads(ended.out)["predicates"]
    assert {name: next(v for v, n in counts[name].items() if n) for name in case.verdicts} == case.verdicts
    assert ended.code == (
        1 if "violated" in case.verdicts.values() else 3 if "unknown" in case.verdicts.values() else 0
    )


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_definition_says_the_same(case: Case, tmp_path: Path) -> None:
    library, options = standard_library(), _options(case)
    for batch in read_batches([written(case, tmp_path)], options, Notices()):
        execution = execution_of(batch, 0)
        found = {
            name: verdict(evaluate(requirement(name, library, "--require").formula, execution)).value
            for name in case.verdicts
        }
        assert found == case.verdicts


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_laid_out_it_is_the_same(case: Case, tmp_path: Path) -> None:
    path, laid = written(case, tmp_path), tmp_path / "laid.parquet"
    assert precedes("convert", path, "-o", laid).code == 0
    alike = [
        json.loads(precedes("verify", trace, *required(case), "--format", "json", *case.options).out)[
            "predicates"
        ]
        for trace in (path, laid)
    ]
    assert alike[0] == alike[1]


def _options(case: Case) -> TraceOptions:
    given = dict(zip(case.options[::2], case.options[1::2], strict=False))
    return TraceOptions(
        complete="--incomplete" not in case.options,
        delivery=EventKind(given.get("--delivery", "deliver")),
    )


SCENARIO = """
scenario crashes
cluster E1 E2 E3
H1: < !a{1,2} !b{3} ?a crash ]
H2: < crash recover local ]
RL3: < ]
expect faulty(E1) and not faulty(E2) and not faulty(E3)
expect agreement
expect not uniform_agreement
expect validity
"""


def test_crashes_in_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "crashes.prec"
    path.write_text(SCENARIO, encoding="utf-8")
    ended = precedes("check", path)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "4 statements: 4 as stated")


def test_a_crash_is_told_and_drawn(tmp_path: Path) -> None:
    path = tmp_path / "crashes.prec"
    path.write_text(SCENARIO.replace("not uniform", "uniform"), encoding="utf-8")
    ended = precedes("check", path)
    assert ended.code == 1
    assert "E1 delivers a, E2 does not deliver a; a was addressed to E1 and E2; E2 is correct" in ended.out
    assert "H1: < !a{1,2} !b{3} ?a crash ]" in ended.out
