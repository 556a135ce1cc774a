"""What has one canonical form has one meaning: random formulas, with harmless and harmful changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from precedes.core.formula import (
    TRUTH,
    Acyclic,
    And,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    InLog,
    Not,
    Or,
    Precedes,
    ReceiptLog,
    SameMessage,
)
from precedes.core.verdict import verdict
from precedes.engines.reference import evaluate
from precedes.logic.canonical_form import canonical
from precedes.testing.choices import Choices, Seeded, pick
from precedes.testing.random_executions import TRACES, execution
from precedes.testing.random_formulas import formula as random_formula

Change = Callable[[Formula], Formula | None]


def reversed_parts(of: Formula) -> Formula | None:
    match of:
        case And(parts) | Or(parts):
            return replace(of, parts=parts[::-1])
        case Iff(left, right):
            return Iff(right, left)
        case SameMessage(left, right):
            return SameMessage(right, left)
        case _:
            return None


def without_implication(of: Formula) -> Formula | None:
    return Or((of.right, Not(of.left))) if isinstance(of, Implies) else None


def by_the_dual(of: Formula) -> Formula | None:
    match of:
        case And(parts):
            return Not(Or(tuple(Not(part) for part in parts)))
        case Forall(variable, span, body):
            return Not(Exists(variable, span, Not(body)))
        case Exists(variable, span, body):
            return Not(Forall(variable, span, Not(body)))
        case _:
            return None


def guard_in_the_body(of: Formula) -> Formula | None:
    """Harmless only where the guard is no receipt log."""
    match of:
        case Forall(variable, span, body):
            return Forall(variable, TRUTH, Implies(span, body))
        case Exists(variable, span, body):
            return Exists(variable, TRUTH, And((span, body)))
        case _:
            return None


def quantifiers_exchanged(of: Formula) -> Formula | None:
    """Not harmless where the outer range is about another variable of the inner one's name."""
    match of:
        case Forall(outer, first, Forall(inner, second, body)) if outer != inner and repr(outer) not in repr(
            second
        ):
            return Forall(inner, second, Forall(outer, first, body))
        case _:
            return None


def split(of: Formula) -> Formula | None:
    match of:
        case Forall(variable, span, And(parts)):
            return And(tuple(Forall(variable, span, part) for part in parts))
        case _:
            return None


def other_quantifier(of: Formula) -> Formula | None:
    match of:
        case Forall(variable, span, body):
            return Exists(variable, span, body)
        case Exists(variable, span, body):
            return Forall(variable, span, body)
        case _:
            return None


def the_other_way_round(of: Formula) -> Formula | None:
    match of:
        case Precedes(first, second, log):
            return Precedes(second, first, log)
        case Implies(left, right):
            return Implies(right, left)
        case Acyclic(first, second, body):
            return Acyclic(second, first, body)
        case InLog(message, ReceiptLog(_)):
            return Not(InLog(message, of.log))
        case _:
            return None


CHANGES: tuple[Change, ...] = (
    reversed_parts,
    without_implication,
    by_the_dual,
    guard_in_the_body,
    quantifiers_exchanged,
    split,
    other_quantifier,
    the_other_way_round,
)


def changed(of: Formula, change: Change, choices: Choices) -> Formula:
    """The formula with the change made at some places where it can be."""
    result = of
    match of:
        case Not(body):
            result = Not(changed(body, change, choices))
        case And(parts) | Or(parts):
            result = replace(of, parts=tuple(changed(part, change, choices) for part in parts))
        case Implies(left, right) | Iff(left, right):
            result = replace(of, left=changed(left, change, choices), right=changed(right, change, choices))
        case Forall(_, span, body) | Exists(_, span, body):
            result = replace(of, range=changed(span, change, choices), body=changed(body, change, choices))
        case Acyclic(_, _, body):
            result = replace(of, body=changed(body, change, choices))
        case _:
            pass
    done = change(result) if choices.integer(0, 1) else None
    return result if done is None else done


def test_one_form_one_meaning() -> None:
    cases = [execution(Seeded(900_000 + seed), TRACES) for seed in range(40)]
    same: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for seed in range(1000):
        choices = Seeded(seed)
        formula = random_formula(choices, 5)
        change = pick(choices, CHANGES)
        variant = changed(formula, change, choices)
        if variant == formula:
            continue
        if canonical(variant) != canonical(formula):
            other[change.__name__] += 1
            continue
        same[change.__name__] += 1
        for k in range(6):
            case = cases[(seed + 7 * k) % len(cases)]
            expected, found = evaluate(formula, case), evaluate(variant, case)
            assert verdict(expected) is verdict(found), (change, formula, variant, case)
    for harmless in (reversed_parts, without_implication, by_the_dual):
        assert same[harmless.__name__] > 10
        assert not other[harmless.__name__]
    for harmful in (other_quantifier, the_other_way_round):
        assert other[harmful.__name__] > 10
