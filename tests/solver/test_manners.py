"""Giving up, being interrupted, and what is beyond the solver."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from precedes.core.formula import Undetermined
from precedes.core.verdict import TRUE
from precedes.engines.solver import (
    Bounds,
    Counterexample,
    Mismatch,
    NoCounterexample,
    NoExample,
    Options,
    Proved,
    Undecided,
    find,
    search,
)
from precedes.language.loader import compile_text
from precedes.language.syntax import QuestionKind
from tests.solver.asking import answered, asked, required

PIGEONS = (
    "(forall i: exists p in RL[i]: true)"
    " and (forall i, j: i = j or forall p in RL[i]: not p in RL[j]) implies false"
)
"""More entities than messages, and each has one of its own: false, and known to be hard."""
HARD = Bounds((11, 11), (10, 10))


def test_time_runs_out() -> None:
    answer = asked(PIGEONS, Options(timeout=2, bounds=HARD))
    assert answer == Undecided("solver gave up after 2 s at 10 messages")
    assert str(answer) == "undecided (solver gave up after 2 s at 10 messages)"


def test_memory_runs_out() -> None:
    answer = asked("ST implies SP", Options(memory=1))
    assert answer == Undecided("solver ran out of its 1 MB")


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected: hypothesis measures that in a callback, where an interruption would be lost."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_interrupted() -> None:
    """Ctrl-C ends the question, not the process, and the next question is answered."""
    lines: list[str] = []

    def press(line: str) -> None:
        lines.append(line)
        if "looking at" in line:
            threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()

    with pytest.raises(KeyboardInterrupt):
        asked(PIGEONS, Options(bounds=HARD, progress=press))
    assert asked("ST implies SP") == Proved()
    assert "looking at 10 messages, 11 entities" in lines


def test_progress_is_told() -> None:
    lines: list[str] = []
    asked("order_equivalent", Options(progress=lines.append))
    assert lines[0] == "looking for a proof for every size"
    assert lines[-1] == "looking at 2 messages, 2 entities"


def test_beyond_this_version() -> None:
    from precedes.engines.solver import prove

    assert prove(Undetermined("not yet")) == Undecided("not yet")
    assert find(Undetermined("not yet")) == Undecided("not yet")


def test_the_bound_is_part_of_the_answer() -> None:
    """Finitely many messages have a first one: true, and not to be proved for every size."""
    text = (
        "forall i: (exists p: p in RL[i]) implies exists p in RL[i]: forall q in RL[i]: p = q or p <[RL[i]] q"
    )
    answer = asked(text, Options(bounds=Bounds((1, 2), (0, 4))))
    assert answer == NoCounterexample(2, 4)
    assert str(answer) == "no counterexample up to 2 entities and 4 messages"


def test_no_example() -> None:
    assert find(required("ST and not SP")) == NoExample(Bounds(), every_size=True)
    bounds = Bounds((1, 2), (0, 2))
    answer = find(required("ST and not acyclic_order"), bounds)
    assert answer == NoExample(bounds, every_size=False)
    assert str(answer) == "no example up to 2 entities and 2 messages"


@pytest.mark.parametrize(
    ("text", "histories"),
    [
        ("forall p: sent(p) or (exists i: p in RL[i])", [["discard a"]]),
        ("forall p, i: acknowledged(p, i) implies p in RL[i]", [["send a", "ack a"]]),
        (
            "forall i: forall d, e in DL[i]: d <[DL[i]] e and not in_flight(d, e) implies acknowledged(message(d), i)",
            [["send a", "deliver a", "nack a", "deliver a"]],
        ),
        (
            "forall i, p: implied_clock(arrive(p, i), i) <= 2",
            [["send a", "deliver a", "deliver a", "arrive a"]],
        ),
    ],
)
def test_what_only_a_trace_would_have(text: str, histories: list[list[str]]) -> None:
    """Messages that are only discarded, acknowledgements of what was not delivered, what was given back, repeats that a
    vector time counts.
    """
    answer = asked(text)
    assert isinstance(answer, Counterexample)
    found = [[f"{e.kind.value} {e.message}" for e in h.events] for h in answer.execution.histories]
    assert found == histories


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "forall i: forall d in DL[i]: nth(d) < 3",
            "no counterexample up to 1 entity, 1 message and 2 deliveries of a message at an entity",
        ),
        (
            "forall i: forall d, e in DL[i]: in_flight(d, e) implies nth(e) < 3",
            "no counterexample up to 1 entity, 1 message, 2 deliveries, 1 ack and 1 nack of a message at an entity",
        ),
        (
            "exists u, v, w in views: forall x in views: x = u or x = v or x = w",
            "no counterexample up to 1 entity, 1 message and 3 views",
        ),
    ],
)
def test_what_else_was_bounded_is_told(text: str, said: str) -> None:
    """Larger numbers of these refute what is asked here."""
    assert str(asked(text, Options(bounds=Bounds((1, 1), (0, 1))))) == said


def test_executions_without_messages_count() -> None:
    """Z3's sorts are never empty; executions may be."""
    answer = asked("exists p: sent(p) or not sent(p)")
    assert isinstance(answer, Counterexample)
    assert not answer.execution.messages
    assert asked("exists i: forall p in RL[i]: p = p") == Proved()


def test_a_mismatch_is_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "evaluate", lambda formula, execution: TRUE)
    with pytest.raises(Mismatch, match="reference evaluator"):
        asked("order_equivalent")


def test_predicates_of_a_file(tmp_path: Path) -> None:
    """A user's definitions work as the library's do."""
    text = (
        "predicate complete := forall p: sent(p) implies forall i: p in RL[i]\n"
        "claim PO implies complete\n"
        "refute complete implies PO\n"
        "find complete and not no_creation with entities = 2, messages <= 1\n"
    )
    claims = compile_text(text, "mine.prec").claims
    assert [claim.kind for claim in claims] == [QuestionKind.CLAIM, QuestionKind.REFUTE, QuestionKind.FIND]
    answers = [str(answered(claim)) for claim in claims]
    assert answers == [
        "proved for every size",
        "counterexample with 1 entity and 1 message",
        "example with 2 entities and 1 message",
    ]
