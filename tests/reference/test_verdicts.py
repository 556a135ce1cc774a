"""The verdicts that the papers and the contract state, on executions built by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import (
    Acyclic,
    And,
    ArrivalEvent,
    Comparison,
    Constant,
    DeliveryEvent,
    Dimension,
    EntityNamed,
    Exists,
    Forall,
    HappensBefore,
    InLog,
    IsDestination,
    MessageNamed,
    NumberTerm,
    Position,
    Precedes,
    ReceiptLog,
    RecordedClock,
    Relation,
    Repeated,
    Requirement,
    SameEntity,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Size,
    TimeOf,
    Undetermined,
    VectorTime,
)
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE, Reason, Verdict, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.reference import evaluate
from precedes.logic.plan import plan
from tests.reference import definitions as d
from tests.reference import scenarios as s

HOLDS, VIOLATED, UNKNOWN = Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNKNOWN


def e(number: int) -> EntityNamed:
    """E1, E2, ..."""
    return EntityNamed(f"E{number}")


def m(name: str) -> MessageNamed:
    """A message by name."""
    return MessageNamed(name)


STATED = [
    (s.FIG2, d.SINGLE_CHANNEL, HOLDS),
    (s.FIG2, d.TO, VIOLATED),
    (s.FIG2, d.INFORMATION_EQUIVALENT, VIOLATED),
    (s.FIG2, d.ORDER_EQUIVALENT, HOLDS),
    (s.FIG2, d.ACYCLIC_ORDER, HOLDS),
    (s.FIG3, d.SP, HOLDS),
    (s.FIG3, d.ST, VIOLATED),
    (s.FIG3, d.RELIABLE, HOLDS),
    (s.FIG3, d.ACYCLIC_ORDER, VIOLATED),
    (s.FIG4, d.ST, HOLDS),
    (s.FIG4, d.TO, VIOLATED),
    (s.FIG4, d.ACYCLIC_ORDER, HOLDS),
    (s.FIG6, d.SELECTIVELY_INFORMATION_PRESERVING, VIOLATED),
    (s.CYCLE, d.ST, HOLDS),
    (s.CYCLE, d.ACYCLIC_ORDER, VIOLATED),
    (s.OVERTAKING, d.CAUSAL_ORDER, VIOLATED),
    (s.OVERTAKING, d.PROCESS_CAUSAL_ORDER, VIOLATED),
    (s.OVERTAKING, d.NO_CREATION, HOLDS),
    (s.OVERTAKING, d.ORDER_PRESERVING, HOLDS),
    (s.DELAYED, d.CAUSAL_ORDER, HOLDS),
    (s.DELAYED, d.CO, HOLDS),
    (s.BEYOND_DELTA, d.CAUSAL_ORDER, VIOLATED),
    (s.BEYOND_DELTA, d.DELTA_CAUSAL_ORDER, HOLDS),
    (s.BEYOND_DELTA, d.DEADLINE, VIOLATED),
    (s.WITHIN_DELTA, d.DELTA_CAUSAL_ORDER, VIOLATED),
    (s.WITHIN_DELTA, d.DEADLINE, HOLDS),
    (s.OWN_MESSAGES, d.CAUSAL_ORDER, HOLDS),
    (s.OWN_MESSAGES, d.TO, HOLDS),
    (s.NO_TIMES, d.DEADLINE, UNKNOWN),
    (s.NO_TIMES, d.CAUSAL_ORDER, HOLDS),
    (s.NO_INTERLEAVING, d.CAUSAL_ORDER, UNKNOWN),
    (s.NO_INTERLEAVING, d.ORDER_PRESERVING, HOLDS),
    (s.AFTER, d.CAUSAL_ORDER, VIOLATED),
    (s.AFTER, d.LOCAL_ORDER, VIOLATED),
    (s.BEFORE, d.CAUSAL_ORDER, HOLDS),
]


@pytest.mark.parametrize(("execution", "requirement", "stated"), STATED)
def test_stated_verdicts(execution: Execution, requirement: Requirement, stated: Verdict) -> None:
    assert verdict(evaluate(requirement.formula, execution)) is stated


def test_predicates_of_single_logs() -> None:
    assert evaluate(d.information_preserving_log(e(2)), s.FIG2) == FALSE
    assert evaluate(d.information_preserving_log(e(1)), s.FIG2) == TRUE
    assert evaluate(d.order_equivalent_logs(e(1), e(3)), s.FIG3) == TRUE
    assert evaluate(d.order_equivalent_logs(e(2), e(3)), s.FIG3) == FALSE
    assert evaluate(d.selectively_information_preserving_log(e(1)), s.FIG6) == TRUE


# ---- what does not exist ------------------------------------------------------------


@pytest.mark.parametrize(
    "atom",
    [
        InLog(m("a"), ReceiptLog(e(9))),
        InLog(m("nothing"), ReceiptLog(e(2))),
        Precedes(m("a"), m("c"), ReceiptLog(e(2))),
        Precedes(m("a"), m("a"), ReceiptLog(e(2))),
        SameEntity(e(9), e(9)),
        SameEntity(Sender(m("nothing")), Sender(m("nothing"))),
        Sent(m("nothing")),
        IsDestination(e(9), m("a")),
        HappensBefore(SendEvent(m("a")), DeliveryEvent(m("a"), e(1))),
        HappensBefore(SendEvent(m("a")), SendEvent(m("a"))),
    ],
)
def test_atoms_about_nothing_are_false(atom: InLog) -> None:
    assert evaluate(atom, s.FIG3) == FALSE


def test_comparisons_with_an_undefined_side_are_false_and_so_is_their_converse() -> None:
    missing = Position(m("c"), ReceiptLog(e(2)))
    for relation in Relation:
        assert evaluate(Comparison(relation, missing, number(1), Dimension.NUMBER), s.FIG3) == FALSE
        assert evaluate(Comparison(relation, number(1), missing, Dimension.NUMBER), s.FIG3) == FALSE


def number(value: int) -> Constant:
    """A plain number."""
    return Constant(Fraction(value), Dimension.NUMBER)


def equals(term: NumberTerm, value: int, execution: Execution) -> int:
    """The value of `term = value`."""
    return evaluate(Comparison(Relation.EQUAL, term, number(value), Dimension.NUMBER), execution)


def test_positions_and_sizes_count_from_one_and_by_first_occurrence() -> None:
    execution = s.histories("E1 E2", "!a{2} !b{1,2} !c{2}", "?b ?a ?b ?c")
    assert equals(Position(m("c"), ReceiptLog(e(2))), 3, execution) == TRUE
    assert equals(Size(ReceiptLog(e(2))), 3, execution) == TRUE
    assert equals(Size(SendLog(e(1), e(1))), 1, execution) == TRUE
    assert equals(Position(m("c"), SendLog(e(1), e(2))), 3, execution) == TRUE
    assert evaluate(Repeated(m("b"), ReceiptLog(e(2))), execution) == TRUE
    assert evaluate(Repeated(m("a"), ReceiptLog(e(2))), execution) == FALSE


# ---- what is not known ------------------------------------------------------------


def test_a_send_that_was_not_logged() -> None:
    execution = s.histories("E1 E2 E3", "!a{2}", "?m ?a", "", senders={"m": "E1"})
    assert evaluate(d.NO_CREATION.formula, execution) == TRUE
    assert evaluate(InLog(m("m"), SendLog(e(1))), execution) == TRUE
    assert evaluate(InLog(m("m"), SendLog(e(2))), execution) == FALSE
    assert evaluate(InLog(m("m"), SendLog(e(1), e(3))), execution) == Reason.SEND_NOT_LOGGED
    assert evaluate(IsDestination(e(2), m("m")), execution) == Reason.SEND_NOT_LOGGED
    assert evaluate(Precedes(m("a"), m("m"), SendLog(e(1))), execution) == Reason.SEND_NOT_LOGGED
    assert evaluate(Precedes(m("m"), m("m"), SendLog(e(1))), execution) == FALSE
    assert equals(Position(m("a"), SendLog(e(1))), 1, execution) == Reason.SEND_NOT_LOGGED
    assert equals(Size(SendLog(e(1))), 2, execution) == TRUE
    later = HappensBefore(SendEvent(m("m")), DeliveryEvent(m("a"), e(2)))
    assert evaluate(later, execution) == TRUE
    assert evaluate(HappensBefore(SendEvent(m("m")), SendEvent(m("a"))), execution) == Reason.SEND_NOT_LOGGED
    assert evaluate(d.ORDER_PRESERVING.formula, execution) == Reason.SEND_NOT_LOGGED


def test_two_sends_that_were_not_logged_may_follow_each_other_either_way() -> None:
    execution = s.histories("E1 E2", "", "?m ?n", senders={"m": "E1", "n": "E1"})
    for one, other in (("m", "n"), ("n", "m")):
        assert (
            evaluate(HappensBefore(SendEvent(m(one)), SendEvent(m(other))), execution)
            == Reason.SEND_NOT_LOGGED
        )


def in_time_of(execution: Execution) -> int:
    """Whether every delivery is in time."""
    return evaluate(d.DEADLINE.formula, execution)


def test_deadlines() -> None:
    exactly = s.histories("E1 E2", "!a{2}@0", "?a@10", delta=10)
    assert in_time_of(exactly) == TRUE
    assert in_time_of(replace(exactly, delta=9)) == FALSE
    assert in_time_of(replace(exactly, delta=None)) == Reason.NO_DELTA
    assert in_time_of(replace(exactly, epsilon=1)) == Reason.EPSILON
    assert in_time_of(replace(exactly, delta=11, epsilon=1)) == TRUE
    assert in_time_of(replace(exactly, delta=5, epsilon=5)) == FALSE
    assert in_time_of(replace(exactly, delta=5, epsilon=6)) == Reason.EPSILON
    late_and_untimed = s.histories("E1 E2", "!a{2}@0 !b{2}@1", "?a@20 ?b", delta=10)
    assert in_time_of(late_and_untimed) == FALSE
    in_time_and_untimed = s.histories("E1 E2", "!a{2}@0 !b{2}@1", "?a@5 ?b", delta=10)
    assert in_time_of(in_time_and_untimed) == Reason.NO_TIME


def test_clocks_that_do_not_fit_make_every_time_unknown() -> None:
    apart = s.histories("E1 E2", "!a{2}@0 !b{2}@50", "?a@20 ?b@40", delta=10)
    assert in_time_of(apart) == Reason.CLOCKS
    assert in_time_of(replace(apart, epsilon=9)) == Reason.CLOCKS
    assert in_time_of(replace(apart, epsilon=10)) == FALSE


def test_arrivals() -> None:
    none = s.histories("E1 E2", "!a{2}@0", "?a@1")
    recorded = s.histories("E1 E2", "!a{2}@0 !b{2}", "^a@1 ?a@2")
    arrival = ArrivalEvent(m("a"), e(2))
    assert evaluate(HappensBefore(arrival, DeliveryEvent(m("a"), e(2))), none) == Reason.NO_ARRIVAL
    assert evaluate(HappensBefore(arrival, DeliveryEvent(m("a"), e(2))), recorded) == TRUE
    assert evaluate(HappensBefore(ArrivalEvent(m("b"), e(2)), arrival), recorded) == FALSE
    early = Comparison(Relation.LESS, TimeOf(arrival), TimeOf(DeliveryEvent(m("a"), e(2))), Dimension.TIME)
    assert evaluate(early, recorded) == TRUE
    assert evaluate(early, none) == Reason.NO_ARRIVAL


def test_an_arrival_carries_nothing_unless_it_is_the_delivery() -> None:
    execution = s.histories("E1 E2", "!a{2}", "^a !b{1} ?a")
    answered = HappensBefore(SendEvent(m("a")), SendEvent(m("b")))
    assert evaluate(answered, execution) == FALSE
    assert evaluate(answered, replace(execution, delivery=EventKind.ARRIVE)) == TRUE


def test_an_impossible_execution() -> None:
    execution = s.histories("E1 E2", "?b !a{2}", "?a !b{1}")
    assert evaluate(d.CAUSAL_ORDER.formula, execution) == Reason.CYCLE
    assert evaluate(HappensBefore(SendEvent(m("a")), SendEvent(m("b"))), execution) == Reason.CYCLE
    assert equals(VectorTime(SendEvent(m("a")), e(1)), 2, execution) == Reason.CYCLE
    assert evaluate(d.ST.formula, execution) == TRUE


def test_clocks_recorded_and_implied() -> None:
    send = Event(EventKind.SEND, "a", clock={"E1": 1})
    deliver = Event(EventKind.DELIVER, "a", clock={"E1": 1, "E2": 1})
    bare = Event(EventKind.DELIVER, "a")
    message = {"a": Message("a", "E1", frozenset({"E2", "E3"}))}
    histories = (History("E1", (send,)), History("E2", (deliver, bare)), History("E3", (bare,)))
    execution = Execution("x", histories, message)
    at = DeliveryEvent(m("a"), e(2))
    assert equals(RecordedClock(at, e(1)), 1, execution) == TRUE
    assert equals(RecordedClock(at, e(3)), 0, execution) == TRUE
    assert equals(RecordedClock(DeliveryEvent(m("a"), e(3)), e(1)), 1, execution) == Reason.NO_CLOCK
    assert equals(VectorTime(at, e(1)), 1, execution) == TRUE
    assert equals(VectorTime(at, e(2)), 1, execution) == TRUE
    assert equals(VectorTime(at, e(3)), 0, execution) == TRUE


def test_a_send_that_was_not_logged_is_no_local_event_besides() -> None:
    """A clock counts it, and so it is a gap between the rows. Of events that nobody recorded it is the one that is
    known: it would count twice if the gap stood for a local event, too.
    """
    sent = Event(EventKind.SEND, "b", clock={"E1": 1, "E2": 2})
    answered = Event(EventKind.DELIVER, "b", clock={"E1": 2, "E2": 2}, counted=True)
    messages = {"a": Message("a", "E1", None), "b": Message("b", "E2", frozenset({"E1"}))}
    other = History("E2", (Event(EventKind.DELIVER, "a", clock={"E1": 1, "E2": 1}), sent))
    not_logged = Execution("x", (History("E1", (answered,)), other), messages)
    at = DeliveryEvent(m("b"), e(1))
    implied = VectorTime(at, e(1))
    first = Event(EventKind.SEND, "a", clock={"E1": 1}, counted=True)
    addressed = Message("a", "E1", frozenset({"E2"}))
    logged = Execution("x", (History("E1", (first, answered)), other), {"a": addressed, "b": messages["b"]})
    not_sent = replace(not_logged, messages={"a": Message("a", None, None), "b": messages["b"]})
    for execution in (not_logged, logged, not_sent):
        assert equals(implied, 2, execution) == TRUE
        stated = Comparison(Relation.EQUAL, implied, number(2), Dimension.NUMBER)
        found = scan(batch_of([execution]), plan([Requirement("stated", stated)]), jit=False)
        assert found.values[0, 0] == TRUE


def test_what_cannot_be_judged() -> None:
    assert evaluate(Undetermined("later"), s.FIG3) == Reason.NOT_DECIDED
    assert evaluate(Acyclic(d.P, d.Q, Undetermined("later")), s.FIG3) == Reason.NOT_DECIDED
    assert evaluate(Acyclic(d.P, d.Q, Undetermined("later")), s.histories("E1", "")) == TRUE


def test_variables_may_hide_others() -> None:
    inner = Exists(d.P, InLog(d.P, ReceiptLog(e(3))), Precedes(d.P, m("q"), ReceiptLog(e(3))))
    outer = Forall(d.P, InLog(d.P, ReceiptLog(e(2))), And((inner, InLog(d.P, ReceiptLog(e(2))))))
    assert evaluate(outer, s.FIG3) == TRUE
