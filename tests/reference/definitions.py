"""The standard library's definitions as core formulas, written out by hand.

They repeat specs/precedes_specs so that the evaluator is tested without the language.
"""

from __future__ import annotations

from precedes.core.formula import (
    TRUTH,
    Acyclic,
    And,
    Comparison,
    DeliveryEvent,
    Delta,
    Dimension,
    EntityTerm,
    EntityVariable,
    Exists,
    Faulty,
    Forall,
    Formula,
    HappensBefore,
    Iff,
    Implies,
    InLog,
    IsDestination,
    MessageVariable,
    Not,
    Or,
    Precedes,
    ReceiptLog,
    Relation,
    Repeated,
    Requirement,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Sum,
    TimeOf,
    conjunction,
)

HERE, THERE = EntityVariable("i"), EntityVariable("j")
P, Q = MessageVariable("p"), MessageVariable("q")


def every_entity(*variables: EntityVariable, body: Formula) -> Formula:
    """`forall i, j: body`."""
    for variable in reversed(variables):
        body = Forall(variable, TRUTH, body)
    return body


def every_pair(extent: tuple[Formula, ...], body: Formula) -> Formula:
    """`forall p, q in ...: body`, the range being given for p."""
    of_q = tuple(InLog(Q, part.log) for part in extent if isinstance(part, InLog))
    return Forall(P, conjunction(*extent), Forall(Q, conjunction(*of_q), body))


def in_receipt(entity: EntityTerm) -> InLog:
    """`p in RL[i]`."""
    return InLog(P, ReceiptLog(entity))


def order_equivalent_logs(left: EntityTerm, right: EntityTerm) -> Formula:
    """`order_equivalent(RL[i], RL[j])`."""
    first, second = ReceiptLog(left), ReceiptLog(right)
    return every_pair((InLog(P, first), InLog(P, second)), Iff(Precedes(P, Q, first), Precedes(P, Q, second)))


def information_equivalent_logs(left: EntityTerm, right: EntityTerm) -> Formula:
    """`information_equivalent(RL[i], RL[j])`."""
    return And(
        (Forall(P, in_receipt(left), in_receipt(right)), Forall(P, in_receipt(right), in_receipt(left)))
    )


def order_preserving_log(here: EntityTerm) -> Formula:
    """`order_preserving(RL[i])`."""
    log, sent = ReceiptLog(here), SendLog(THERE)
    body = every_pair((InLog(P, log), InLog(P, sent)), Iff(Precedes(P, Q, log), Precedes(P, Q, sent)))
    return Forall(THERE, TRUTH, body)


def information_preserving_log(here: EntityTerm) -> Formula:
    """`information_preserving(RL[i])`."""
    return And(
        (
            Forall(P, in_receipt(here), Exists(THERE, TRUTH, InLog(P, SendLog(THERE)))),
            Forall(THERE, TRUTH, Forall(P, InLog(P, SendLog(THERE)), in_receipt(here))),
        )
    )


def selectively_information_preserving_log(here: EntityTerm) -> Formula:
    """`selectively_information_preserving(RL[i])`."""
    return And(
        (
            Forall(P, in_receipt(here), Exists(THERE, TRUTH, InLog(P, SendLog(THERE, here)))),
            Forall(THERE, TRUTH, Forall(P, InLog(P, SendLog(THERE, here)), in_receipt(here))),
        )
    )


ORDER_EQUIVALENT = Requirement(
    "order_equivalent", every_entity(HERE, THERE, body=order_equivalent_logs(HERE, THERE))
)
INFORMATION_EQUIVALENT = Requirement(
    "information_equivalent", every_entity(HERE, THERE, body=information_equivalent_logs(HERE, THERE))
)
ORDER_PRESERVING = Requirement("order_preserving", every_entity(HERE, body=order_preserving_log(HERE)))
INFORMATION_PRESERVING = Requirement(
    "information_preserving", every_entity(HERE, body=information_preserving_log(HERE))
)
SELECTIVELY_INFORMATION_PRESERVING = Requirement(
    "selectively_information_preserving",
    every_entity(HERE, body=selectively_information_preserving_log(HERE)),
)


def both(name: str, *parts: Requirement) -> Requirement:
    """A service: the conjunction of named parts."""
    return Requirement(name, conjunction(*(part.formula for part in parts)), parts)


CORRECT = both("correct", ORDER_PRESERVING, INFORMATION_PRESERVING)
SELECTIVELY_CORRECT = both("selectively_correct", ORDER_PRESERVING, SELECTIVELY_INFORMATION_PRESERVING)
SINGLE_CHANNEL = both("1C", ORDER_PRESERVING, ORDER_EQUIVALENT)
PO = both("PO", CORRECT)
TO = both("TO", PO, ORDER_EQUIVALENT)
SP = both("SP", SELECTIVELY_CORRECT)
ST = both("ST", SP, ORDER_EQUIVALENT)
RELIABLE = Requirement("reliable", Or((CORRECT.formula, SELECTIVELY_CORRECT.formula)))
NO_CREATION = Requirement("no_creation", every_entity(HERE, body=Forall(P, in_receipt(HERE), Sent(P))))
NO_DUPLICATION = Requirement(
    "no_duplication", every_entity(HERE, body=Forall(P, in_receipt(HERE), Not(Repeated(P, ReceiptLog(HERE)))))
)
ACYCLIC_ORDER = Requirement(
    "acyclic_order", Acyclic(P, Q, Exists(HERE, TRUTH, Precedes(P, Q, ReceiptLog(HERE))))
)

EARLIER = HappensBefore(SendEvent(P), SendEvent(Q))
CAUSAL_ORDER = Requirement(
    "causal_order",
    Forall(
        P,
        TRUTH,
        Forall(
            Q,
            TRUTH,
            Implies(
                EARLIER,
                every_entity(
                    HERE, THERE, body=Not(HappensBefore(DeliveryEvent(Q, THERE), DeliveryEvent(P, HERE)))
                ),
            ),
        ),
    ),
)
PROCESS_CAUSAL_ORDER = Requirement(
    "process_causal_order",
    every_entity(
        HERE, body=every_pair((in_receipt(HERE),), Implies(EARLIER, Precedes(P, Q, ReceiptLog(HERE))))
    ),
)
CO = both("CO", CAUSAL_ORDER, NO_CREATION, NO_DUPLICATION)


def in_time(message: MessageVariable, here: EntityTerm) -> Formula:
    """`deliver_time(p, i) <= send_time(p) + delta`."""
    limit = Sum(TimeOf(SendEvent(message)), Delta())
    return Comparison(Relation.AT_MOST, TimeOf(DeliveryEvent(message, here)), limit, Dimension.TIME)


DEADLINE = Requirement(
    "deadline", every_entity(HERE, body=Forall(P, in_receipt(HERE), Implies(Sent(P), in_time(P, HERE))))
)
DELTA_CAUSAL_ORDER = Requirement(
    "delta_causal_order",
    every_entity(
        HERE,
        body=every_pair(
            (in_receipt(HERE),),
            Implies(
                And(
                    (
                        EARLIER,
                        Comparison(
                            Relation.AT_MOST,
                            TimeOf(SendEvent(Q)),
                            Sum(TimeOf(SendEvent(P)), Delta()),
                            Dimension.TIME,
                        ),
                        in_time(P, HERE),
                        in_time(Q, HERE),
                    )
                ),
                Precedes(P, Q, ReceiptLog(HERE)),
            ),
        ),
    ),
)
AGREEMENT = Requirement(
    "agreement",
    Forall(
        P,
        TRUTH,
        Implies(
            Exists(HERE, IsDestination(HERE, P), And((Not(Faulty(HERE)), in_receipt(HERE)))),
            Forall(THERE, IsDestination(THERE, P), Implies(Not(Faulty(THERE)), in_receipt(THERE))),
        ),
    ),
)
LOCAL_ORDER = Requirement(
    "local_order",
    every_entity(
        HERE,
        body=Forall(
            Q,
            InLog(Q, ReceiptLog(HERE)),
            Forall(
                P,
                TRUTH,
                Implies(
                    And((IsDestination(HERE, P), HappensBefore(DeliveryEvent(P, Sender(Q)), SendEvent(Q)))),
                    Precedes(P, Q, ReceiptLog(HERE)),
                ),
            ),
        ),
    ),
)
VALIDITY = Requirement(
    "validity",
    Forall(
        P,
        TRUTH,
        Implies(
            And((Not(Faulty(Sender(P))), Exists(HERE, TRUTH, IsDestination(HERE, P)))),
            Exists(HERE, IsDestination(HERE, P), in_receipt(HERE)),
        ),
    ),
)
