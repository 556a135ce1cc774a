"""What rests on crashes, clocks, times and arrivals: the right verdict from every engine, and by definition."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from precedes.core.execution import EventKind
from precedes.core.transposition import execution_of
from precedes.core.verdict import verdict
from precedes.engines.reference import evaluate
from precedes.language.durations import duration
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.traces import Notices, Order, TraceOptions, read_batches
from tests.command.running import precedes
from tests.sampling import on_engines

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

BY_CLOCKS = (
    row("A", "send", "p", 0, dest=["R"], clock={"A": 1}),
    row("B", "send", "q", 0, dest=["R"], clock={"A": 2, "B": 2}),
    row("R", "deliver", "q", 0, clock={"A": 2, "B": 2, "R": 1}),
    row("R", "deliver", "p", 1, clock={"A": 2, "B": 2, "R": 2}),
)
"""No row says how B came to know of what A did."""
SENDS_ONLY = (
    row("A", "send", "p", 0, dest=["R"], clock={"A": 1}),
    row("B", "send", "q", 0, dest=["R"], clock={"A": 1, "B": 1}),
    row("R", "deliver", "q", 0),
    row("R", "deliver", "p", 1),
)
IGNORANT = (
    row("A", "send", "p", 0, dest=["B", "R"], clock={"A": 1}),
    row("B", "deliver", "p", 0, clock={"B": 1}),
    row("B", "send", "q", 1, dest=["R"], clock={"B": 2}),
    row("R", "deliver", "q", 0, clock={"B": 2, "R": 1}),
    row("R", "deliver", "p", 1, clock={"A": 1, "B": 2, "R": 2}),
)
"""The clock of a delivery does not know of the send: by the rows p comes before q, by the clocks it does not."""
SHUFFLED = (
    row("A", "send", "q", None, dest=["R"], clock={"A": 2}),
    row("A", "send", "p", None, dest=["R"], clock={"A": 1}),
    row("R", "deliver", "p", 0, clock={"A": 1, "R": 1}),
    row("R", "deliver", "q", 1, clock={"A": 2, "R": 2}),
)
"""The rows of A stand the other way round than its clocks."""
TIMED = (
    row("S", "send", "p", None, dest=["R"], time=0.1),
    row("S", "send", "q", None, dest=["R"], time=0.2),
    row("R", "deliver", "q", None, time=2.0),
    row("R", "deliver", "p", None, time=1.0),
)
GOVECTOR = (
    row("client", "send", "m1", 2, dest=["server"], clock={"client": 2}),
    row("server", "deliver", "m1", 2, clock={"client": 2, "server": 2}),
)

CASES = {
    "clocks know of a message that is in no row": Case(
        BY_CLOCKS,
        {"causal_order": "violated", "causal_delivery": "violated", "SP": "holds", "vector_time": "violated"},
    ),
    "rows are chosen": Case(BY_CLOCKS, {"causal_order": "holds"}, ("--order", "rows")),
    "clocks are chosen where they agree": Case(
        BY_CLOCKS, {"causal_order": "violated"}, ("--order", "clocks")
    ),
    "an incomplete trace is violated by its clocks": Case(
        BY_CLOCKS, {"causal_order": "violated", "SP": "unknown"}, ("--incomplete",)
    ),
    "clocks of sends alone, which count nothing else": Case(
        SENDS_ONLY, {"causal_order": "violated", "causal_delivery": "violated"}
    ),
    "a delivery whose clock does not know of its send": Case(
        IGNORANT,
        {
            "causal_order": "unknown",
            "SP": "holds",
            "vector_time": "violated",
            'send("p") ~> send("q")': "unknown",
        },
    ),
    "that one by its rows": Case(IGNORANT, {"causal_order": "violated"}, ("--order", "rows")),
    "that one by its clocks, which contradict the message": Case(
        IGNORANT, {"causal_order": "unknown"}, ("--order", "clocks")
    ),
    "rows of an entity against its clocks": Case(
        SHUFFLED,
        {"SP": "unknown", "order_equivalent": "holds", "causal_order": "unknown", "vector_time": "unknown"},
    ),
    "these rows as they are": Case(
        SHUFFLED,
        {"SP": "violated", "causal_order": "violated", "vector_time": "violated"},
        ("--order", "rows"),
    ),
    "these rows by their clocks": Case(
        SHUFFLED, {"SP": "holds", "causal_order": "holds", "vector_time": "holds"}, ("--order", "clocks")
    ),
    "times against rows": Case(
        TIMED,
        {
            "SP": "unknown",
            'order_preserving(RL["S"])': "holds",
            "causal_order": "unknown",
            "selectively_information_preserving": "holds",
            'position("p", RL["R"]) = 2': "unknown",
            'deliver_time("p", "R") <= deliver_time("q", "R")': "holds",
        },
    ),
    "these times do not matter": Case(
        TIMED, {"SP": "violated", "causal_order": "violated"}, ("--order", "rows")
    ),
    "clocks jitter so much": Case(TIMED, {"SP": "violated"}, ("--epsilon", "1s")),
    "times against seq": Case(
        (
            row("S", "send", "p", 0, dest=["R"], time=5),
            row("S", "send", "q", 1, dest=["R"], time=0.2),
            row("R", "deliver", "p", 0, time=1.0),
            row("R", "deliver", "q", 1, time=0.5),
        ),
        {"SP": "holds", "causal_order": "holds", "deadline": "unknown"},
        ("--delta", "1s"),
    ),
    "a certain breach beside a log in disorder": Case(
        (*TIMED, row("T", "deliver", "q", 0), row("T", "deliver", "p", 1)),
        {"order_preserving": "violated", "order_equivalent": "unknown"},
    ),
    "clocks that count local events without rows": Case(GOVECTOR, {"vector_time": "holds"}),
    "clocks that count local events": Case(
        (*GOVECTOR, row("client", "local", None, 1, clock={"client": 1}), row("server", "local", None, 1)),
        {"vector_time": "holds"},
    ),
    "clocks that count what did not happen": Case(
        (*GOVECTOR, row("client", "local", None, 1, clock={"client": 1})), {"vector_time": "violated"}
    ),
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


@pytest.mark.parametrize(("engine", "case"), on_engines(4, CASES.values(), CASES))
def test_every_engine_is_right(engine: str, case: Case, tmp_path: Path) -> None:
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
        order=Order(given["--order"]) if "--order" in given else None,
        delta=duration(given["--delta"]) if "--delta" in given else None,
        epsilon=duration(given.get("--epsilon", "0")),
    )


def test_a_chain_by_clocks_says_so(tmp_path: Path) -> None:
    path = written(Case(BY_CLOCKS, {}), tmp_path)
    ended = precedes("verify", path, "--require", "causal_order")
    assert "p ~> q: A sends p, B sends q, with a clock that counts that; R delivers q before p" in ended.out


def test_what_is_not_known_is_told_with_its_rows(tmp_path: Path) -> None:
    path = written(Case(IGNORANT, {}), tmp_path)
    ended = precedes("verify", path, "--require", "causal_order")
    assert f"(1; first: execution x: {path}: row 1 and {path}: row 2)" in ended.out
    assert "the recorded clocks and the order of rows disagree" in ended.out


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
