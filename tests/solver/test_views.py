"""Views and groups: what is true of every execution is proved, and what is not has a counterexample, which the
reference evaluator judges too.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from precedes.core import formula as f
from precedes.core.execution import EventKind, Execution
from precedes.core.outcome import Shown
from precedes.core.verdict import FALSE
from precedes.engines.solver import (
    Bounds,
    Counterexample,
    Example,
    NoExample,
    Options,
    Proved,
    as_scenario,
    find,
    implications,
    prove,
)
from precedes.language.loader import compile_text
from precedes.reports.answers import pasteable
from tests.solver.asking import asked, counterexample, pasted, required

HERE, THERE = f.EntityVariable("i"), f.EntityVariable("j")
P, Q = f.MessageVariable("p"), f.MessageVariable("q")
U, V, W = f.ViewVariable("u"), f.ViewVariable("v"), f.ViewVariable("w")
G, H = f.GroupVariable("g"), f.GroupVariable("h")
D = f.DeliveryVariable("d")
SMALL = Options(bounds=Bounds((1, 3), (0, 2)))


def every(*variables: f.Variable, of: f.Formula) -> f.Formula:
    for variable in reversed(variables):
        of = f.Forall(variable, f.TRUTH, of)
    return of


def some(*variables: f.Variable, of: f.Formula) -> f.Formula:
    for variable in reversed(variables):
        of = f.Exists(variable, f.TRUTH, of)
    return of


def sent_in(message: f.MessageTerm, view: f.ViewTerm) -> f.Formula:
    return f.SameView(f.ViewOf(f.SendEvent(message)), view)


def delivered_in(message: f.MessageTerm, entity: f.EntityTerm, view: f.ViewTerm) -> f.Formula:
    return f.SameView(f.ViewOf(f.DeliveryEvent(message, entity)), view)


def delivered(message: f.MessageTerm, entity: f.EntityTerm) -> f.Formula:
    return f.InLog(message, f.ReceiptLog(entity))


def all_of(*parts: f.Formula) -> f.Formula:
    return f.And(parts)


def any_of(*parts: f.Formula) -> f.Formula:
    return f.Or(parts)


def following(first: f.ViewTerm, second: f.ViewTerm, entity: f.EntityTerm) -> f.Formula:
    """The entity installs the second view next after the first."""
    between = all_of(f.InstallsBefore(first, U, entity), f.InstallsBefore(U, second, entity))
    return all_of(f.InstallsBefore(first, second, entity), f.Not(some(U, of=between)))


def not_before(first: f.ViewTerm, second: f.ViewTerm, entity: f.EntityTerm) -> f.Formula:
    """The second view is not one before the first at the entity, unless it is installed again there."""
    return any_of(
        f.SameView(first, second), f.InstallsBefore(first, second, entity), f.InstallsAgain(entity, second)
    )


SELF_INCLUSION = every(HERE, V, of=f.Implies(f.Installs(HERE, V), f.IsMember(HERE, V)))
SENT_IN_A_VIEW = every(P, of=f.Implies(f.Sent(P), some(V, of=sent_in(P, V))))
DELIVERED_IN_A_VIEW = every(P, HERE, of=f.Implies(delivered(P, HERE), some(V, of=delivered_in(P, HERE, V))))
NO_CREATION = every(P, HERE, of=f.Implies(delivered(P, HERE), f.Sent(P)))
SENDING_VIEW_DELIVERY = every(
    P, HERE, of=f.Implies(delivered(P, HERE), delivered_in(P, HERE, f.ViewOf(f.SendEvent(P))))
)
SAME_VIEW_DELIVERY = every(
    P,
    HERE,
    THERE,
    of=f.Implies(
        all_of(delivered(P, HERE), delivered(P, THERE)),
        delivered_in(P, HERE, f.ViewOf(f.DeliveryEvent(P, THERE))),
    ),
)
SAME_VIEW_WHERE_IN_ONE = every(
    P,
    HERE,
    THERE,
    V,
    W,
    of=f.Implies(all_of(delivered_in(P, HERE, V), delivered_in(P, THERE, W)), f.SameView(V, W)),
)
SENDING_VIEW_WHERE_IN_ONE = every(
    P, HERE, V, of=f.Implies(all_of(f.Sent(P), delivered_in(P, HERE, V)), sent_in(P, V))
)
VIRTUAL_SYNCHRONY = every(
    V,
    W,
    HERE,
    THERE,
    P,
    of=f.Implies(
        all_of(following(V, W, HERE), following(V, W, THERE), delivered_in(P, HERE, V)),
        delivered_in(P, THERE, V),
    ),
)
SAME_SET = every(
    V,
    W,
    HERE,
    THERE,
    P,
    of=f.Implies(
        all_of(following(V, W, HERE), following(V, W, THERE)),
        f.Iff(delivered_in(P, HERE, V), delivered_in(P, THERE, V)),
    ),
)
ONE_ORDER_OF_VIEWS = every(
    V, W, HERE, THERE, of=f.Implies(f.InstallsBefore(V, W, HERE), f.Not(f.InstallsBefore(W, V, THERE)))
)
NEVER_AGAIN = every(V, HERE, of=f.Not(f.InstallsAgain(HERE, V)))
LOCAL_MONOTONICITY = all_of(NEVER_AGAIN, ONE_ORDER_OF_VIEWS)
ONCE_PER_GROUP = every(
    P,
    G,
    HERE,
    THERE,
    of=f.Implies(
        all_of(f.IsMember(HERE, G), f.IsMember(THERE, G), delivered(P, HERE), delivered(P, THERE)),
        f.SameEntity(HERE, THERE),
    ),
)
TAKEN_BY_SOMEBODY = every(
    P, G, of=f.Implies(f.AddressedTo(P, G), some(HERE, of=all_of(f.IsMember(HERE, G), delivered(P, HERE))))
)


TRUE_OF_ALL = {
    "somebody installs each view": every(V, of=some(HERE, of=f.Installs(HERE, V))),
    "what is installed again is installed": every(
        V, HERE, of=f.Implies(f.InstallsAgain(HERE, V), f.Installs(HERE, V))
    ),
    "views of an entity are in one order": every(
        V,
        W,
        HERE,
        of=f.Implies(
            all_of(f.Installs(HERE, V), f.Installs(HERE, W)),
            any_of(f.SameView(V, W), f.InstallsBefore(V, W, HERE), f.InstallsBefore(W, V, HERE)),
        ),
    ),
    "no view comes before itself": every(
        V, W, HERE, of=f.Not(all_of(f.InstallsBefore(V, W, HERE), f.InstallsBefore(W, V, HERE)))
    ),
    "the view of an event is installed": every(
        P, HERE, V, of=f.Implies(delivered_in(P, HERE, V), f.Installs(HERE, V))
    ),
    "an event has one view": every(
        P, V, W, of=f.Implies(all_of(sent_in(P, V), sent_in(P, W)), f.SameView(V, W))
    ),
    "views follow the log": every(
        P,
        Q,
        HERE,
        V,
        W,
        of=f.Implies(
            all_of(f.Precedes(P, Q, f.ReceiptLog(HERE)), delivered_in(P, HERE, V), delivered_in(Q, HERE, W)),
            not_before(V, W, HERE),
        ),
    ),
    "events between two of one view are in it": every(
        P,
        Q,
        f.MessageVariable("r"),
        HERE,
        V,
        of=f.Implies(
            all_of(
                NEVER_AGAIN,
                f.Precedes(P, Q, f.ReceiptLog(HERE)),
                f.Precedes(Q, f.MessageVariable("r"), f.ReceiptLog(HERE)),
                delivered_in(P, HERE, V),
                delivered_in(f.MessageVariable("r"), HERE, V),
            ),
            delivered_in(Q, HERE, V),
        ),
    ),
    "the sender delivers in no earlier view": every(
        P,
        HERE,
        V,
        W,
        of=f.Implies(
            all_of(f.SameEntity(f.Sender(P), HERE), sent_in(P, V), delivered_in(P, HERE, W)),
            not_before(V, W, HERE),
        ),
    ),
    "after an event in a view every event is in one": every(
        P,
        Q,
        HERE,
        V,
        of=f.Implies(
            all_of(
                f.HappensBefore(f.SendEvent(P), f.DeliveryEvent(Q, HERE)),
                f.SameEntity(f.Sender(P), HERE),
                sent_in(P, V),
            ),
            some(W, of=delivered_in(Q, HERE, W)),
        ),
    ),
    "a first delivery has the view of the log": every(
        D,
        V,
        of=f.Implies(
            all_of(
                f.Comparison(
                    f.Relation.EQUAL,
                    f.Nth(D),
                    f.Constant(Fraction(1), f.Dimension.NUMBER),
                    f.Dimension.NUMBER,
                ),
                f.SameView(f.ViewOf(D), V),
            ),
            delivered_in(f.MessageOf(D), f.ReceiverOf(D), V),
        ),
    ),
    "what is addressed to a group was sent": every(P, G, of=f.Implies(f.AddressedTo(P, G), f.Sent(P))),
    "groups are the same or not": every(
        G, H, of=f.Implies(f.SameGroup(G, H), every(HERE, of=f.Iff(f.IsMember(HERE, G), f.IsMember(HERE, H))))
    ),
}


@pytest.mark.parametrize("text", TRUE_OF_ALL)
def test_true_of_every_execution(text: str) -> None:
    assert prove(TRUE_OF_ALL[text], SMALL) == Proved()


FALSE_OF_SOME = {
    "there is a group": some(G, of=f.TRUTH),
    "self inclusion": SELF_INCLUSION,
    "sent in a view": SENT_IN_A_VIEW,
    "delivered in a view": DELIVERED_IN_A_VIEW,
    "sending view delivery": SENDING_VIEW_DELIVERY,
    "same view delivery": SAME_VIEW_DELIVERY,
    "same view where in one": SAME_VIEW_WHERE_IN_ONE,
    "virtual synchrony": VIRTUAL_SYNCHRONY,
    "one order of views": ONE_ORDER_OF_VIEWS,
    "never again": NEVER_AGAIN,
    "once per group": ONCE_PER_GROUP,
    "taken by somebody": TAKEN_BY_SOMEBODY,
    "nobody else is a destination": every(
        P,
        HERE,
        G,
        of=f.Implies(all_of(f.AddressedTo(P, G), f.Not(f.IsMember(HERE, G))), f.IsDestination(HERE, P)),
    ),
    "sent to a member": every(
        P,
        HERE,
        G,
        of=f.Implies(
            all_of(f.AddressedTo(P, G), f.IsMember(HERE, G)), f.Not(f.InLog(P, f.SendLog(f.Sender(P), HERE)))
        ),
    ),
    "one view in all": every(V, W, of=f.SameView(V, W)),
    "a view of its own": f.Not(f.Installs(f.EntityNamed("Pk"), f.ViewNamed("v7"))),
    "its own group": f.Not(f.AddressedTo(f.MessageNamed("m"), f.GroupNamed("billing"))),
    "no repeat in another view": every(
        D, V, of=f.Implies(f.SameView(f.ViewOf(D), V), delivered_in(f.MessageOf(D), f.ReceiverOf(D), V))
    ),
    "in time": every(
        P,
        HERE,
        V,
        of=f.Implies(
            delivered_in(P, HERE, V),
            f.Comparison(
                f.Relation.AT_MOST,
                f.TimeOf(f.DeliveryEvent(P, HERE)),
                f.TimeOf(f.SendEvent(P)),
                f.Dimension.TIME,
            ),
        ),
    ),
    "arrivals in the view of the delivery": every(
        P, HERE, V, of=f.Implies(f.SameView(f.ViewOf(f.ArrivalEvent(P, HERE)), V), delivered_in(P, HERE, V))
    ),
}


@pytest.mark.parametrize("text", FALSE_OF_SOME)
def test_false_of_some_execution(text: str) -> None:
    answer = prove(FALSE_OF_SOME[text], SMALL)
    assert isinstance(answer, Counterexample), answer


PROVED = {
    "the view of the send is one view": (SENDING_VIEW_DELIVERY, SAME_VIEW_DELIVERY),
    "messages that were sent in a view": (
        all_of(NO_CREATION, SENT_IN_A_VIEW, SENDING_VIEW_WHERE_IN_ONE),
        SAME_VIEW_WHERE_IN_ONE,
    ),
    "the view of the send": (SENDING_VIEW_DELIVERY, all_of(NO_CREATION, DELIVERED_IN_A_VIEW)),
    "one set of messages": (VIRTUAL_SYNCHRONY, SAME_SET),
    "one order of views": (LOCAL_MONOTONICITY, ONE_ORDER_OF_VIEWS),
}


@pytest.mark.parametrize("text", PROVED)
def test_proved(text: str) -> None:
    """Chockler, Keidar and Vitenberg (2001): sending view delivery is the stronger one."""
    left, right = PROVED[text]
    assert prove(f.Implies(left, right), SMALL) == Proved()


REFUTED = {
    "not all are delivered": (SENDING_VIEW_DELIVERY, VIRTUAL_SYNCHRONY),
    "in one view, but a later one": (
        all_of(NO_CREATION, SENT_IN_A_VIEW, SAME_VIEW_DELIVERY),
        SENDING_VIEW_DELIVERY,
    ),
    "the same messages in other views": (VIRTUAL_SYNCHRONY, SAME_VIEW_DELIVERY),
    "sent by nobody": (SENDING_VIEW_WHERE_IN_ONE, SAME_VIEW_WHERE_IN_ONE),
    "two orders": (all_of(SELF_INCLUSION, NEVER_AGAIN), ONE_ORDER_OF_VIEWS),
}


@pytest.mark.parametrize("text", REFUTED)
def test_refuted(text: str) -> None:
    left, right = REFUTED[text]
    assert isinstance(prove(f.Implies(left, right), SMALL), Counterexample)


def the(answer: object) -> Execution:
    assert isinstance(answer, Counterexample | Example), answer
    return answer.execution


def test_names_are_kept() -> None:
    execution = the(prove(FALSE_OF_SOME["a view of its own"], SMALL))
    assert execution.entities == ("Pk",)
    assert execution.views == {"v7": frozenset({"Pk"})}
    execution = the(prove(FALSE_OF_SOME["its own group"], SMALL))
    assert execution.messages["m"].groups == {"billing"}
    assert execution.groups == {"billing": frozenset({"E1"})}


def test_a_simple_counterexample() -> None:
    """Two views; the message overtakes the second one at one entity only."""
    execution = the(prove(f.Implies(all_of(NO_CREATION, SENT_IN_A_VIEW), SAME_VIEW_WHERE_IN_ONE), SMALL))
    events = [[(e.kind, e.view or e.message) for e in h.events] for h in execution.histories]
    assert len(execution.entities) == 2
    assert set(execution.views) == {"v1", "v2"}
    assert execution.views == {
        view: frozenset(h.entity for h in execution.histories if view in execution.installed(h.entity))
        for view in execution.views
    }
    assert sum(map(len, events)) == 5
    assert sum(kind is EventKind.VIEW for events_here in events for kind, _ in events_here) == 2


def test_a_view_that_is_installed_again() -> None:
    execution = the(find(some(V, HERE, of=f.InstallsAgain(HERE, V)), options=SMALL))
    assert [e.view for e in execution.histories[0].events] == ["v1", "v1"]


def test_who_may_be_chosen() -> None:
    """Whether a member of an addressed group is a destination is not certain, so that nothing refutes either claim."""
    member = all_of(f.AddressedTo(P, G), f.IsMember(HERE, G))
    bounds = Options(bounds=Bounds((1, 2), (0, 1)))
    assert prove(every(P, HERE, G, of=f.Implies(member, f.IsDestination(HERE, P))), bounds) == Proved()
    named = all_of(member, f.IsDestination(HERE, P))
    assert isinstance(find(some(P, HERE, G, of=named), options=bounds), Example)
    assert isinstance(
        find(some(P, HERE, G, of=all_of(member, f.Not(f.IsDestination(HERE, P)))), options=bounds), NoExample
    )


OF_THE_LIBRARY = (
    "(sending_view_delivery and initial_view_event and no_creation) implies same_view_delivery",
    "extended_virtual_synchrony implies (virtual_synchrony and sending_view_delivery and self_delivery)",
    "local_monotonicity implies forall i, j: forall v, w: next_view(v, w, i) implies not next_view(w, v, j)",
    "forall i: forall p in RL[i]: forall v: view(deliver(p, i)) = v implies v in VL[i]",
    "forall g in groups: forall p: g in dest(p) implies sent(p)",
    "local_monotonicity implies one_view_order",
    "forall v, w in views: v = w or number(v) < number(w) or number(w) < number(v)",
    'forall p: view(send(p)) = "5" implies number(view(send(p))) + 1 = 6',
    'forall v in views: number(v) = 7 and number("7") = 7 implies v = "7"',
)


@pytest.mark.parametrize("text", OF_THE_LIBRARY)
def test_proved_of_the_library(text: str) -> None:
    """Chockler, Keidar and Vitenberg (2001), and what follows from the definitions themselves."""
    assert asked(text, SMALL) == Proved()


NOT_OF_THE_LIBRARY = (
    "(sending_view_delivery and initial_view_event) implies same_view_delivery",
    "(sending_view_delivery and no_creation) implies same_view_delivery",
    "(same_view_delivery and initial_view_event and no_creation) implies sending_view_delivery",
    "sending_view_delivery implies virtual_synchrony",
    "virtual_synchrony implies same_view_delivery",
    "extended_virtual_synchrony implies order_equivalent",
    "kept_by_groups implies once_per_group",
    "once_per_group implies kept_by_groups",
    "one_view_order implies local_monotonicity",
    "forall v in views: number(v) >= 0",
    "forall v in views: number(v) = 1 or number(v) < 9223372036854775807",
    "local_monotonicity implies forall p, q: p ~> q implies number(view(send(p))) <= number(view(send(q)))",
)


@pytest.mark.parametrize("text", NOT_OF_THE_LIBRARY)
def test_refuted_of_the_library(text: str) -> None:
    """`precedes check` of the printed scenario agrees."""
    assert pasted(counterexample(text), text) == FALSE


def test_a_view_whose_id_is_no_number() -> None:
    """Nothing is said of its number, nor is it made up."""
    for compared in ('number("v") = number("v")', 'number("v") != number("v")'):
        text = f'"v" in views and {compared}'
        assert isinstance(find(required(text).formula, options=SMALL), NoExample)


def test_a_table_with_names_of_views() -> None:
    """An execution met for names without views refutes more in one view of all."""
    requirements = [required(name) for name in ("TO", "ST", "initial_view_event", "sending_view_delivery")]
    answers = {(one.left, one.right): one.answer for one in implications(requirements)}
    assert len(answers) == 12
    assert {pair for pair, answer in answers.items() if answer == Proved()} == set()
    in_one = the(answers["initial_view_event", "TO"])
    assert [next(e.view for e in history.events) for history in in_one.histories] == ["v1"] * len(
        in_one.entities
    )


@pytest.mark.parametrize("text", ["kept_by_groups", "once_per_group"])
def test_what_a_command_prints_can_be_pasted(text: str) -> None:
    """The groups stand there once, whoever draws them."""
    execution = counterexample(text)
    printed = pasteable(Shown(execution, required(text), None, as_scenario(execution, "s")))
    (scenario,) = compile_text(printed).scenarios
    assert scenario.execution.groups == execution.groups
