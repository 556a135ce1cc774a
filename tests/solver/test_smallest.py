"""Counterexamples are the smallest, the same on every run, recognizable, and can be pasted back."""

from __future__ import annotations

import subprocess
import sys

import pytest

from precedes.core.execution import EventKind
from precedes.core.verdict import FALSE
from precedes.engines.solver import Bounds, as_scenario
from tests.solver.asking import counterexample, example, pasted, size

SIZES = {
    "SP implies ST": (2, 2, 6),
    "1C implies ST": (1, 1, 1),
    "ST implies acyclic_order": (3, 3, 9),
    "order_equivalent implies acyclic_order": (3, 3, 9),
    "order_equivalent implies information_equivalent": (1, 2, 2),
    "information_equivalent implies order_equivalent": (2, 2, 6),
    "selectively_correct implies selectively_correct_literal": (1, 1, 1),
    "order_preserving implies causal_order": (2, 2, 5),
    "CO implies order_equivalent": (2, 2, 6),
    "delta_causal_order implies causal_order": (2, 1, 4),
    "causal_order implies causal_delivery": (2, 1, 3),
    "no_duplication": (1, 1, 3),
    "no_creation": (1, 1, 1),
    "deadline": (1, 1, 2),
    "timely_delivery": (1, 1, 2),
    "validity implies timely_delivery": (1, 1, 3),
    "1C implies prefix_order": (2, 2, 4),
    "CO implies local_order": (2, 2, 4),
    "not failure_line": (0, 1, 0),
    "failure_line": (1, 1, 2),
}


@pytest.mark.parametrize("text", SIZES)
def test_size(text: str) -> None:
    """Messages, entities, entries of all logs: pinned, and none of them more than a person needs."""
    assert size(counterexample(text)) == SIZES[text]


@pytest.mark.parametrize("text", [text for text in SIZES if text != "timely_delivery"])
def test_pasted_back(text: str) -> None:
    """`precedes check` of the printed scenario agrees."""
    assert pasted(counterexample(text), text) == FALSE


def test_as_text() -> None:
    """The three receivers of the contract's own scenario, pairwise sharing one message."""
    execution = counterexample("ST implies acyclic_order")
    assert as_scenario(execution, "cycle", ["expect ST", "expect not acyclic_order"]) == (
        "scenario cycle\n"
        "cluster E1 E2 E3\n"
        "SL1: < a{1,2} b{1,3} ]\n"
        "RL1: < a b ]\n"
        "SL2: < c{2,3} ]\n"
        "RL2: < c a ]\n"
        "RL3: < b c ]\n"
        "expect ST\n"
        "expect not acyclic_order\n"
    )


def test_histories_and_times_as_text() -> None:
    execution = counterexample("delta_causal_order implies causal_order")
    assert as_scenario(execution, "late") == (
        "scenario late\ncluster E1\ndelta 1\nH1: < !a@0 !b@1 ?b@2 ?a@3 ]\n"
    )


def test_recorded_clocks_as_comments() -> None:
    text = as_scenario(counterexample("vector_time"), "clocks")
    assert "# clock of send a at E1: E1 0\n" in text


def test_times_in_the_units_of_the_formula() -> None:
    text = "forall i: forall p in RL[i]: sent(p) implies deliver_time(p, i) <= send_time(p) + 100ms"
    assert as_scenario(counterexample(text), "slow") == "scenario slow\ncluster E1\nH1: < !a@0 ?a@150ms ]\n"


def test_everything_is_delivered_where_it_is_addressed() -> None:
    """Loss, strangers, creation and repeats would refute it too; what is recognizable is preferred."""
    execution = counterexample("order_equivalent")
    for name, message in execution.messages.items():
        receivers = {entity for entity in execution.entities if name in execution.delivered(entity)}
        assert message.sender is not None
        assert message.destinations == receivers != set()


def test_names_of_the_formula_are_kept() -> None:
    execution = counterexample('not "urgent" in RL["Pk"]')
    assert execution.entities == ("Pk",)
    assert set(execution.messages) == {"urgent"}


def test_only_possible_executions() -> None:
    """Nothing is delivered before it was sent."""
    execution = example("exists p: sent(p) and p in RL[sender(p)]")
    kinds = [event.kind for event in execution.histories[0].events]
    assert kinds.index(EventKind.SEND) < kinds.index(EventKind.DELIVER)


def test_bounds_of_a_question() -> None:
    execution = example("1C and not information_preserving", Bounds((2, 2), (2, 2)))
    assert (len(execution.entities), len(execution.messages)) == (2, 2)


QUESTIONS = ("SP implies ST", "ST implies causal_order", "delta_causal_order implies causal_order")


def test_same_answer_in_another_process() -> None:
    """Whatever was asked before, and however strings hash."""
    program = (
        "import sys\n"
        "from tests.solver.asking import counterexample\n"
        "for text in sys.argv[1:]: print(counterexample(text))\n"
    )
    ordered, backwards = (
        subprocess.run(
            [sys.executable, "-c", program, *questions],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(path for path in sys.path if path)},
        ).stdout.splitlines()
        for seed, questions in (("1", QUESTIONS), ("2", QUESTIONS[::-1]))
    )
    assert ordered == backwards[::-1]
    assert len(ordered) == len(QUESTIONS)
