"""Vacuity: premises are met only where the formula could be violated, however it is written."""

from __future__ import annotations

import pytest

from precedes.core import formula as f
from precedes.core.execution import EventKind
from precedes.core.transposition import batch_of
from precedes.core.traversal import walk
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.reference import evaluate
from precedes.jobs.infer import proved
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.canonical_form import canonical
from precedes.logic.plan import plan
from precedes.logic.premises import premise
from precedes.logic.refutation import TooManyError, refutations
from precedes.testing.choices import Choices, Seeded, pick
from precedes.testing.random_executions import TRACES, execution
from precedes.testing.random_formulas import formula
from tests.columnar.cut_executions import of_one_message, without

LIBRARY = standard_library()
NAMES = sorted(name for names in proved().equal.values() for name in names)


def asked(name: str) -> f.Formula:
    return requirement(name, LIBRARY).formula


# ---- what a premise is ----


@pytest.mark.parametrize("seeds", [range(500), pytest.param(range(500, 3000), marks=pytest.mark.slow)])
def test_a_formula_whose_premise_is_not_met_is_not_violated(seeds: range) -> None:
    unmet = 0
    for seed in seeds:
        choices = Seeded(seed)
        one = formula(choices)
        given = execution(choices, TRACES)
        if evaluate(premise(one), given) == FALSE:
            unmet += 1
            assert evaluate(one, given) != FALSE, seed
    assert unmet > len(seeds) / 15


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(150), marks=pytest.mark.slow)])
def test_with_one_message_premises_are_met_of_what_one_message_can_violate(seeds: range) -> None:
    asked_of = {name: asked(name) for name in NAMES}
    premises = {name: premise(one) for name, one in asked_of.items()}
    met, violated = set(), set()
    for seed in seeds:
        one_message = of_one_message(execution(Seeded(seed), TRACES))
        for given in (one_message, without(one_message, EventKind.DELIVER)):
            met |= {name for name in NAMES if evaluate(premises[name], given) == TRUE}
            violated |= {name for name in NAMES if evaluate(asked_of[name], given) == FALSE}
    assert met >= violated
    # Whole services are asked part by part.
    leaves = {name for name in NAMES if not requirement(name, LIBRARY).parts}
    # Of these nothing is recorded that could violate them.
    leaves -= {"positions_never_go_back", "only_in_flight_repeats"}
    assert met & leaves == violated & leaves
    assert not {"order_equivalent", "causal_order", "acyclic_order", "gap_free_order"} & met


@pytest.mark.parametrize(
    ("text", "sense"),
    [
        ("true", False),
        ("forall i: forall p in RL[i]: p in RL[i]", False),
        ("forall p: p in SL[sender(p)] implies sent(p)", False),
        ("forall i: forall p, q in RL[i]: p <[RL[i]] q implies not q <[RL[i]] p", False),
        ("forall i, j: forall p in RL[i]: i = j implies p in RL[j]", False),
        ("forall i: forall p in RL[i]: sent(p)", True),
        ("exists p: sent(p)", True),
        ("false", True),
        ("not exists i: exists p in RL[i]: repeated(p, RL[i])", True),
    ],
)
def test_what_is_so_by_logic_cannot_be_violated(text: str, sense: bool) -> None:
    one = requirement(text, LIBRARY).formula
    assert (premise(one) != f.FALSEHOOD) is sense
    assert bool(refutations(one)) is sense


def test_what_is_too_large_is_claimed_to_be_tested() -> None:
    one: f.Formula = f.InLog(f.MessageNamed("m1"), f.ReceiptLog(f.EntityNamed("E1")))
    for k in range(8):
        one = f.Iff(one, f.Sent(f.MessageNamed(f"m{k}")))
    with pytest.raises(TooManyError):
        refutations(one)
    assert premise(one) == f.TRUTH


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 60), marks=pytest.mark.slow)])
def test_what_is_sought_is_false_where_it_is_false(seeds: range) -> None:
    """To look whether a premise may be met ends early, and says no more than that."""
    premises = {name: premise(asked(name)) for name in NAMES}
    looked_for = plan([], sought=[f.Requirement(name, one) for name, one in premises.items()])
    unmet = 0
    for seed in seeds:
        given = execution(Seeded(seed), TRACES)
        if not given.complete:
            continue
        found = scan(batch_of([given]), looked_for)
        values = dict(zip(found.names, found.values[0].tolist(), strict=True))
        told = {name for name, value in values.items() if value == FALSE}
        assert told == {name for name, one in premises.items() if evaluate(one, given) == FALSE}, seed
        unmet += len(told)
    assert unmet


# ---- however it is written ----


def rewritten(choices: Choices, one: f.Formula) -> f.Formula:
    """The same formula in other words."""

    def again(part: f.Formula) -> f.Formula:
        return rewritten(choices, part)

    match one:
        case f.Not(f.And(parts)):
            return f.Or(tuple(f.Not(again(part)) for part in parts))
        case f.Not(f.Or(parts)):
            return f.And(tuple(f.Not(again(part)) for part in parts))
        case f.Not(f.Forall(variable, extent, body)):
            return f.Exists(variable, again(extent), f.Not(again(body)))
        case f.Not(f.Exists(variable, extent, body)):
            return f.Forall(variable, again(extent), f.Not(again(body)))
        case f.Not(body):
            return f.Not(again(body))
        case f.And(parts):
            return pick(
                choices,
                (
                    f.And(tuple(map(again, reversed(parts)))),
                    f.Not(f.Or(tuple(f.Not(again(part)) for part in parts))),
                ),
            )
        case f.Or(parts):
            return pick(
                choices,
                (
                    f.Or(tuple(map(again, reversed(parts)))),
                    f.Not(f.And(tuple(f.Not(again(part)) for part in parts))),
                ),
            )
        case f.Implies(left, right):
            return pick(
                choices,
                (
                    f.Or((f.Not(again(left)), again(right))),
                    f.Implies(f.Not(again(right)), f.Not(again(left))),
                ),
            )
        case f.Iff(left, right):
            return f.And((f.Implies(again(left), again(right)), f.Implies(again(right), again(left))))
        case f.Forall(variable, extent, body):
            there = pick(choices, (f.TRUTH, extent))
            inside = again(body) if there == extent else f.Implies(again(extent), again(body))
            return pick(
                choices,
                (f.Forall(variable, there, inside), f.Not(f.Exists(variable, there, f.Not(inside)))),
            )
        case f.Exists(variable, extent, body):
            return f.Not(f.Forall(variable, again(extent), f.Not(again(body))))
        case f.Acyclic(first, second, body):
            return f.Acyclic(first, second, again(body))
        case _:
            return pick(choices, (one, f.Not(f.Not(one))))


@pytest.mark.parametrize("seeds", [range(250), pytest.param(range(250, 1500), marks=pytest.mark.slow)])
def test_equivalent_formulas_have_one_premise(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        choices = Seeded(seed)
        one = formula(choices)
        other = rewritten(choices, one)
        given = execution(choices, TRACES)
        try:
            refutations(one), refutations(other)
        except TooManyError:
            continue
        compared += one != other
        assert evaluate(premise(one), given) == evaluate(premise(other), given), seed
    assert compared > len(seeds) * 7 / 15


def test_premises_do_not_depend_on_where_quantifiers_stand() -> None:
    inside = requirement(
        "forall p: (exists i in dest(p): p in RL[i]) implies forall j in dest(p): p in RL[j]", LIBRARY
    )
    outside = requirement("forall p: forall i, j in dest(p): p in RL[i] implies p in RL[j]", LIBRARY)
    assert canonical(premise(inside.formula)) == canonical(premise(outside.formula))


@pytest.mark.parametrize("name", NAMES)
def test_the_premise_of_a_name_asked_per_value_is_that_of_the_name_in_a_part(name: str) -> None:
    """It is not looked for in what the parts are written out to: that would take hours for some names."""
    plain, asked = (premise(requirement(text, LIBRARY).formula) for text in (name, f"{name} per key"))
    sizes = [sum(1 for _ in walk(found)) for found in (plain, asked)]
    assert plain == f.TRUTH or sizes[1] <= 6 * sizes[0] + 10
    attributes = {node for node in walk(asked) if isinstance(node, f.SamePart)}
    assert attributes or asked in (f.TRUTH, f.FALSEHOOD)
