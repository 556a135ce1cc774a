"""Lowering: which core formula a text is, and that the sugar means what it says, judged by the reference evaluator."""

import re
from fractions import Fraction

import pytest

from precedes.core import formula as core
from precedes.core.formula import Requirement
from precedes.core.traversal import walk
from precedes.engines.reference import evaluate
from precedes.language.library import Library, standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse
from precedes.language.requirements import requirement
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import SCENARIOS, execution
from tests.language.judging import as_stated

L, M, E = core.EntityVariable("L"), core.EntityVariable("M"), core.EntityVariable("i")
P, Q = core.MessageVariable("p"), core.MessageVariable("q")


def lowered(text: str, definitions: str = "") -> core.Formula:
    library = Library([parse(definitions)], standard_library()) if definitions else standard_library()
    return requirement(text, library).formula


def both(message: core.MessageVariable) -> core.Formula:
    return core.And((core.InLog(message, core.ReceiptLog(L)), core.InLog(message, core.ReceiptLog(M))))


def test_order_equivalence() -> None:
    body = core.Iff(core.Precedes(P, Q, core.ReceiptLog(L)), core.Precedes(P, Q, core.ReceiptLog(M)))
    pairs = core.Forall(P, both(P), core.Forall(Q, both(Q), body))
    assert lowered("order_equivalent") == core.Forall(L, core.TRUTH, core.Forall(M, core.TRUTH, pairs))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('forall p: p in RL["a"] implies sent(p)', 'forall p in RL["a"]: sent(p)'),
        ("forall i: forall p: p in RL[i] implies sent(p)", "forall i: forall p in RL[i]: sent(p)"),
        ("forall i, p: p in RL[i] implies sent(p)", "forall i: forall p in RL[i]: sent(p)"),
        (
            "forall i, p, q: p in RL[i] and q in RL[i] implies p ~> q",
            "forall i: forall p, q in RL[i]: p ~> q",
        ),
        (
            "forall i: forall p: p in RL[i] implies (p in SL[i] implies sent(p))",
            "forall i: forall p in RL[i] & SL[i]: sent(p)",
        ),
        (
            "forall i, p: (p in RL[i] and sent(p) and p in SL[i]) implies p ~> p",
            "forall i: forall p in RL[i]: (sent(p) and p in SL[i]) implies p ~> p",
        ),
        ("exists i, p: p in RL[i] and sent(p)", "exists i: exists p in RL[i]: sent(p)"),
        ('exists i: i in dest("m") and "m" in RL[i]', 'exists i in dest("m"): "m" in RL[i]'),
        ('forall i: i in {"a", "b"} implies "m" in RL[i]', 'forall i in {"a", "b"}: "m" in RL[i]'),
        (
            "forall p, q: p ~> q and (sent(p) and sent(q)) implies p != q",
            "forall p: forall q: (p ~> q and sent(p) and sent(q)) implies not p = q",
        ),
        ("forall L: order_preserving(L)", "order_preserving"),
        ('forall p: send_time(p) > deliver_time(p, "a")', 'forall p: deliver_time(p, "a") < send_time(p)'),
        ("forall p: send_time(p) + delta >= send_time(p)", "forall p: send_time(p) <= send_time(p) + delta"),
    ],
)
def test_two_ways_to_write_one_formula(one: str, other: str) -> None:
    # Names of bound variables may differ where a log variable is an entity variable.
    assert renamed(lowered(one)) == renamed(lowered(other))


def renamed(formula: core.Formula) -> str:
    """A formula with its variables numbered as they appear."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"{match[1]}Variable({numbers.setdefault(match[2], len(numbers))})"

    return re.sub(r"(Entity|Message)Variable\(name='(\w+)'\)", number, repr(formula))


def test_a_membership_that_is_all_that_exists_says_stays_a_statement() -> None:
    found = lowered("forall p: exists i: p in RL[i]")
    assert found == core.Forall(P, core.TRUTH, core.Exists(E, core.TRUTH, core.InLog(P, core.ReceiptLog(E))))


def test_predicates_do_not_capture() -> None:
    definitions = """
        predicate before(p, L: log) := exists q in L: q <[L] p
        predicate has(q, i) := forall p: before(q, RL[i]) implies p ~> q
        """
    found = lowered("forall q, p: has(q, sender(p))", definitions)
    bound = [node.variable.name for node in walk(found) if isinstance(node, core.Forall | core.Exists)]
    assert len(bound) == len(set(bound)) == 4
    [exists] = [node for node in walk(found) if isinstance(node, core.Exists)]
    [precedes] = [node for node in walk(found) if isinstance(node, core.Precedes)]
    assert precedes.first == exists.variable
    assert precedes.second == Q
    assert precedes.log == core.ReceiptLog(core.Sender(P))


def test_every_binder_in_a_scope_has_a_name_of_its_own() -> None:
    def check(formula: core.Formula, scope: frozenset[str]) -> None:
        match formula:
            case core.Forall(variable, range_, body) | core.Exists(variable, range_, body):
                assert variable.name not in scope
                inner = scope | {variable.name}
                check(range_, inner)
                check(body, inner)
            case core.Acyclic(first, second, body):
                assert first.name != second.name
                assert not {first.name, second.name} & scope
                check(body, scope | {first.name, second.name})
            case core.Not(body):
                check(body, scope)
            case core.And(parts) | core.Or(parts):
                for part in parts:
                    check(part, scope)
            case core.Implies(left, right) | core.Iff(left, right):
                check(left, scope)
                check(right, scope)
            case _:
                pass

    texts = [
        "forall L: exists p in L: forall p in L: order_equivalent and top(L) = top(L[2..])",
        "acyclic(p, q: acyclic(q, p: p ~> q))",
    ]
    names = (
        name
        for name in standard_library().names()
        if name not in ("in_time", "begins", "generic_order", "next_view", "bounded_disorder")
    )
    for text in (*texts, *names):
        check(lowered(text), frozenset())


def test_numbers_are_exact_and_in_nanoseconds() -> None:
    found = lowered("forall p: deliver_time(p, sender(p)) - send_time(p) <= 2 * delta + 1.5ms - 3 * 0.1us")
    [comparison] = [node for node in walk(found) if isinstance(node, core.Comparison)]
    assert comparison.dimension is core.Dimension.DURATION
    assert {node.value for node in walk(comparison) if isinstance(node, core.Constant)} == {
        Fraction(1_500_000),
        Fraction(300),
    }
    [scaled] = [node for node in walk(comparison) if isinstance(node, core.Scaled)]
    assert scaled == core.Scaled(Fraction(2), core.Delta())
    assert lowered("1 / 3 + 2 < 7 / 3 * 2") == core.Comparison(
        core.Relation.LESS,
        core.Constant(Fraction(7, 3), core.Dimension.NUMBER),
        core.Constant(Fraction(14, 3), core.Dimension.NUMBER),
        core.Dimension.NUMBER,
    )


def test_among_narrows_the_owners_of_receipt_logs_and_nothing_else() -> None:
    found = requirement('TO among "a" "b"', standard_library())
    assert [part.name for part in found.parts] == ['PO among "a" "b"', 'order_equivalent among "a" "b"']
    ranges = [(node.variable, node.range) for node in walk(found.formula) if isinstance(node, core.Forall)]
    narrowed = {
        variable.name
        for variable, range_ in ranges
        if any(isinstance(n, core.SameEntity) for n in walk(range_))
    }
    assert narrowed == {"L", "M"}
    assert {variable.name for variable, _ in ranges} >= {"L", "M", "j", "p", "q"}


def test_among_in_causal_order_narrows_who_delivers() -> None:
    found = lowered('causal_order among "a"')
    [wanted] = {
        node.range
        for node in walk(found)
        if isinstance(node, core.Forall)
        and isinstance(node.variable, core.EntityVariable)
        and node.variable.name == "i"
    }
    assert wanted == core.SameEntity(E, core.EntityNamed("a"))


def test_a_scenario_names_its_entities_and_messages() -> None:
    text = """
        scenario s
        cluster a b
        SL1: < a{2} b ]
        RL[b]: < a b ]
        expect a <[RL2] b and sender(a) = a and a in dest(b) and b in RL[b]
        """
    as_stated(text)
    formula = compile_text(text).scenarios[0].expectations[0].requirement.formula
    named = {node for node in walk(formula) if isinstance(node, core.EntityNamed | core.MessageNamed)}
    assert named == {
        core.EntityNamed("a"),
        core.EntityNamed("b"),
        core.MessageNamed("a"),
        core.MessageNamed("b"),
    }


LOGS = "scenario s\ncluster E1 E2 E3\nSL1: < a b c d ]\nRL1: < a b c d ]\nRL2: < d c b a ]\nRL3: < ]\n"


@pytest.mark.parametrize(
    "formula",
    [
        "top(RL1) = a and last(RL1) = d and RL1[2] = b and RL2[1] = d",
        "not RL1[5] = a and not RL1[0] = a and not top(RL3) = a and not last(RL3) = last(RL3)",
        "top(RL3) != a",
        "not exists p: p = top(RL3)",
        "forall i: i in {E1, E2} iff exists p: p = top(RL[i])",
        "position(c, RL1) = 3 and position(c, RL2) = 2 and size(RL1) = 4 and size(RL3) = 0",
        "not position(c, RL3) = position(c, RL3)",
        "a in RL1[..2] and b in RL1[..2] and not c in RL1[..2] and not a in RL3[..2]",
        "not b in RL1[3..] and c in RL1[3..] and b in RL1[2..3] and not d in RL1[2..3]",
        "forall p in RL1[..9]: p in RL1",
        "not a in RL1[..0]",
        "top(RL1[2..]) = b and last(RL1[..2]) = b and RL1[2..][2] = c and RL1[2..3][2] = c and not RL1[2..3][3] = d",
        "position(c, RL1[2..]) = 2 and not position(a, RL1[2..]) = position(a, RL1[2..])",
        "b in RL1[2..][..1] and not c in RL1[2..][..1] and not a in RL1[2..][..1]",
        "a <[RL1] b and not a <[RL1[2..]] b and b <[RL1[2..]] c and not a <[RL1] a",
        "order_preserving(RL1) and not order_preserving(RL2) and order_preserving(RL2[..1])",
        "owner(RL1[2..]) = E1 and owner(SL[E2, E3]) = E2 and sender(top(RL2)) = E1",
        "RL1[position(b, RL2)] = c and RL1[size(RL1) - 1] = c and RL1[2 * 2 - 1] = c",
        "top(RL1) <[RL1] last(RL1) and last(RL2) = top(RL1)",
        "exists p in RL1 & RL2: p = c",
        "E1 in dest(a) and E3 in {E1, E3} and not E2 in {1, 3}",
        "1 < 2 and 1 <= 1 and 2 > 1 and 2 >= 2 and 1 = 1 and 1 != 2 and -1 < 0 and 1s = 1000ms and 1min = 60s",
        "true and not false and (false implies true) and (false iff false)",
        "acyclic(p, q: p <[RL1] q) and not acyclic(p, q: p <[RL1] q or p <[RL2] q)",
        "forall L: size(L) = 4 or size(L) = 0",
        "sent(a) and not repeated(a, RL1)",
    ],
)
def test_terms_mean_what_they_say(formula: str) -> None:
    as_stated(f"{LOGS}expect {formula}")


def test_events_times_and_clocks() -> None:
    as_stated(
        """scenario s
        cluster A B
        delta 5
        H1: < !a@0 ?a@1 !b@2 ]
        H2: < arrive(a)@3 ?a@4 !c@5 ?b@7 ]
        expect a ~> b and a ~> c and not c ~> a and not a ~> a
        expect send(a) ~> deliver(a, B) and deliver(a, B) ~> c and not deliver(a, B) ~> b
        expect concurrent(b, c) and not concurrent(b, b) and not concurrent(a, b) and not concurrent(deliver(c, A), a)
        expect concurrent(deliver(a, A), send(c)) and not concurrent(arrive(a, A), send(c))
        expect deliver_time(a, B) - send_time(a) = 4s and arrive_time(a, B) = send_time(a) + 3s
        expect deliver_time(a, B) <= send_time(a) + delta and deadline
        expect not deliver_time(c, A) = deliver_time(c, A)
        expect implied_clock(deliver(a, B), A) = 1 and implied_clock(deliver(a, B), B) = 1
        expect unknown clock(send(a), A) = 1
        expect epsilon = 0s
        """
    )


@pytest.mark.parametrize("seed", range(40))
def test_sugar_and_its_meaning_agree_on_random_executions(seed: int) -> None:
    found = execution(Seeded(seed), SCENARIOS)
    pairs = [
        ("forall L: exists p in L: p = top(L)", "forall i: exists p in RL[i]: position(p, RL[i]) = 1"),
        ("forall L: forall p: p in L[..2] iff (p in L and position(p, L) <= 2)", "true"),
        ("forall L: forall p in L: p = top(L) or top(L) <[L] p", "true"),
        ("forall L: forall p in L: p in L[2..] iff not p = top(L)", "true"),
        ("forall L: forall p: p = L[2] iff p = top(L[2..])", "true"),
        ("forall L: forall p: p = last(L) iff p = last(L[1..])", "true"),
        ("forall L: forall p, q: p <[L[2..]] q iff (p in L[2..] and p <[L] q)", "true"),
    ]
    for one, other in pairs:
        assert evaluate(lowered(one), found) == evaluate(lowered(other), found) or not found.complete, one


def test_a_requirement_keeps_its_text() -> None:
    assert requirement("  forall p :sent( p )", standard_library()).name == "forall p: sent(p)"
    assert isinstance(requirement("ST", standard_library()), Requirement)
