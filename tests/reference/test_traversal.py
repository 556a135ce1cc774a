"""Going through trees: every node is met, what is not changed stays itself, binders hide what they bind."""

from typing import get_args

import pytest

from precedes.core import formula as core
from precedes.core.traversal import (
    Node,
    bound,
    children,
    entities_in,
    free_variables,
    messages_in,
    rebuilt,
    substituted,
    transformed,
    walk,
)
from precedes.testing.choices import Seeded
from precedes.testing.random_formulas import Scope, formula

P, Q = core.MessageVariable("p"), core.MessageVariable("q")
HERE, E1 = core.EntityVariable("i"), core.EntityNamed("E1")
IN_LOG = core.InLog(P, core.ReceiptLog(HERE))


@pytest.mark.parametrize(
    ("node", "below"),
    [
        (core.TRUTH, ()),
        (IN_LOG, (P, core.ReceiptLog(HERE))),
        (core.And((IN_LOG, core.TRUTH)), (IN_LOG, core.TRUTH)),
        (core.Forall(P, IN_LOG, core.TRUTH), (P, IN_LOG, core.TRUTH)),
        (core.SendLog(HERE), (HERE,)),
        (core.SendLog(HERE, E1), (HERE, E1)),
        (core.Comparison(core.Relation.LESS, core.Delta(), core.Epsilon(), core.Dimension.DURATION),
         (core.Delta(), core.Epsilon())),
    ],
)  # fmt: skip
def test_the_children_of_a_node(node: Node, below: tuple[Node, ...]) -> None:
    assert children(node) == below


def test_a_binder_binds_its_variables_and_nothing_else_does() -> None:
    assert bound(core.Forall(P, IN_LOG, core.TRUTH)) == (P,)
    assert bound(core.Exists(HERE, IN_LOG, core.TRUTH)) == (HERE,)
    assert bound(core.Acyclic(P, Q, core.TRUTH)) == (P, Q)
    binders = {kind for kind in get_args(Node) if kind in (core.Forall, core.Exists, core.Acyclic)}
    for seed in range(300):
        for node in walk(formula(Seeded(seed))):
            assert bool(bound(node)) is (type(node) in binders)


def test_a_walk_goes_from_left_to_right_into_everything() -> None:
    both = core.And((IN_LOG, core.Not(core.Sent(Q))))
    assert list(walk(both)) == [both, IN_LOG, P, core.ReceiptLog(HERE), HERE, both.parts[1], core.Sent(Q), Q]


def test_what_is_not_changed_stays_itself() -> None:
    for seed in range(300):
        one = formula(Seeded(seed))
        assert rebuilt(one, lambda child: child) is one
        assert transformed(one, lambda before, after: after) is one


def test_a_change_comes_from_below() -> None:
    def denied(before: Node, after: Node) -> Node:
        return core.Not(after) if isinstance(after, core.Sent | core.And) else after

    assert transformed(core.And((core.Sent(P), core.Sent(Q))), denied) == core.Not(
        core.And((core.Not(core.Sent(P)), core.Not(core.Sent(Q))))
    )


def test_a_deep_tree_is_changed_all_the_same() -> None:
    deep: core.Formula = core.TRUTH
    for _ in range(5_000):
        deep = core.Not(deep)
    turned = transformed(deep, lambda before, after: core.FALSEHOOD if after == core.TRUTH else after)
    assert sum(isinstance(node, core.Not) for node in walk(turned)) == 5_000
    assert list(walk(turned))[-1] == core.FALSEHOOD


def test_free_variables() -> None:
    assert free_variables(IN_LOG) == {P, HERE}
    assert free_variables(core.Forall(P, core.Sent(P), IN_LOG)) == {HERE}
    # The inner binder hides the outer variable in its own range too; outside it is free.
    assert free_variables(core.And((core.Exists(P, IN_LOG, core.TRUTH), core.Sent(P)))) == {P, HERE}
    assert free_variables(core.Acyclic(P, Q, core.Precedes(P, Q, core.ReceiptLog(HERE)))) == {HERE}
    for seed in range(300):
        assert not free_variables(formula(Seeded(seed)))
        assert free_variables(formula(Seeded(seed), 3, Scope((HERE,), (P,)))) <= {HERE, P}


def test_a_substitution_leaves_bound_variables_alone() -> None:
    both = core.And((core.Exists(P, core.Sent(P), IN_LOG), IN_LOG))
    named = core.MessageNamed("m")
    after = substituted(both, {P: named, HERE: E1})
    assert after == core.And(
        (
            core.Exists(P, core.Sent(P), core.InLog(P, core.ReceiptLog(E1))),
            core.InLog(named, core.ReceiptLog(E1)),
        )
    )
    assert entities_in(after) == ("E1",)
    assert messages_in(after) == ("m",)
