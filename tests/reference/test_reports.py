"""Figures and sentences as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import dedent

import pytest
from hypothesis import given, settings

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import FailureLine, Formula, Requirement
from precedes.core.verdict import FALSE
from precedes.engines.reference import cut, explain
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.quoting import written
from precedes.language.requirements import requirement
from precedes.reports.figure import WIDTH, figure, sentence
from precedes.reports.prose.times import duration_text
from precedes.testing.random_executions import SCENARIOS, TRACES
from tests.reference import definitions as d
from tests.reference import scenarios as s
from tests.strategies.drawn import executions, formulas


def told(requirement: Requirement, execution: Execution) -> str:
    """The sentence of the first witness, of a violation or of what is undecided."""
    explanation = explain(requirement, execution)
    return sentence(requirement, explanation.execution, (*explanation.witnesses, *explanation.undecided)[0])


def drawn(requirement: Requirement, execution: Execution) -> str:
    """The figure of the first witness."""
    return figure(execution, explain(requirement, execution).witnesses[0])


CHAIN = "m1 ~> m3: Pi sends m1 then m2, Pj delivers m2 then sends m3"

SENTENCES = [
    (
        d.ORDER_EQUIVALENT,
        s.FIG3,
        "E2 delivers a before x, E3 delivers x before a; both were addressed to E2 and E3",
    ),
    (
        d.ST,
        s.FIG3,
        "order_equivalent: E2 delivers a before x, E3 delivers x before a; both were addressed to E2 and E3",
    ),
    (d.INFORMATION_EQUIVALENT, s.FIG2, "E1 delivers c, E2 does not deliver c"),
    (d.SELECTIVELY_INFORMATION_PRESERVING, s.FIG6, "E1 sends c to E3, E3 does not deliver c"),
    (d.AGREEMENT, s.FIG6, "E1 delivers c, E3 does not deliver c; c was addressed to E1 and E3"),
    (
        d.ACYCLIC_ORDER,
        s.CYCLE,
        "E1 delivers a before b, E2 delivers b before c, E3 delivers c before a",
    ),
    (
        d.CAUSAL_ORDER,
        s.OVERTAKING,
        f"{CHAIN}; Pk delivers m3 at 4 s, m1 at 5 s",
    ),
    (
        d.PROCESS_CAUSAL_ORDER,
        s.AFTER,
        "a ~> b: E1 sends a, E2 delivers a then sends b; E3 delivers b before a",
    ),
    (d.LOCAL_ORDER, s.AFTER, "E2 delivers a then sends b; E3 delivers b before a; a was addressed to E3"),
    (
        d.DELTA_CAUSAL_ORDER,
        s.WITHIN_DELTA,
        f"{CHAIN}; Pk delivers m3 at 12 ns, m1 at 15 ns; all within delta (20 ns)",
    ),
    (d.DEADLINE, s.BEYOND_DELTA, "Pk delivers m1 15 ns after its send, delta is 10 ns"),
    (
        d.DEADLINE,
        s.NO_TIMES,
        "it is not known whether the delivery of a at B is no later than the send of a + delta (10 ns)",
    ),
    (d.CAUSAL_ORDER, s.NO_INTERLEAVING, "E3 delivers b before a, it is not known whether a ~> b"),
    (
        d.CAUSAL_ORDER,
        s.histories("E1 E2", "?b !a{2}", "?a !b{1}"),
        "no such execution is possible: E1 sends a, E2 delivers a then sends b, E1 delivers b then sends a",
    ),
    (
        d.ORDER_PRESERVING,
        s.logs("E1 E2", SL1="a b", RL2="b a"),
        "E1 sends a before b, E2 delivers b before a",
    ),
    (d.NO_CREATION, s.logs("E1 E2", RL2="a"), "E2 delivers a, nobody sent a"),
    (d.INFORMATION_PRESERVING, s.logs("E1", RL1="a"), "E1 delivers a, nobody sent a"),
    (
        d.SELECTIVELY_INFORMATION_PRESERVING,
        s.logs("E1 E2", SL1="a{1}", RL1="a", RL2="a"),
        "E2 delivers a, E1 does not send a to E2",
    ),
    (d.NO_DUPLICATION, s.logs("E1", SL1="a", RL1="a a"), "E1 delivers a twice"),
    (d.VALIDITY, s.logs("E1 E2", SL1="a{1,2}"), "a was addressed to E1 and E2, none of them delivers it"),
    (
        Requirement("failure_line", FailureLine()),
        replace(s.FIG6, marks={"E1": 1, "E2": 3, "E3": 2}),
        "the failure line of E2 is before q",
    ),
]


@pytest.mark.parametrize(("requirement", "execution", "expected"), SENTENCES)
def test_sentences(requirement: Requirement, execution: Execution, expected: str) -> None:
    assert told(requirement, execution) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            'forall i: forall o in RL[i]:sender(o) = "E1" implies exists p in RL[i]: sender(p) = "E2" and p <[RL[i]] o',
            "E3 delivers nothing from E2 before a",
        ),
        ('forall i: forall o in RL[i]: sender(o) = "E2"', "E3 delivers a, a is from E1, not from E2"),
        ('forall i: forall o in RL[i]: not sender(o) = "E1"', "E3 delivers a, a is from E1"),
        ('exists p in SL["E1"]: sender(p) = "E3"', "E1 sends nothing from E3"),
    ],
)
def test_senders_are_told_with_their_messages(asked: str, expected: str) -> None:
    text = "scenario s\ncluster E1 E2 E3\nSL1: < a{3} ]\nSL2: < b{3} ]\nRL3: < a b ]\n"
    (found,) = compile_text(text).scenarios
    assert told(requirement(asked, standard_library()), found.execution) == expected


def test_messages_that_were_not_addressed_to_both_are_told() -> None:
    execution = s.logs("E1 E2", SL1="a{1} b{1,2}", RL1="a b", RL2="b a")
    assert told(d.ORDER_EQUIVALENT, execution).endswith("; a was not addressed to E2")


# ---- figures ------------------------------------------------------------


def lines(text: str) -> str:
    """A figure without the indentation of the test."""
    return dedent(text).strip("\n")


def test_figure_3_with_the_two_places_marked() -> None:
    assert drawn(d.ST, s.FIG3) == lines(
        """
        RL1: < x c p z ]     SL1: < a{2,3} b{2} c{1,3} ]
        RL2: < a x b y q ]   SL2: < p{1} q{2,3} ]
        #      ^ ^
        RL3: < x a c z q ]   SL3: < x{1,2,3} y{2} z{1,3} ]
        #      ^ ^
        """
    )


def test_figure_6_with_its_failure_points() -> None:
    assert drawn(d.SELECTIVELY_INFORMATION_PRESERVING, s.FIG6) == lines(
        """
        RL1: < x || c p z ]     SL1: < a{2,3} b{2} c{1,3} ]
        #                                          ^^^^^^
        RL2: < a x b y || q ]   SL2: < p{1} q{2,3} ]
        RL3: < a x || z q ]     SL3: < x{1,2,3} y{2} z{1,3} ]
        #                 ^
        """
    )


def test_what_nobody_sent_is_marked_where_it_was_delivered() -> None:
    execution = s.logs("E1 E2", SL1="b", RL2="a b")
    assert drawn(d.INFORMATION_PRESERVING, execution) == lines(
        """
        RL1: < ]       SL1: < b ]
        #      ^              ^
        RL2: < a b ]   SL2: < ]
        """
    )
    assert drawn(d.NO_CREATION, execution).splitlines()[2] == "#      ^"


def test_a_broadcast_needs_no_braces() -> None:
    assert figure(s.FIG2).splitlines()[1] == "RL2: < a x b p y z q ]     SL2: < p q ]"


def test_histories_where_happens_before_is_the_matter() -> None:
    assert drawn(d.CAUSAL_ORDER, s.OVERTAKING) == lines(
        """
        cluster Pi Pj Pk
        H[Pi]: < !m1{Pk}@0 !m2{Pj}@1 ]
        #        ^^^^^^^^^ ^^^^^^^^^
        H[Pj]: < ?m2@2 !m3{Pk}@3 ]
        #        ^^^^^ ^^^^^^^^^
        H[Pk]: < ?m3@4 ?m1@5 ]
        #        ^^^^^ ^^^^^
        """
    )


def test_logs_where_a_history_shows_no_more() -> None:
    assert drawn(d.INFORMATION_PRESERVING, s.AFTER).splitlines()[0] == "RL1: < ]       SL1: < a{2,3} ]"


def test_every_kind_of_event() -> None:
    events = (
        Event(EventKind.SEND, "a", 1_500_000),
        Event(EventKind.ARRIVE, "a"),
        Event(EventKind.DISCARD, "a"),
        Event(EventKind.CRASH),
        Event(EventKind.RECOVER),
        Event(EventKind.VIEW, members=("E1",)),
    )
    execution = Execution("x", (History("E1", events),), {"a": Message("a", "E1", frozenset())})
    assert figure(execution) == "H1: < !a{}@1.5ms arrive(a) discard(a) crash recover view{1} ]"


def test_dates_are_told_from_the_first_event_on() -> None:
    start = 1_700_000_000 * 10**9
    execution = s.histories("E1 E2", f"!a{{2}}@{start}", f"?a@{start + 1_500_000}", delta=10**6)
    assert figure(execution) == "H1: < !a{2}@0 ]\nH2: < ?a@1.5ms ]"
    assert told(d.DEADLINE, execution) == "E2 delivers a 1.5 ms after its send, delta is 1 ms"


def wide(entities: int, messages: int) -> Execution:
    """One entity sends, every other delivers, the last in another order."""
    names = [f"message{number}" for number in range(messages)]
    receipts = {f"RL{number}": " ".join(names) for number in range(2, entities)}
    swapped = [*names[:20], names[21], names[20], *names[22:]]
    cluster = " ".join(f"E{number}" for number in range(1, entities + 1))
    return s.logs(cluster, SL1=" ".join(names), **receipts, **{f"RL{entities}": " ".join(swapped)})


def test_a_large_figure_is_cut_to_what_matters() -> None:
    assert drawn(d.ORDER_EQUIVALENT, wide(12, 50)) == lines(
        """
        RL2: < ... message19 message20 message21 message22 ... ]
        #                    ^^^^^^^^^ ^^^^^^^^^
        RL12: < ... message19 message21 message20 message22 ... ]
        #                     ^^^^^^^^^ ^^^^^^^^^
        # 10 more of the cluster's 12 entities
        """
    )


def test_a_large_figure_without_a_witness_is_cut_to_its_ends() -> None:
    assert figure(wide(3, 50)).splitlines()[0] == "RL1: < ]"
    assert figure(wide(3, 50)).splitlines()[1] == "SL1: < message0 message1 message2 ... message49 ]"


@pytest.mark.parametrize(
    ("name", "text"),
    [("a", "a"), ("PDU_7", "PDU_7"), ("7", '"7"'), ("a b", '"a b"'), ('"', '"\\""'), ("forall", '"forall"')],
)
def test_names_are_quoted_where_the_language_needs_it(name: str, text: str) -> None:
    assert written(name) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 s"),
        (15, "15 ns"),
        (1_500, "1.5 us"),
        (10**9, "1 s"),
        (-2_500_000, "-2.5 ms"),
        (1_000_000_001, "1.000000001 s"),
    ],
)
def test_durations(nanoseconds: int, text: str) -> None:
    assert duration_text(nanoseconds) == text


# ---- for random formulas ------------------------------------------------------------


def widths(text: str) -> Sequence[int]:
    """The lengths of the lines of a figure."""
    return [len(line) for line in text.splitlines()]


@settings(max_examples=200)
@given(executions(SCENARIOS), formulas())
def test_whatever_fails_can_be_told_and_drawn(execution: Execution, formula: Formula) -> None:
    requirement = Requirement("random", formula)
    explanation = explain(requirement, execution, limit=2)
    assert max(widths(figure(execution)), default=0) <= WIDTH
    for witness in explanation.witnesses + explanation.undecided:
        assert sentence(requirement, explanation.execution, witness)
        assert figure(explanation.execution, witness) or not execution.entities


@pytest.mark.parametrize("requirement", [d.ST, d.CAUSAL_ORDER, d.ACYCLIC_ORDER, d.NO_DUPLICATION])
@given(execution=executions(TRACES))
def test_a_violation_has_a_sentence_and_marks(requirement: Requirement, execution: Execution) -> None:
    for witness in explain(requirement, execution).witnesses:
        part = cut(execution, witness)
        assert sentence(requirement, execution, witness)
        assert "^" in figure(part, witness)
    assert explain(requirement, execution).value != FALSE or explain(requirement, execution).witnesses
