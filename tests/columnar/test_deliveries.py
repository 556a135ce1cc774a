"""Every delivery and the acknowledgements in columns, the names of the library about them, and what violates these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from precedes.core import formula as f
from precedes.core.columns import MISSING_TIME, Batch
from precedes.core.execution import ACKNOWLEDGEMENTS, Event, EventKind, Execution, History, Message
from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.core.witness import Witness
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.deliveries import (
    NEVER,
    Acknowledged,
    Deliveries,
    acknowledged_of,
    deliveries_of,
)
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.columnar.kernel_columns import columns_of
from precedes.engines.columnar.offenders import OffenderSearch
from precedes.engines.columnar.positions import ascending
from precedes.engines.reference import cut, evaluate
from precedes.engines.reference.offenders import offenders
from precedes.logic.plan import plan
from precedes.logic.recognition import DEFINITIONS, POSITION
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from tests.sampling import one_in

NAMES = (
    "every_delivery_in_order",
    "repeats_in_place",
    "only_in_flight_repeats",
    "ordered_until_acknowledged",
    "positions_never_go_back",
    "one_position_one_message",
)
READ = ("event_kind", "event_message", "acknowledging")
SHAPE = Shape(messages=5, attributes=(POSITION,), acknowledgements=True)
STEPS = {"s": EventKind.SEND, "d": EventKind.DELIVER, "a": EventKind.ACK, "n": EventKind.NACK}


def run(*histories: str, positions: dict[str, int] | None = None) -> Execution:
    """An execution of E1, E2, ... that do what is written, such as `sa da aa` for a message a."""
    made = [
        History(f"E{number}", tuple(Event(STEPS[step[0]], step[1]) for step in written.split()))
        for number, written in enumerate(histories, 1)
    ]
    senders = {e.message: h.entity for h in made for e in h.events if e.kind is EventKind.SEND}
    everybody = frozenset(history.entity for history in made)
    names = {e.message for h in made for e in h.events if e.message is not None}
    messages = {
        m: Message(
            m,
            senders.get(m),
            everybody if m in senders else None,
            {} if positions is None else {POSITION: positions[m]},
        )
        for m in names
    }
    return Execution("x", tuple(made), messages)


def made_in(batch: Batch) -> Deliveries:
    """Every delivery of a batch."""
    return deliveries_of(columns_of(batch, READ))


def accepted_in(batch: Batch) -> Acknowledged:
    """What was accepted in a batch."""
    return acknowledged_of(columns_of(batch, READ))


def alike(seeds: range) -> Iterator[list[Execution]]:
    """Executions in groups that one batch can hold."""
    groups: dict[object, list[Execution]] = {}
    for seed in seeds:
        one = execution(Seeded(seed), replace(SHAPE, odd=seed % 2 == 0))
        key = (one.delta, one.epsilon, one.complete, one.delivery, one.by_clocks)
        groups.setdefault(key, []).append(one)
    yield from groups.values()


# ---- columns


def test_the_columns_of_an_example() -> None:
    batch = batch_of([run("sa sb"), run("sa sb da da aa db", "db nb aa db da")])
    made = made_in(batch)
    assert made.offsets.tolist() == [0, 0, 3, 6]
    assert made.message.tolist() == [0, 0, 1, 1, 1, 0]
    assert made.entity.tolist() == [0, 0, 0, 1, 1, 1]
    assert made.nth.tolist() == [1, 2, 1, 1, 2, 1]
    assert made.repeated.tolist() == [True, True, False, True, True, False]
    assert columns_of(batch, ("made_time",)).made_time.tolist() == [MISSING_TIME] * 6
    assert made.event.tolist() == [4, 5, 7, 8, 11, 12]
    assert made.settled.tolist() == [6, 6, NEVER, 9, NEVER, NEVER]
    given = accepted_in(batch)
    assert (given.offsets.tolist(), given.messages.tolist()) == ([0, 0, 1, 2], [0, 0])
    assert given.recorded.tolist() == [False, True]


def looped(batch: Batch, given: list[Execution]) -> list[tuple[object, ...]]:
    """The same by a loop over the events: of each delivery its columns."""
    found: list[tuple[object, ...]] = []
    number = 0
    for one in given:
        messages = sorted(one.messages)
        for place, entity in enumerate(sorted(one.entities)):
            events = one.history(entity).events
            for k, event in enumerate(events):
                if event.kind is batch.delivery:
                    same = [
                        j
                        for j, each in enumerate(events)
                        if each.kind is batch.delivery and each.message == event.message
                    ]
                    settling = [
                        number + j
                        for j, each in enumerate(events)
                        if j > k and each.kind in ACKNOWLEDGEMENTS and each.message == event.message
                    ]
                    found.append(
                        (
                            messages.index(event.message or ""),
                            place,
                            same.index(k) + 1,
                            len(same) > 1,
                            number + k,
                            min(settling, default=NEVER),
                            MISSING_TIME if event.time is None else event.time,
                        )
                    )
            number += len(events)
    return found


def test_the_columns_are_those_of_a_loop() -> None:
    seen = 0
    for given in alike(range(400)):
        batch = batch_of(given)
        made = made_in(batch)
        times = columns_of(batch, ("made_time",)).made_time
        rows = list(zip(*(column.tolist() for column in (*made[1:], times)), strict=True))
        assert rows == looped(batch, given)
        entities = [one.history(entity) for one in given for entity in sorted(one.entities)]
        counts = [sum(event.kind is batch.delivery for event in history.events) for history in entities]
        assert np.diff(made.offsets).tolist() == counts
        accepted = accepted_in(batch)
        assert accepted.recorded.tolist() == [one.has_acknowledgements for one in given]
        position = 0
        for one in given:
            messages = sorted(one.messages)
            for entity in sorted(one.entities):
                meant = {messages.index(m) for m in one.history(entity).messages(EventKind.ACK)}
                mine = accepted.messages[accepted.offsets[position] : accepted.offsets[position + 1]]
                assert mine.tolist() == sorted(meant)
                position += 1
        seen += len(rows)
    assert seen > 1_000


def test_messages_in_the_order_of_their_positions() -> None:
    positions = np.array([5, 3, 4, 7, 7, -1])
    assert ascending(positions, np.array([0, 3, 3, 6])).tolist() == [1, 2, 0, 2, 0, 1]


# ---- kernels


@pytest.mark.parametrize(
    ("name", "given", "value", "witness"),
    [
        ("every_delivery_in_order", run("sa sb", "da da db db"), TRUE, ()),
        ("every_delivery_in_order", run("sa sb", "da db da"), FALSE, ("a", "b")),
        ("repeats_in_place", run("", "da da db"), TRUE, ()),
        ("repeats_in_place", run("", "da db da"), FALSE, ("a", "b")),
        ("only_in_flight_repeats", run("", "da da aa"), TRUE, ()),
        ("only_in_flight_repeats", run("", "da na da"), FALSE, ("a",)),
        ("only_in_flight_repeats", run("", "da da"), Reason.NO_ACKNOWLEDGEMENT, ()),
        ("only_in_flight_repeats", run("", "da"), TRUE, ()),
        ("ordered_until_acknowledged", run("sa sb", "da aa db"), TRUE, ()),
        ("ordered_until_acknowledged", run("sa sb", "db da ab"), TRUE, ()),
        ("ordered_until_acknowledged", run("sa sb sc", "dc da ac aa da db"), FALSE, ("a", "b")),
        ("ordered_until_acknowledged", run("sa sb", "da db"), Reason.NO_ACKNOWLEDGEMENT, ()),
        ("positions_never_go_back", run("", "da db", positions={"a": 2, "b": 2}), TRUE, ()),
        ("positions_never_go_back", run("", "da db", positions={"a": 2, "b": 1}), FALSE, ("a", "b")),
        ("positions_never_go_back", run("", "da db"), Reason.NO_ATTRIBUTE, ()),
        ("one_position_one_message", run("sa sb", positions={"a": 2, "b": 1}), TRUE, ()),
        ("one_position_one_message", run("sa sb", positions={"a": 2, "b": 2}), FALSE, ("a", "b")),
        ("one_position_one_message", run("sa"), TRUE, ()),
    ],
)
def test_a_name_on_an_example(name: str, given: Execution, value: int, witness: tuple[str, ...]) -> None:
    assert evaluate(DEFINITIONS[name], given) == value
    batch = batch_of([given])
    found = scan(batch, plan([Requirement(name, DEFINITIONS[name])]), jit=False)
    assert found.values.tolist() == [[value]]
    shown = found.witness(0, name)
    assert {batch.message_names[m] for m in shown.messages} == set(witness)


def test_kernels_say_what_the_definition_says_and_show_it() -> None:
    """The value with its reasons on complete executions; the part that is shown violates the name, too."""
    shown = dict.fromkeys(NAMES, 0)
    prepared = plan([Requirement(name, DEFINITIONS[name]) for name in NAMES])
    for given in alike(range(1_000, 1_800)):
        batch = batch_of(given)
        found = scan(batch, prepared, jit=False)
        for x, one in enumerate(given):
            for name, value in zip(found.names, found.values[x].tolist(), strict=True):
                meant = int(evaluate(DEFINITIONS[name], one))
                assert value == meant if one.complete else min(value, 1) == min(meant, 1), (name, one)
                if value == FALSE:
                    part = execution_of(batch, x, found.witness(x, name).messages)
                    assert evaluate(DEFINITIONS[name], part) == FALSE, (name, one)
                    shown[name] += 1
    assert min(shown.values()) > 20, shown


@pytest.mark.slow
def test_kernels_as_machine_code() -> None:
    prepared = plan([Requirement(name, DEFINITIONS[name]) for name in NAMES])
    for given in alike(range(2_000, 2_400)):
        batch = batch_of(given)
        plain, compiled = (scan(batch, prepared, jit=jit) for jit in (False, True))
        assert (plain.values == compiled.values).all()
        for x in range(batch.executions):
            for name in NAMES:
                assert plain.witness(x, name) == compiled.witness(x, name)


def test_a_cut_knows_that_others_were_acknowledged() -> None:
    given = run("sa sb sc", "da db dc ac")
    asked = DEFINITIONS["ordered_until_acknowledged"]
    part = cut(given, Witness((), ("a", "b"), (), "x"))
    assert evaluate(asked, part) == FALSE
    assert execution_of(batch_of([given]), 0, (0, 1)) == part
    again = batch_of([part, run("sa sb", "da db")])
    assert accepted_in(again).recorded.tolist() == [True, False]
    assert compile_formula(asked).run(BatchSource(again), False)[0].tolist() == [
        FALSE,
        Reason.NO_ACKNOWLEDGEMENT,
    ]


def test_a_recorded_delivery_is_at_no_entity_that_was_not_recorded() -> None:
    given = replace(run("sa da da"), complete=False)
    d = f.DeliveryVariable("d")
    asked = f.Forall(d, f.TRUTH, f.DeliveredAt(d, f.EntityNamed("E9")))
    assert evaluate(asked, given) == FALSE
    assert compile_formula(asked).run(BatchSource(batch_of([given])), False)[0].tolist() == [FALSE]


# ---- offenders


@pytest.mark.parametrize("name", one_in(2, NAMES))
def test_offenders_are_those_of_the_definition(name: str) -> None:
    several = 0
    for given in alike(range(3_000, 3_400)):
        search = OffenderSearch(batch_of(given), jit=False)
        for x, one in enumerate(given):
            if not one.complete or evaluate(DEFINITIONS[name], one) != FALSE:
                continue
            found, meant = search.of(DEFINITIONS[name], x, 10_000), offenders(DEFINITIONS[name], one)
            assert {(frozenset(each.entities), frozenset(each.messages)) for each in found.first} == {
                (frozenset(each.entities), frozenset(each.messages)) for each in meant
            }
            several += found.count > 1
    assert several > 2
