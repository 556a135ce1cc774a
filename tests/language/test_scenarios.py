"""Scenarios as executions."""

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.verdict import Verdict
from precedes.language.durations import duration
from precedes.language.loader import compile_text
from precedes.language.scenarios import impossible


def execution(text: str) -> Execution:
    [scenario] = compile_text(f"scenario s\n{text}").scenarios
    return scenario.execution


def test_a_figure() -> None:
    found = execution("cluster E1 E2 E3\nRL1: < x c ]  SL1: < a{2,3} c_{13} ]\nRL2: < a x ]\nSL3: < x ]")
    assert found.entities == ("E1", "E2", "E3")
    assert found.sent("E1") == ("a", "c")
    assert found.delivered("E1") == ("x", "c")
    assert found.delivered("E3") == ()
    assert found.messages["a"] == Message("a", "E1", frozenset({"E2", "E3"}))
    assert found.messages["c"] == Message("c", "E1", frozenset({"E1", "E3"}))
    assert found.messages["x"] == Message("x", "E3", frozenset({"E1", "E2", "E3"}))
    assert [history.interleaved for history in found.histories] == [False, True, True]
    assert (found.complete, found.delta, found.epsilon, dict(found.marks)) == (True, None, 0, {})


def test_a_history() -> None:
    found = execution(
        """
        cluster "node 1" b
        H["node 1"]: < !m{b}@1.5 !n{}@2 local crash@3 recover view{1,b}@4min ]
        H2: < arrive(m) ?m@1700ms discard(n) ]
        delta 2
        epsilon 1ms
        """
    )
    first, second = found.histories
    assert [event.kind for event in first.events] == [
        EventKind.SEND,
        EventKind.SEND,
        EventKind.LOCAL,
        EventKind.CRASH,
        EventKind.RECOVER,
        EventKind.VIEW,
    ]
    assert [event.time for event in first.events] == [
        1_500_000_000,
        2_000_000_000,
        None,
        3_000_000_000,
        None,
        240_000_000_000,
    ]
    assert first.events[-1].members == ("node 1", "b")
    assert [event.kind for event in second.events] == [EventKind.ARRIVE, EventKind.DELIVER, EventKind.DISCARD]
    assert second.events[1].time == 1_700_000_000
    assert found.messages["n"].destinations == frozenset()
    assert (found.delta, found.epsilon) == (2_000_000_000, 1_000_000)
    assert all(history.interleaved for history in found.histories)


def test_entities_without_a_line_did_nothing() -> None:
    found = execution("cluster A B C\nH1: < !a ]")
    assert [len(history.events) for history in found.histories] == [1, 0, 0]


def test_places_and_names_of_many_entities() -> None:
    names = " ".join(f"E{number}" for number in range(1, 13))
    found = execution(f"cluster {names}\nSL12: < a{{12}} b{{1,2}} ]")
    assert found.messages["a"].destinations == frozenset({"E12"})
    assert found.sent("E12") == ("a", "b")


def test_what_nobody_sent() -> None:
    found = execution("cluster A B\nRL1: < ghost named^2 named^B(3) ]")
    assert found.messages["ghost"] == Message("ghost", None, None)
    assert found.messages["named"] == Message("named", "B", None)
    assert not found.messages["named"].logged


def test_a_pdu_names_the_sender_that_is_logged() -> None:
    found = execution("cluster A B\nSL2: < q^2(6) ]\nRL1: < q^B(6) || r ]")
    assert found.messages["q"].sender == "B"
    assert found.marks == {"A": 1}


def test_marks_count_what_was_delivered_before() -> None:
    found = execution(
        "cluster A B C\nSL1: < a b ]\nRL1: < || a ]\nRL2: < a a b || ]\nH3: < ?a arrive(b) || ?b ]"
    )
    assert found.marks == {"A": 0, "B": 2, "C": 1}


def test_repeated_deliveries_stay() -> None:
    found = execution("cluster A B\nSL1: < a ]\nRL2: < a a ]")
    assert len(found.history("B").events) == 2
    assert found.delivered("B") == ("a",)


def test_destinations_on_a_delivery_are_checked_and_change_nothing() -> None:
    found = execution("cluster A B\nSL1: < a{2} b ]\nRL2: < a{B} b{1,2} ]")
    assert found.messages["a"].destinations == frozenset({"B"})


def test_the_parts_of_a_scenario_may_stand_in_any_order() -> None:
    text = """scenario s
        expect has(RL1)
        RL1: < a ]
        delta 1
        predicate has(L) := exists p in L: true
        cluster A
        claim has
        expect not TO
        """
    [scenario] = compile_text(text).scenarios
    assert [expectation.expected for expectation in scenario.expectations] == [
        Verdict.HOLDS,
        Verdict.VIOLATED,
    ]
    assert [expectation.text for expectation in scenario.expectations] == ["expect has(RL1)", "expect not TO"]
    assert [expectation.span.line for expectation in scenario.expectations] == [2, 8]


def test_a_scenario_keeps_its_title_and_source() -> None:
    [scenario] = compile_text('\nscenario fig4 "ST" source "1994"\ncluster A').scenarios
    assert (scenario.name, scenario.title, scenario.source, scenario.span.line) == ("fig4", "ST", "1994", 2)


def test_questions_keep_their_bounds() -> None:
    [claim] = compile_text("find TO with entities = 2, messages <= 3").claims
    assert (claim.kind.value, claim.text) == ("find", "find TO with entities = 2, messages <= 3")
    assert [(size.counted.value, size.exactly, size.number) for size in claim.bounds] == [
        ("entities", True, 2),
        ("messages", False, 3),
    ]


@pytest.mark.parametrize(
    "logs",
    [
        # No interleaving of E1's sends and deliveries is ruled out by the other entity.
        "SL1: < a ]\nRL1: < b ]\nSL2: < b ]\nRL2: < a ]",
        # Every order of SL and RL alone is possible, also across senders.
        "SL1: < a b ]\nRL1: < d c ]\nSL2: < c d ]\nRL2: < b a ]",
        "H1: < !a ?b ]\nSL2: < b ]\nRL2: < a ]",
        "H1: < !a ?a ]\nH2: < ?a ?a ]",
        # Delivered by an entity that it was not sent to.
        "SL1: < a{1} ]\nRL2: < a ]",
    ],
)
def test_what_may_have_happened_is_read(logs: str) -> None:
    execution(f"cluster E1 E2\n{logs}")


@pytest.mark.parametrize(
    ("logs", "line"),
    [
        ("H1: < ?a !a ]\nH2: < ]", 3),
        ("H1: < !b arrive(a) !a ]", 3),
        ("H1: < ?b !a ]\nH2: < ?a !b ]", 3),
        ("H2: < ?a !b ]\nH1: < ?b !a ]", 4),
        # E2's logs interleave in some way, but E1's history asks for b before a, and E2's sends say a before b.
        ("H1: < ?b !c ]\nH2: < ?c !a ?c !b ]", 3),
    ],
)
def test_what_cannot_have_happened_is_refused(logs: str, line: int) -> None:
    with pytest.raises(PrecedesError) as caught:
        execution(f"cluster E1 E2\n{logs}")
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "S014"
    assert diagnostic.span is not None
    assert diagnostic.span.line == line


def around(sends: int) -> Execution:
    """A cycle through two histories: each delivers first what the other sends last, after so many other sends."""
    histories = tuple(
        History(
            f"E{k}",
            (
                Event(EventKind.DELIVER, "ab"[2 - k]),
                *(Event(EventKind.SEND, f"{'cd'[k - 1]}{number}") for number in range(sends)),
                Event(EventKind.SEND, "ab"[k - 1]),
            ),
        )
        for k in (1, 2)
    )
    sent = {event.message: history.entity for history in histories for event in history.events[1:]}
    return Execution("x", histories, {name: Message(name, by, None) for name, by in sent.items() if name})


def test_of_a_long_cycle_both_ends_are_shown() -> None:
    [(*_, whole)] = impossible(around(2))
    assert whole == (
        "E1 delivers b -> E1 sends c0 -> E1 sends c1 -> E1 sends a -> "
        "E2 delivers a -> E2 sends d0 -> E2 sends d1 -> E2 sends b -> E1 delivers b"
    )
    [(entity, place, _, ends)] = impossible(around(16_000))
    assert (entity, place) == ("E1", 0)
    assert ends == (
        "E1 delivers b -> E1 sends c0 -> E1 sends c1 -> E1 sends c2 -> 31,996 more events -> "
        "E2 sends d15997 -> E2 sends d15998 -> E2 sends d15999 -> E2 sends b -> E1 delivers b"
    )


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("10", 10**10),
        ("100ms", 10**8),
        ("1.5s", 1_500_000_000),
        ("2min", 120 * 10**9),
        ("3us", 3_000),
        ("3µs", 3_000),
        ("7ns", 7),
        (" 0 ", 0),
    ],
)
def test_durations(text: str, nanoseconds: int) -> None:
    assert duration(text) == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "ms", "10 ms", "-1s", "1e9", "1/3", "0.5ns", "10kg", "9999999999999s", "nan", "१"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(PrecedesError):
        duration(text)
