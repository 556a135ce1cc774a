"""What is asked of the parts of executions: plans, kernels, witnesses and offenders against the definition."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from precedes.core.columns import Batch
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import (
    Acyclic,
    And,
    Attribute,
    AttributeOf,
    Comparison,
    Constant,
    Dimension,
    EntityNamed,
    Forall,
    Formula,
    InLog,
    MessageNamed,
    MessageVariable,
    Not,
    Per,
    ReceiptLog,
    Relation,
    Requirement,
    SamePart,
    Truth,
)
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.columnar.batch_scan import Scan, scan
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.columnar.fast_path.view_screen import ASKED
from precedes.engines.columnar.kernels import per_part
from precedes.engines.columnar.kernels.views import VIEW_KERNELS
from precedes.engines.columnar.offenders import OffenderSearch
from precedes.engines.columnar.parts import members_of, parts_of
from precedes.engines.reference import evaluate
from precedes.engines.reference.offenders import offenders
from precedes.engines.scan.verdict_rows import verdict_rows
from precedes.logic.parts import Part, of_its_own
from precedes.logic.plan import Both, Plan, Step, Value, plan
from precedes.logic.recognition import DEFINITIONS
from precedes.logic.universals import clauses
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import ATTRIBUTES, Scope, formula

KEY, TOPIC, POSITION, *_ = ATTRIBUTES
SHAPE = Shape(messages=9, attributes=(KEY, TOPIC, POSITION), acknowledgements=True)
ORDERLY = replace(SHAPE, odd=False)
PLACED = ("order_preserving", "order_equivalent", "acyclic_order", "fifo_delivery")


def per(body: Formula, *attributes: Attribute) -> Per:
    return Per(attributes or (KEY,), body)


EVERYTHING = plan([Requirement(name, per(one)) for name, one in DEFINITIONS.items()])


def alike(seeds: range) -> list[list[Execution]]:
    """Complete executions in groups that one batch can hold, of which some have every attribute."""
    groups: dict[object, list[Execution]] = {}
    for seed in seeds:
        one = replace(execution(Seeded(seed), SHAPE if seed % 2 else ORDERLY), complete=True, epsilon=3)
        groups.setdefault((one.delta, one.delivery, one.by_clocks), []).append(one)
    return list(groups.values())


def steps(prepared: Plan) -> list[tuple[str | None, tuple[Attribute, ...]]]:
    return [(step.definition, step.per) for step in prepared.steps]


# ---- plans ----


def test_a_conjunction_is_asked_of_each_part_if_each_conjunct_is() -> None:
    two = And((DEFINITIONS["order_preserving"], DEFINITIONS["order_equivalent"]))
    prepared = plan(
        [
            Requirement("both", per(two)),
            Requirement("nested", per(And((two, Not(DEFINITIONS["broadcast"]))))),
            Requirement("whole", two),
            Requirement("other", per(DEFINITIONS["order_equivalent"], TOPIC)),
        ]
    )
    assert steps(prepared) == [
        ("order_preserving", (KEY,)),
        ("order_equivalent", (KEY,)),
        (None, ()),
        ("order_preserving", ()),
        ("order_equivalent", ()),
        ("order_equivalent", (TOPIC,)),
    ]
    assert prepared.expressions[0] == Both((Value(0), Value(1)))


def test_attributes_in_another_order_are_one_step() -> None:
    one, other = (per(DEFINITIONS["broadcast"], *order) for order in ((KEY, TOPIC), (TOPIC, KEY)))
    assert len(plan([Requirement("one", one), Requirement("other", other)]).steps) == 1


def test_what_is_asked_of_parts_has_no_kernel_of_its_own() -> None:
    assert [step.kernel for step in EVERYTHING.steps] == [None] * len(DEFINITIONS)
    assert Step(DEFINITIONS["broadcast"], "broadcast").kernel == "broadcast"


# ---- kernels ----


@pytest.fixture(params=["cut", pytest.param("wholes first", marks=pytest.mark.slow)])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(per_part, "SAMPLE", 1)
    monkeypatch.setattr(per_part, "MOST", 2.0 if request.param == "cut" else 0.0)
    return str(request.param)


def compared(jit: bool, seeds: range) -> set[tuple[str, int]]:
    """Which values were met of which names; all are those of the definition."""
    met: set[tuple[str, int]] = set()
    for group in alike(seeds):
        found = scan(batch_of(group), EVERYTHING, jit)
        for place, name in enumerate(found.names):
            meant = [int(evaluate(per(DEFINITIONS[name]), one)) for one in group]
            assert found.values[:, place].tolist() == meant, name
            met |= {(name, value) for value in meant}
    return met


@pytest.mark.usefixtures("way")
def test_every_definition_on_parts() -> None:
    met = compared(False, range(160))
    assert {name for name, value in met if value == TRUE} == set(DEFINITIONS)
    rare = {"delta_causal_order", "nothing_skipped", *VIEW_KERNELS, *ASKED}
    assert {name for name, value in met if value == FALSE} >= set(DEFINITIONS) - rare
    assert {name for name, value in met if value == Reason.NO_ATTRIBUTE} == set(DEFINITIONS)


@pytest.mark.slow
@pytest.mark.usefixtures("way")
def test_every_definition_on_parts_of_many_executions() -> None:
    compared(False, range(10_000, 14_000))


@pytest.mark.slow
@pytest.mark.usefixtures("way")
def test_every_definition_on_parts_as_machine_code() -> None:
    compared(True, range(60))


@pytest.mark.usefixtures("way")
def test_a_witness_is_in_one_part_and_shows_the_violation() -> None:
    shown = dict.fromkeys(PLACED, 0)
    for group in alike(range(240)):
        batch = batch_of(group)
        found = scan(batch, EVERYTHING, jit=False)
        for name in PLACED:
            for x in np.flatnonzero(found.values[:, found.names.index(name)] == FALSE).tolist():
                messages = found.witness(x, name).messages
                cut = execution_of(batch, x, messages)
                assert len({one.attributes[KEY] for one in cut.messages.values()}) == 1
                assert evaluate(per(DEFINITIONS[name]), cut) == FALSE
                shown[name] += 1
    assert min(shown.values()) > 5, shown


def test_parts_are_numbered_as_their_messages_come() -> None:
    history = History("E1", tuple(Event(EventKind.SEND, f"m{k}") for k in range(5)))
    keys = ("b", "a", None, "b", "c")
    carried: list[dict[Attribute, str | int]] = [{} if key is None else {KEY: key} for key in keys]
    messages = {f"m{k}": Message(f"m{k}", "E1", frozenset(), carried[k]) for k in range(5)}
    batch = batch_of([Execution("x", (), {}), Execution("y", (history,), messages)])
    parts = parts_of(BatchSource(batch), (KEY,), compiled=False)
    assert (parts.part.tolist(), parts.starts.tolist()) == ([0, 1, -1, 0, 2], [0, 0, 3])
    assert parts.firsts.tolist() == [0, 1, 4]
    members = members_of(parts, BatchSource(batch), compiled=False)
    assert (members.members.tolist(), members.member_starts.tolist()) == ([0, 3, 1, 4], [0, 2, 3, 4])


def test_values_far_apart_are_numbered_too() -> None:
    history = History("E1", tuple(Event(EventKind.SEND, f"m{k}") for k in range(4)))
    values = (1 - 2**63, 2**63 - 1, 0, 2**63 - 1)
    messages = {
        f"m{k}": Message(f"m{k}", "E1", frozenset(), {POSITION: values[k], KEY: "k"}) for k in range(4)
    }
    batch = batch_of([Execution("x", (history,), messages)])
    assert parts_of(BatchSource(batch), (POSITION, KEY), compiled=False).part.tolist() == [0, 1, 2, 1]


# ---- what is compiled ----


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    ("left", "right", "less"),
    [(2**63 - 1, 1 - 2**63, FALSE), (1 - 2**63, 2**63 - 1, TRUE), (2**63 - 2, 2**63 - 1, TRUE)],
)
def test_the_largest_numbers_are_compared_exactly(jit: bool, left: int, right: int, less: int) -> None:
    history = History("E1", tuple(Event(EventKind.SEND, name) for name in "pq"))
    messages = {
        name: Message(name, "E1", frozenset(), {POSITION: value})
        for name, value in (("p", left), ("q", right))
    }
    numbers = [AttributeOf(POSITION, MessageNamed(name)) for name in "pq"]
    asked = Comparison(Relation.LESS, numbers[0], numbers[1], Dimension.NUMBER)
    exactly = Comparison(
        Relation.EQUAL, numbers[0], Constant(Fraction(left), Dimension.NUMBER), Dimension.NUMBER
    )
    batch = batch_of([Execution("x", (history,), messages)])
    assert compile_formula(asked).run(BatchSource(batch), jit)[0].tolist() == [less]
    assert compile_formula(exactly).run(BatchSource(batch), jit)[0].tolist() == [TRUE]


def test_one_message_of_each_part_is_looked_at() -> None:
    count = 40
    history = History("E1", tuple(Event(EventKind.SEND, f"m{k:02}") for k in range(count)))
    messages = {f"m{k:02}": Message(f"m{k:02}", "E1", frozenset(), {KEY: "k"}) for k in range(count)}
    p = MessageVariable("p")
    asked = per(Forall(p, Truth(True), Not(InLog(p, ReceiptLog(EntityNamed("E1"))))))
    found = OffenderSearch(batch_of([Execution("x", (history,), messages)]), jit=False)
    assert found.of(asked, 0, 10).count == 0
    values, witnesses = compile_formula(asked).run(
        BatchSource(batch_of([Execution("x", (history,), messages)])), False
    )
    assert (values.tolist(), witnesses.of(0)) == ([TRUE], ((), ()))


def test_a_variable_that_says_more_than_its_part_does_not_only_name_it() -> None:
    p, q = MessageVariable("p"), MessageVariable("q")
    extent, log = SamePart(p, Part((KEY,), p)), ReceiptLog(EntityNamed("E1"))
    named = Forall(q, SamePart(q, Part((KEY,), p)), InLog(q, log))
    assert of_its_own(p, extent, named) == (KEY,)
    assert of_its_own(p, extent, InLog(p, log)) == ()
    assert of_its_own(p, And((extent, InLog(p, log))), named) == ()
    assert of_its_own(p, extent, Forall(q, SamePart(q, Part((TOPIC,), p)), InLog(q, log))) == ()


# ---- offenders ----


def test_offenders_are_those_of_the_definition() -> None:
    several = 0
    asked: list[Callable[[Seeded], Formula]] = [
        lambda _: per(DEFINITIONS["order_equivalent"]),
        lambda _: per(DEFINITIONS["selectively_information_preserving"]),
        lambda choices: formula(choices, scope=Scope(attributes=ATTRIBUTES)),
    ]
    for seed in range(600):
        choices = Seeded(seed)
        one, given = asked[seed % 3](choices), execution(choices, replace(SHAPE, attributes=ATTRIBUTES))
        if not given.complete or evaluate(one, given) != FALSE:
            continue
        if any(isinstance(clause.body, Acyclic) for clause in clauses(one, complete=True)):
            continue
        found = OffenderSearch(batch_of([given]), jit=False).of(one, 0, 10_000)
        meant = offenders(one, given)
        assert found.count == len(meant)
        assert {(frozenset(each.entities), frozenset(each.messages)) for each in found.first} == {
            (frozenset(each.entities), frozenset(each.messages)) for each in meant
        }
        several += len(meant) > 1
    assert several > 30


def test_what_names_a_part_is_no_offender() -> None:
    deliveries = History("E1", tuple(Event(EventKind.DELIVER, name) for name in "abc"))
    messages = {name: Message(name, None, None, {KEY: "k"}) for name in "abc"}
    batch: Batch = batch_of([Execution("x", (deliveries,), messages)])
    found = OffenderSearch(batch, jit=False).of(per(DEFINITIONS["no_creation"]), 0, 10)
    assert [each.messages for each in found.first] == [("a",), ("b",), ("c",)]
    result: Scan = scan(batch, plan([Requirement("x", per(DEFINITIONS["no_creation"]))]))
    assert result.witness(0, "x").messages == (0,)


def test_verdict_rows_name_the_values_of_the_part() -> None:
    deliveries = History("E1", (Event(EventKind.DELIVER, "a"),))
    messages = {"a": Message("a", None, None, {KEY: "k", POSITION: 7})}
    batch = batch_of([Execution("x", (deliveries,), messages)])
    for body in (
        DEFINITIONS["no_creation"],
        Not(Not(DEFINITIONS["no_creation"])),
        Not(DEFINITIONS["broadcast"]),
    ):
        prepared = plan([Requirement("x", per(body, KEY, POSITION))])
        (row,) = verdict_rows(scan(batch, prepared), prepared, all_verdicts=True).to_pylist()
        witness = json.loads(row["witness"])
        assert (witness["messages"], witness["part"]) == (["a"], {"key": "k", "position": 7})
