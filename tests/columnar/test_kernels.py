"""The tuned kernels against the definitions that they were written for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precedes.core.columns import Batch
from precedes.core.execution import (
    EVENT_CODES,
    WITHOUT_MESSAGE,
    Event,
    EventKind,
    Execution,
    History,
    Message,
)
from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import FALSE, TRUE, Reason, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.fast_path.view_screen import ASKED
from precedes.engines.columnar.kernel_columns import ALWAYS, Columns, columns_of
from precedes.engines.columnar.kernels.choice import KERNELS, TUNED
from precedes.engines.columnar.kernels.kernel import STOPS
from precedes.engines.columnar.kernels.views import VIEW_KERNELS
from precedes.engines.reference import evaluate
from precedes.logic.plan import Plan, plan
from precedes.logic.recognition import DEFINITIONS, UNTUNED
from precedes.native import codes
from precedes.native.codes import DEFERRED
from precedes.native.compiled_functions import names_used
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import TRACES, Shape, execution, with_evidence
from precedes.testing.random_formulas import ATTRIBUTES
from tests.sampling import one_in
from tests.strategies.clocked import EVERYTHING as EVERY_EVENT
from tests.strategies.clocked import run
from tests.strategies.drawn import executions

NAMES = tuple(DEFINITIONS)
OF_VIEWS = (frozenset(VIEW_KERNELS) - {"once_per_group"}) | ASKED.keys()
EVERYTHING = plan([Requirement(name, formula) for name, formula in DEFINITIONS.items()])
ORDERLY = Shape(entities=5, messages=9, odd=False)
REPEATED = Shape(messages=4, odd=False, attributes=ATTRIBUTES, acknowledgements=True)


def cases(seeds: Iterable[int]) -> list[Execution]:
    return [
        execution(Seeded(seed), (ORDERLY, TRACES, REPEATED, replace(REPEATED, odd=True))[seed % 4])
        for seed in seeds
    ]


def only(name: str) -> Plan:
    return plan([Requirement(name, DEFINITIONS[name])])


def logs(
    receipts: Sequence[str],
    sends: Sequence[str] = (),
    to: dict[str, Iterable[int]] | None = None,
    name: str = "x",
) -> Execution:
    """An execution from its logs, messages being letters: all sends first, then the deliveries."""
    entities = [f"E{k + 1:03}" for k in range(max(len(receipts), len(sends)))]
    histories, messages = [], {}
    for entity, delivered, sent in zip(
        entities,
        [*receipts, *[""] * (len(entities) - len(receipts))],
        [*sends, *[""] * (len(entities) - len(sends))],
        strict=True,
    ):
        events = [Event(EventKind.SEND, m) for m in sent] + [Event(EventKind.DELIVER, m) for m in delivered]
        histories.append(History(entity, tuple(events)))
        for m in sent:
            chosen = entities if to is None or m not in to else [entities[k - 1] for k in to[m]]
            messages[m] = Message(m, entity, frozenset(chosen))
    for log in receipts:
        for m in log:
            messages.setdefault(m, Message(m, None, None))
    return Execution(name, tuple(histories), messages)


def names_of(batch: Batch, x: int, messages: Iterable[int]) -> list[str]:
    return [str(batch.message_names[batch.message_offsets[x] + m]) for m in messages]


def test_kinds_without_a_message_are_together() -> None:
    without = {EVENT_CODES[kind] for kind in WITHOUT_MESSAGE}
    assert without == set(range(codes.FIRST_WITHOUT_MESSAGE, codes.LAST_WITHOUT_MESSAGE + 1))


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_reads_what_it_says(name: str) -> None:
    """What it does not say is empty, and machine code would read beyond its end."""
    kernel = KERNELS[name]
    numbers = {"delta", "epsilon", "delivery", "complete", "bound"}
    used = names_used(kernel.function) & set(Columns._fields) - ALWAYS - numbers
    used |= set(STOPS) if kernel.correct_only else set()
    assert used == set(kernel.reads)
    assert len(kernel.reads) == len(used)


def test_every_definition_has_its_kernel() -> None:
    assert set(TUNED) == set(DEFINITIONS) - UNTUNED
    assert {step.definition for step in EVERYTHING.steps} == set(DEFINITIONS)
    assert {step.kernel for step in EVERYTHING.steps} == {None, *TUNED}


@pytest.mark.parametrize("chunk", one_in(3, range(5)))
def test_values_are_those_of_the_definitions(chunk: int) -> None:
    for case in cases(range(chunk * 60, chunk * 60 + 60)):
        values = scan(batch_of([case]), EVERYTHING).values[0]
        for name, value in zip(EVERYTHING.names, values, strict=True):
            expected = evaluate(DEFINITIONS[name], case)
            assert verdict(int(value)) is verdict(expected), (name, int(value), expected, case)


@given(case=executions(TRACES), name=st.sampled_from(NAMES))
@settings(max_examples=200, deadline=None)
def test_values_are_those_of_the_definitions_shrunk(case: Execution, name: str) -> None:
    value = int(scan(batch_of([case]), only(name)).values[0, 0])
    assert verdict(value) is verdict(evaluate(DEFINITIONS[name], case))


@pytest.mark.parametrize(
    "chunk", [0, *(pytest.param(chunk, marks=pytest.mark.slow) for chunk in range(1, 9))]
)
def test_what_clocks_say_beyond_the_rows(chunk: int) -> None:
    """By tuned kernels, and as the definitions have it; each violation on the messages that show it."""
    violated = dict.fromkeys(NAMES, 0)
    told = 0
    for seed in range(chunk * 250, chunk * 250 + 250):
        made = run(Seeded(seed), hidden=40, clocks=100 if seed % 3 else 60, events=24, counted=EVERY_EVENT)
        case = with_evidence(made.execution)
        batch = batch_of([case])
        told += batch.clock_edges is not None
        result = scan(batch, EVERYTHING)
        for name, value in zip(EVERYTHING.names, result.values[0], strict=True):
            expected = evaluate(DEFINITIONS[name], case)
            assert verdict(int(value)) is verdict(expected), (name, int(value), expected, case)
            if value == FALSE:
                violated[name] += 1
                part = execution_of(batch, 0, result.witness(0, name).messages)
                assert evaluate(DEFINITIONS[name], part) == FALSE, (name, case)
        if not case.doubt:
            for name in ("causal_order", "process_causal_order", "causal_delivery", "delta_causal_order"):
                assert TUNED[name].run(columns_of(batch, TUNED[name].reads))[0][0] != DEFERRED
    assert told > 20
    assert min(violated[name] for name in ("causal_order", "process_causal_order", "causal_delivery")) > 3


def test_a_delivery_elsewhere_that_only_clocks_put_before_another() -> None:
    """R2 delivers q and tells R1 so, in no row; R1 then delivers p, which was sent before q."""
    everyone = frozenset({"A", "R1", "R2"})
    case = Execution(
        "x",
        (
            History(
                "A", (Event(EventKind.SEND, "p", None, {"A": 1}), Event(EventKind.SEND, "q", None, {"A": 2}))
            ),
            History("R1", (Event(EventKind.DELIVER, "p", None, {"A": 2, "R1": 2, "R2": 2}),)),
            History("R2", (Event(EventKind.DELIVER, "q", None, {"A": 2, "R2": 1}),)),
        ),
        {name: Message(name, "A", everyone) for name in "pq"},
    )
    case = with_evidence(case)
    result = scan(batch_of([case]), EVERYTHING)
    found = dict(zip(result.names, result.values[0].tolist(), strict=True))
    assert (found["causal_order"], found["process_causal_order"]) == (FALSE, TRUE)
    assert sorted(result.witness(0, "causal_order").messages) == [0, 1]
    assert evaluate(DEFINITIONS["causal_order"], case) == FALSE


@pytest.mark.parametrize(
    "name",
    [
        # Each takes seconds to compile.
        *one_in(4, ["causal_order", "delta_causal_order", "process_causal_order", "causal_delivery"]),
    ],
)
def test_compiled_kernels_see_what_clocks_say(name: str) -> None:
    found = [with_evidence(run(Seeded(seed), hidden=40, events=24).execution) for seed in range(300)]
    batch = batch_of([case for case in found if case.by_clocks])
    assert batch.clock_edges is not None
    columns = columns_of(batch, TUNED[name].reads)
    for plain, compiled in zip(
        TUNED[name].run(columns, jit=False), TUNED[name].run(columns, jit=True), strict=True
    ):
        assert (plain == compiled).all()


def test_little_is_left_to_the_compiled_formulas() -> None:
    """Kernels give up only on sends that were not logged, on unknown orders and, some of them, on cycles."""
    for case in cases(range(400)):
        batch = batch_of([case])
        left = {
            name for name in TUNED if TUNED[name].run(columns_of(batch, TUNED[name].reads))[0][0] == DEFERRED
        }
        logged = all(message.logged or message.sender is None for message in case.messages.values())
        if logged and not case.doubt and evaluate(DEFINITIONS["causal_order"], case) in (TRUE, FALSE):
            assert left <= OF_VIEWS | {"temporal_order"}, case
        assert left <= {
            "causal_order", "process_causal_order", "causal_delivery", "fifo_delivery", "delta_causal_order",
            "deadline", "agreement", "uniform_agreement", "validity", "nonuniform_total_order",
            "nonuniform_causal_delivery", "nonuniform_fifo_delivery", "nonuniform_local_order", "local_order",
            "begins", "prefix_order", "gap_free_order", "nothing_skipped", "temporal_order", *OF_VIEWS,
        }  # fmt: skip


@pytest.mark.parametrize("chunk", one_in(3, range(3)))
def test_a_witness_alone_shows_the_violation(chunk: int) -> None:
    shown = dict.fromkeys(NAMES, 0)
    for case in cases(range(1000 + chunk * 100, 1100 + chunk * 100)):
        batch = batch_of([case])
        result = scan(batch, EVERYTHING)
        for name, value in zip(result.names, result.values[0], strict=True):
            witness = result.witness(0, name)
            if value != FALSE:
                assert witness.messages == witness.entities == ()
                continue
            shown[name] += 1
            assert witness.messages, (name, case)
            part = execution_of(batch, 0, witness.messages)
            assert evaluate(DEFINITIONS[name], part) == FALSE, (name, witness, case)
    assert (
        chunk
        or all(shown.values())
        or {name for name, count in shown.items() if not count}
        <= {"delta_causal_order", "nothing_skipped", *VIEW_KERNELS, *ASKED}
    )


def test_one_execution_after_another() -> None:
    """A batch gives each execution what it gets alone, wherever it stands."""
    found = [c for c in cases(range(2000, 2600)) if c.complete and c.delivery is EventKind.DELIVER]
    same = [
        c for c in found if (c.delta, c.epsilon) == (found[0].delta, found[0].epsilon) and not c.by_clocks
    ][:20]
    assert len(same) == 20
    alone = [scan(batch_of([case]), EVERYTHING) for case in same]
    for order in (same, same[::-1]):
        together = scan(batch_of(order), EVERYTHING)
        for x, case in enumerate(order):
            single = alone[same.index(case)]
            assert (together.values[x] == single.values[0]).all()
            for name in NAMES:
                assert together.witness(x, name) == single.witness(0, name)


@pytest.mark.parametrize(
    "names",
    [
        # Each takes seconds to compile; these have cycles, logs and sets of messages in them.
        pytest.param(("acyclic_order", "agreement", "no_duplication"), id="three"),
        pytest.param(tuple(TUNED), id="all", marks=pytest.mark.slow),
    ],
)
def test_compiled_kernels_do_as_plain_ones(names: tuple[str, ...]) -> None:
    found = [
        c
        for c in cases(range(3000, 3600))
        if c.complete and c.delivery is EventKind.DELIVER and c.epsilon == 3 and not c.by_clocks
    ]
    groups = {delta: [c for c in found if c.delta == delta] for delta in (None, 25)}
    assert all(len(group) > 5 for group in groups.values())
    for group in groups.values():
        batch = batch_of(group)
        for name in names:
            kernel = TUNED[name]
            columns = columns_of(batch, kernel.reads)
            for plain, compiled in zip(
                kernel.run(columns, jit=False), kernel.run(columns, jit=True), strict=True
            ):
                assert (plain == compiled).all(), name


def test_exact_counts() -> None:
    """Of 120 executions: every 3rd swaps two messages of one sender, every 4th loses one, every 5th delivers
    one twice."""
    made = []
    for k in range(120):
        log = "bacd" if k % 3 == 0 else "abcd"
        log = log.replace("d", "") if k % 4 == 0 else log
        log = log + "a" if k % 5 == 0 else log
        made.append(logs(["", log, "abcd"], ["abcd"], dict.fromkeys("abcd", (2, 3)), name=f"x{k}"))
    result = scan(batch_of(made), EVERYTHING)
    violated = {name: int((result.values[:, c] == FALSE).sum()) for c, name in enumerate(result.names)}
    assert violated["order_preserving"] == violated["order_equivalent"] == violated["causal_order"] == 40
    assert violated["selectively_information_preserving"] == violated["agreement"] == 30
    assert violated["no_duplication"] == 24
    assert violated["fifo_delivery"] == 40
    assert violated["information_preserving"] == violated["broadcast"] == 120
    assert violated["no_creation"] == violated["validity"] == violated["deadline"] == 0


def test_pairwise_equivalence_where_the_union_has_a_cycle() -> None:
    """The cycle of three: no two logs share two messages."""
    ring = logs(["ab", "bc", "ca"], ["", "", "", "abc"])
    batch = batch_of([ring, logs(["abc", "acb"], ["abc"])])
    result = scan(batch, EVERYTHING)
    column = {name: result.values[:, c].tolist() for c, name in enumerate(result.names)}
    assert column["acyclic_order"] == [FALSE, FALSE]
    assert column["order_equivalent"] == [TRUE, FALSE]
    assert names_of(batch, 1, result.witness(1, "order_equivalent").messages) == ["b", "c"]


@pytest.mark.parametrize("length", [2, 3, 4, 7])
def test_the_shortest_cycle_is_shown(length: int) -> None:
    """A ring of the given length, a longer one beside it, and long logs that lead in and out."""

    def ring(letters: str) -> list[str]:
        return [a + b for a, b in zip(letters, letters[1:] + letters[0], strict=True)]

    short, long = "abcdefg"[:length], "ABCDEFGHIJ"[: length + 2]
    receipts = [*ring(long), *ring(short), "0123" + short[0] + "456", "0" + long[1] + "789"]
    batch = batch_of([logs(receipts, ["0123456789" + short + long])])
    result = scan(batch, EVERYTHING)
    assert names_of(batch, 0, sorted(result.witness(0, "acyclic_order").messages)) == sorted(short)
    assert len(result.witness(0, "acyclic_order").entities) == length


def test_the_chain_of_a_causal_witness_has_the_fewest_messages() -> None:
    def history(entity: str, *steps: str) -> History:
        kinds = {"!": EventKind.SEND, "?": EventKind.DELIVER}
        return History(entity, tuple(Event(kinds[step[0]], step[1:]) for step in steps))

    histories = (
        history("A", "!a", "!b", "!z"),
        history("B", "?b", "?z", "!c"),
        history("C", "?c", "!d"),
        history("D", "?d", "?a"),
    )
    to = {"a": "D", "b": "B", "c": "C", "d": "D", "z": "B"}
    by = {"a": "A", "b": "A", "c": "B", "d": "C", "z": "A"}
    case = Execution("x", histories, {m: Message(m, by[m], frozenset(to[m])) for m in to})
    batch = batch_of([case])
    result = scan(batch, only("causal_order"))
    witness = result.witness(0, "causal_order")
    assert len(witness.messages) == 4
    assert {"a", "c", "d"} < set(names_of(batch, 0, witness.messages))
    assert evaluate(DEFINITIONS["causal_order"], execution_of(batch, 0, witness.messages)) == FALSE


def test_a_cycle_of_happens_before_is_reported_and_not_followed() -> None:
    both = (
        History("A", (Event(EventKind.DELIVER, "b"), Event(EventKind.SEND, "a"))),
        History("B", (Event(EventKind.DELIVER, "a"), Event(EventKind.SEND, "b"))),
    )
    everyone = frozenset("AB")
    case = Execution("x", both, {"a": Message("a", "A", everyone), "b": Message("b", "B", everyone)}, delta=1)
    result = scan(batch_of([case]), EVERYTHING)
    for name in ("causal_order", "process_causal_order", "causal_delivery", "delta_causal_order"):
        assert result.values[0, result.names.index(name)] > 0, name
    assert result.values[0, result.names.index("order_preserving")] == TRUE


def test_a_contradictory_execution_is_unknown_under_every_name() -> None:
    batch = batch_of([logs(["ab", "ba"], ["ab"]), logs(["ab", "ba"], ["ab"])])
    batch.unknown[1] = 1
    result = scan(batch, EVERYTHING)
    assert (result.values[1] == 1).all()
    assert FALSE in result.values[0]
    assert result.witness(1, "order_preserving").messages == ()


def test_vacuity() -> None:
    empty = Execution("x", (History("A"), History("B")), {})
    nobody = Execution("x", (), {})
    result = scan(batch_of([empty, logs(["a"], ["a"]), nobody]), EVERYTHING)
    assert result.vacuous.tolist() == [True, False, True]
    of_views = np.array([name in OF_VIEWS for name in result.names])
    assert np.all(result.values[result.vacuous][:, ~of_views] == TRUE)
    assert np.isin(result.values[:, of_views], (TRUE, Reason.NO_VIEWS)).all()
    assert scan(batch_of([]), EVERYTHING).values.shape == (0, len(NAMES))


def test_large_clusters_and_long_logs() -> None:
    """50 entities that agree on the order of 60 messages, but for the last two, which swap two in the
    middle."""
    entities = [f"E{k:03}" for k in range(50)]
    messages = [f"m{k:03}" for k in range(60)]
    everyone = frozenset(entities)
    table = {m: Message(m, "E000", everyone) for m in messages}
    sends = tuple(Event(EventKind.SEND, m) for m in messages)
    inside = tuple(Event(EventKind.DELIVER, m) for m in messages)
    outside = (*inside[:30], inside[31], inside[30], *inside[32:])
    histories = [
        History(e, (*(sends if e == "E000" else ()), *(outside if e > "E047" else inside))) for e in entities
    ]
    result = scan(batch_of([Execution("x", tuple(histories), table)]), EVERYTHING)
    violated = {name for name, value in zip(result.names, result.values[0], strict=True) if value == FALSE}
    assert violated == {
        "order_preserving", "order_equivalent", "acyclic_order", "causal_order", "process_causal_order",
        "causal_delivery", "fifo_delivery", "one_order", "prefix_order", "gap_free_order",
        "every_delivery_in_order", "nonuniform_total_order", "nonuniform_causal_delivery",
        "nonuniform_fifo_delivery", "begins",
    }  # fmt: skip
    assert result.witness(0, "order_preserving").messages == (30, 31)
    assert result.witness(0, "acyclic_order").messages in {(30, 31), (31, 30)}
