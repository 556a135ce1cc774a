"""Definitions with a parameter, and formulas that ask less than a definition: recognized, and judged as they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precedes import verify
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import Attribute, AttributeSort, Requirement
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import FALSE, TRUE, verdict
from precedes.engines.columnar.batch_scan import long_steps, scan
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.columnar.kernel_columns import columns_of
from precedes.engines.columnar.kernels.choice import KERNELS
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.families import MOST, Member, implying, member_of_family, one_order_of_equals
from precedes.logic.plan import Plan, Step, plan
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import TRACES, Shape, execution
from precedes.testing.random_formulas import ATTRIBUTES
from tests.strategies.drawn import executions

KEY, TOPIC, POSITION, *_ = ATTRIBUTES

BEFORE = "q <[RL[i]] p and p <[SL[j, i]] q"
OVERTAKEN = "forall q, p: forall j, i: p in RL[i] & SL[j, i] and q in RL[i] and q in SL[j, i]"
EQUAL_KEYS = "generic_order(p, q: key(p) = key(q))"

ASKED = [
    "bounded_disorder(0)",
    "bounded_disorder(1)",
    "bounded_disorder(2)",
    "bounded_disorder(1) per key",
    EQUAL_KEYS,
    "generic_order(p, q: key(p) = key(q) and topic(p) = topic(q))",
    "generic_order(p, q: position(p) = position(q))",
    "generic_order(p, q: key(p) != key(q))",
    "generic_order(p, q: sender(p) = sender(q))",
    "forall i, j: forall p, q in RL[i] & SL[j]: key(p) = key(q) implies (p <[RL[i]] q iff p <[SL[j]] q)",
    'forall p: forall i in dest(p): key(p) = "k1" implies p in RL[i]',
]
TRACES_WITH_KEYS = replace(TRACES, attributes=ATTRIBUTES)
SHAPES = [
    Shape(entities=2, messages=8, odd=False, attributes=ATTRIBUTES),
    Shape(entities=3, messages=6, odd=False, attributes=ATTRIBUTES),
    TRACES_WITH_KEYS,
]


@cache
def asked(text: str) -> Requirement:
    return requirement(text, standard_library())


@cache
def planned(text: str) -> Plan:
    return plan([asked(text)])


def step(text: str) -> Step:
    (only,) = planned(text).steps
    return only


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("bounded_disorder(3)", Member("bounded_disorder", 3)),
        ("bounded_disorder(1.5)", Member("bounded_disorder", 1)),
        ("bounded_disorder(0)", Member("bounded_disorder", 0)),
        ("bounded_disorder(100000000000000000000)", Member("bounded_disorder", MOST)),
        (
            f"{OVERTAKEN} and {BEFORE} implies position(q, SL[j, i]) <= 7 + position(p, SL[j, i])",
            Member("bounded_disorder", 7),
        ),
        (EQUAL_KEYS, Member("order_equivalent", alike=(KEY,))),
        (
            "generic_order(a, b: topic(b) = topic(a) and key(b) = key(a))",
            Member("order_equivalent", alike=(KEY, TOPIC)),
        ),
        (
            "generic_order(p, q: position(p) = position(q))",
            Member("order_equivalent", alike=(POSITION,)),
        ),
        # Another log, another relation, another attribute on each side, values that are close to each other.
        (f"{OVERTAKEN} implies position(q, SL[j, i]) <= position(p, SL[j, i]) + 7", None),
        ("forall i, j: forall p, q in RL[i] & SL[j]: position(q, SL[j]) <= position(p, SL[j]) + 2", None),
        ("generic_order(p, q: key(p) = key(q) or topic(p) = topic(q))", None),
        ("generic_order(p, q: key(p) = topic(q))", None),
        ("generic_order(p, q: key(p) != key(q))", None),
        ("order_equivalent", None),
    ],
)
def test_it_is_told_by_what_it_says(text: str, member: Member | None) -> None:
    assert member_of_family(asked(text).formula) == member


def test_times_are_not_told_apart_by_their_values() -> None:
    """Two that are closer than epsilon may be equal."""
    created = Attribute("created", AttributeSort.TIME)
    assert member_of_family(one_order_of_equals((KEY, created))) is None
    assert member_of_family(one_order_of_equals((KEY, POSITION))) is not None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("generic_order(p, q: exists r: key(r) = key(p) and key(r) != key(q))", "order_equivalent"),
        ('forall i: forall p in RL[i]: key(p) = "a" implies sent(p)', "no_creation"),
        (
            'forall p: forall i in dest(p): key(p) = "a" implies p in RL[i]',
            "selectively_information_preserving",
        ),
        ('forall p: forall i: key(p) = "a" implies p in RL[i]', None),
        ('forall i: exists p in RL[i]: key(p) = "a" implies sent(p)', None),
        ('forall i: forall p in RL[i]: sent(p) implies key(p) = "a"', None),
        ("order_equivalent", None),
    ],
)
def test_what_it_says_of_some_a_definition_says_of_all(text: str, name: str | None) -> None:
    assert implying(asked(text).formula) == name


def test_the_number_is_no_other_machine_code() -> None:
    assert step("bounded_disorder(2)").kernel == step("bounded_disorder(5)").kernel == "bounded_disorder"
    assert [step(f"bounded_disorder({k})").bound for k in (2, 5)] == [2, 5]


def judged(case: Execution, text: str) -> None:
    """The scan and the definition agree, and what shows a violation shows it alone."""
    batch = batch_of([case])
    found = scan(batch, planned(text), jit=False)
    value, meant = int(found.values[0, 0]), evaluate(asked(text).formula, case)
    assert verdict(value) is verdict(meant), (text, value, meant, case)
    if value == FALSE:
        messages = found.witness(0, asked(text).name).messages
        assert evaluate(asked(text).formula, execution_of(batch, 0, messages)) == FALSE, (
            text,
            messages,
            case,
        )


@pytest.mark.parametrize(
    "chunk", [0, *(pytest.param(chunk, marks=pytest.mark.slow) for chunk in range(1, 60))]
)
def test_verdicts_are_those_of_the_definition(chunk: int) -> None:
    met = set()
    for seed in range(chunk * 40, chunk * 40 + 40):
        case = execution(Seeded(seed), SHAPES[seed % 3])
        for text in ASKED:
            judged(case, text)
            met.add((text, case.complete, verdict(evaluate(asked(text).formula, case))))
    if chunk == 0:
        assert {(text, complete) for text, complete, _ in met} == {
            (t, c) for t in ASKED for c in (True, False)
        }


def handed_on(sent: int, orders: list[list[int]], complete: bool, lacking: set[int]) -> Execution:
    """One sender, which addresses every other message to all and the rest to the first receiver alone; receivers
    deliver in any order; keys are the numbers modulo 3, but for messages that lack one.
    """
    names = [f"m{k}" for k in range(sent)]
    receivers = [f"R{k}" for k in range(len(orders))]
    sends = History("S", tuple(Event(EventKind.SEND, name) for name in names))
    logs = [
        History(name, tuple(Event(EventKind.DELIVER, names[k]) for k in order if k < sent))
        for name, order in zip(receivers, orders, strict=True)
    ]
    messages = {
        name: Message(
            name,
            "S",
            frozenset(receivers if k % 2 else receivers[:1]),
            attributes={} if k in lacking else {KEY: str(k % 3)},
        )
        for k, name in enumerate(names)
    }
    return Execution("x", (*logs, sends), messages, complete=complete)


@given(
    sent=st.integers(2, 8),
    orders=st.lists(st.permutations(range(8)), min_size=2, max_size=3),
    complete=st.booleans(),
    lacking=st.sets(st.integers(0, 7), max_size=2),
    text=st.sampled_from(ASKED),
)
@settings(max_examples=100, deadline=None)
def test_verdicts_of_disorder(
    sent: int, orders: list[list[int]], complete: bool, lacking: set[int], text: str
) -> None:
    judged(handed_on(sent, orders, complete, lacking), text)


@given(case=executions(TRACES_WITH_KEYS), text=st.sampled_from(ASKED))
@settings(max_examples=40, deadline=None)
def test_verdicts_of_any_execution(case: Execution, text: str) -> None:
    judged(case, text)


@pytest.mark.slow
def test_machine_code_does_as_the_plain_kernel() -> None:
    found = [replace(execution(Seeded(seed), SHAPES[seed % 2]), delta=None, epsilon=0) for seed in range(400)]
    batch = batch_of([c for c in found if c.complete and not c.by_clocks and c.delivery is EventKind.DELIVER])
    judged_so = set()
    for bound in range(3):
        kernel = replace(KERNELS["bounded_disorder"], bound=bound)
        columns = columns_of(batch, kernel.reads)
        by_hand, by_machine = (kernel.run(columns, jit=jit) for jit in (False, True))
        assert all((one == other).all() for one, other in zip(by_hand, by_machine, strict=True))
        judged_so.add(int((by_hand[0] == FALSE).sum()))
    assert len(judged_so) == 3


def rows(messages: int) -> Iterator[dict[str, object]]:
    """One sender and one receiver, who delivers the message in the middle three messages too late."""
    order = list(range(messages))
    order.insert(messages // 2 + 3, order.pop(messages // 2))
    for seq, k in enumerate(range(messages)):
        yield {
            "execution": "x", "entity": "S", "seq": seq, "event": "send", "message": f"m{k}", "dest": ["R"]
        }  # fmt: skip
    for seq, k in enumerate(order):
        yield {"execution": "x", "entity": "R", "seq": seq, "event": "deliver", "message": f"m{k}"}


@pytest.mark.parametrize("incomplete", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_violation_of_a_large_execution_is_shown(incomplete: bool) -> None:
    """An execution of more than 5,000 events is replayed on what shows the violation alone."""
    report = verify(rows(2_600), ["bounded_disorder(2)", "bounded_disorder(3)"], incomplete=incomplete)
    assert report["bounded_disorder(2)"].violated == 1
    assert report["bounded_disorder(3)"].violated == 0
    (shown,) = report.violations
    assert len(shown.cut.messages) == 4


def test_nothing_is_foretold_where_there_is_one_order() -> None:
    text = "generic_order(p, q: key(p) != key(q))"
    one = handed_on(8, [list(range(8))] * 3, True, set())
    two = handed_on(8, [list(range(8)), list(range(8))[::-1]], True, set())
    found = [
        [seconds.tolist() for _, seconds in long_steps(BatchSource(batch_of([case])), planned(text), 0)]
        for case in (one, two)
    ]
    assert found[0] == []
    assert found[1][0][0] > 0
    assert scan(batch_of([one]), planned(text)).values.tolist() == [[TRUE]]
