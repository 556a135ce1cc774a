"""Formulas that are recognized by their definition, so that tuned kernels and lemmas apply to them.

`DEFINITIONS` has the definitions as core trees. A formula is recognized by its canonical form, never by its
name. So a user's predicate that says the same is as fast, and a predicate with the same name that says
something else is not mistaken for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from precedes.core.formula import (
    TRUTH,
    Acyclic,
    And,
    Attribute,
    AttributeOf,
    AttributeSort,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    DeliveryVariable,
    Delta,
    Dimension,
    EntityVariable,
    Exists,
    Faulty,
    Forall,
    Formula,
    GroupVariable,
    HappensBefore,
    Iff,
    Implies,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    MessageOf,
    MessageTerm,
    MessageVariable,
    Not,
    Or,
    Precedes,
    ReceiptLog,
    Relation,
    Repeated,
    SameDelivery,
    SameMessage,
    SameView,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Sum,
    TimeOf,
    Variable,
    ViewNumber,
    ViewOf,
    ViewVariable,
)
from precedes.logic.canonical_form import Node, canonical

_I, _J = EntityVariable("i"), EntityVariable("j")
_P, _Q, _R = (MessageVariable(name) for name in "pqr")
_L, _M = ReceiptLog(_I), ReceiptLog(_J)
_D, _E, _F = (DeliveryVariable(name) for name in "def")

_G = GroupVariable("g")
_U, _V, _W = (ViewVariable(name) for name in "uvw")

POSITION: Final = Attribute("position", AttributeSort.NUMBER)
"""What the system itself says of the place of a message."""


def _all(*binders: tuple[Variable, Formula], body: Formula) -> Formula:
    for variable, span in reversed(binders):
        body = Forall(variable, span, body)
    return body


def _in_both(message: MessageVariable, *logs: ReceiptLog | SendLog) -> Formula:
    return And(tuple(InLog(message, log) for log in logs))


_EVERY_I, _EVERY_J = (_I, TRUTH), (_J, TRUTH)
_EVERY_P, _EVERY_Q = (_P, TRUTH), (_Q, TRUTH)
_P_IN_L, _Q_IN_L = (_P, InLog(_P, _L)), (_Q, InLog(_Q, _L))
_P_BEFORE_Q = HappensBefore(SendEvent(_P), SendEvent(_Q))


def _in_time(message: MessageVariable) -> Formula:
    limit = Sum(TimeOf(SendEvent(message)), Delta())
    return Comparison(Relation.AT_MOST, TimeOf(DeliveryEvent(message, _I)), limit, Dimension.TIME)


def _position(message: MessageTerm) -> AttributeOf:
    return AttributeOf(POSITION, message)


def _before(one: DeliveryVariable, other: DeliveryVariable) -> Formula:
    return DeliveredBefore(one, other, _I)


_D_AT_I, _E_AT_I, _F_AT_I = ((d, DeliveredAt(d, _I)) for d in (_D, _E, _F))
_D_SENT_BEFORE_E = Precedes(MessageOf(_D), MessageOf(_E), SendLog(_J))
_SAME_OF_D_AND_E = SameMessage(MessageOf(_D), MessageOf(_E))

_SELECTED = SendLog(_J, _I)
_EVERY_CORRECT_DELIVERS = Forall(_J, IsDestination(_J, _P), Implies(Not(Faulty(_J)), InLog(_P, _M)))

_P_TO_BOTH, _Q_TO_BOTH = ((m, And((IsDestination(_I, m), IsDestination(_J, m)))) for m in (_P, _Q))


def _begins(log: ReceiptLog, other: ReceiptLog) -> Formula:
    """The part of one log that is addressed to both owners begins that of the other."""

    def both(message: MessageVariable, of: ReceiptLog) -> tuple[Variable, Formula]:
        return message, And((InLog(message, of), IsDestination(_I, message), IsDestination(_J, message)))

    earlier = _all(both(_Q, other), body=Implies(Precedes(_Q, _P, other), Precedes(_Q, _P, log)))
    return _all(both(_P, log), body=And((InLog(_P, other), earlier)))


def _order_equivalent(log: ReceiptLog, other: ReceiptLog) -> Formula:
    """Both logs have the messages that they share in the same order."""
    return _all(
        (_P, _in_both(_P, log, other)),
        (_Q, _in_both(_Q, log, other)),
        body=Iff(Precedes(_P, _Q, log), Precedes(_P, _Q, other)),
    )


_EVERY_V, _EVERY_W = (_V, TRUTH), (_W, TRUTH)
_NO_VIEW_TWICE = _all(_EVERY_I, (_V, Installs(_I, _V)), body=Not(InstallsAgain(_I, _V)))


def _next_view(entity: EntityVariable) -> Formula:
    """The entity installs w right after v."""
    before = InstallsBefore(_V, _U, entity), InstallsBefore(_U, _W, entity)
    nothing_between = _all((_U, Installs(entity, _U)), body=Implies(before[0], Not(before[1])))
    return And((InstallsBefore(_V, _W, entity), nothing_between))


def _delivered_in_v(entity: EntityVariable) -> Formula:
    return SameView(ViewOf(DeliveryEvent(_P, entity)), _V)


def _happens_in_a_view(event: SendEvent | DeliveryVariable) -> Formula:
    return Exists(_V, TRUTH, SameView(ViewOf(event), _V))


_BEFORE_IT_IS_DELIVERED = _all(
    _Q_IN_L, _EVERY_P, body=Implies(And((IsDestination(_I, _P), _P_BEFORE_Q)), Precedes(_P, _Q, _L))
)
_WHAT_ITS_SENDER_SENT_IS_DELIVERED = _all(
    (_P, InLog(_P, _SELECTED)),
    (_Q, _in_both(_Q, _L, SendLog(_J))),
    body=Implies(Precedes(_P, _Q, SendLog(_J)), Precedes(_P, _Q, _L)),
)
_WHAT_ITS_SENDER_DELIVERED_IS_DELIVERED = _all(
    _Q_IN_L,
    _EVERY_P,
    body=Implies(
        And((IsDestination(_I, _P), HappensBefore(DeliveryEvent(_P, Sender(_Q)), SendEvent(_Q)))),
        Precedes(_P, _Q, _L),
    ),
)
_I_IS_CORRECT, _J_IS_CORRECT = Not(Faulty(_I)), Not(Faulty(_J))


DEFINITIONS: Final[Mapping[str, Formula]] = {
    # 1994, §2.2
    "order_preserving": _all(
        _EVERY_I,
        _EVERY_J,
        (_P, _in_both(_P, _L, SendLog(_J))),
        (_Q, _in_both(_Q, _L, SendLog(_J))),
        body=Iff(Precedes(_P, _Q, _L), Precedes(_P, _Q, SendLog(_J))),
    ),
    "order_equivalent": _all(_EVERY_I, _EVERY_J, body=_order_equivalent(_L, _M)),
    "information_equivalent": _all(_EVERY_I, _EVERY_J, _P_IN_L, body=InLog(_P, _M)),
    "information_preserving": And(
        (
            _all(_EVERY_I, _P_IN_L, body=Exists(_J, TRUTH, InLog(_P, SendLog(_J)))),
            _all(_EVERY_I, _EVERY_J, (_P, InLog(_P, SendLog(_J))), body=InLog(_P, _L)),
        )
    ),
    "selectively_information_preserving": And(
        (
            _all(_EVERY_I, _P_IN_L, body=Exists(_J, TRUTH, InLog(_P, _SELECTED))),
            _all(_EVERY_I, _EVERY_J, (_P, InLog(_P, _SELECTED)), body=InLog(_P, _L)),
        )
    ),
    # Hadzilacos and Toueg 1994, integrity; 1994, §2.2
    "no_creation": _all(_EVERY_I, _P_IN_L, body=Sent(_P)),
    "no_duplication": _all(_EVERY_I, _P_IN_L, body=Not(Repeated(_P, _L))),
    "broadcast": _all(_EVERY_P, _EVERY_I, body=Implies(Sent(_P), IsDestination(_I, _P))),
    # Défago, Schiper, Urbán 2004
    "acyclic_order": Acyclic(_P, _Q, Exists(_I, TRUTH, Precedes(_P, _Q, _L))),
    # Hadzilacos and Toueg 1994, over destination sets
    "agreement": _all(
        _EVERY_P,
        body=Implies(
            Exists(_I, IsDestination(_I, _P), And((Not(Faulty(_I)), InLog(_P, _L)))), _EVERY_CORRECT_DELIVERS
        ),
    ),
    "uniform_agreement": _all(
        _EVERY_P, body=Implies(Exists(_I, IsDestination(_I, _P), InLog(_P, _L)), _EVERY_CORRECT_DELIVERS)
    ),
    "validity": _all(
        _EVERY_P,
        body=Implies(
            And((Not(Faulty(Sender(_P))), Exists(_I, TRUTH, IsDestination(_I, _P)))),
            Exists(_J, IsDestination(_J, _P), InLog(_P, _M)),
        ),
    ),
    # Δ-causal paper, Definition 3, Theorem 1, Definition 4 with Theorem 2, §2.2
    "causal_order": _all(
        _EVERY_P,
        _EVERY_Q,
        body=Implies(
            _P_BEFORE_Q,
            _all(_EVERY_I, _EVERY_J, body=Not(HappensBefore(DeliveryEvent(_Q, _J), DeliveryEvent(_P, _I)))),
        ),
    ),
    "process_causal_order": _all(_EVERY_I, _P_IN_L, _Q_IN_L, body=Implies(_P_BEFORE_Q, Precedes(_P, _Q, _L))),
    "delta_causal_order": _all(
        _EVERY_I,
        _P_IN_L,
        _Q_IN_L,
        body=Implies(
            And(
                (
                    _P_BEFORE_Q,
                    Comparison(
                        Relation.AT_MOST,
                        TimeOf(SendEvent(_Q)),
                        Sum(TimeOf(SendEvent(_P)), Delta()),
                        Dimension.TIME,
                    ),
                    _in_time(_P),
                    _in_time(_Q),
                )
            ),
            Precedes(_P, _Q, _L),
        ),
    ),
    "deadline": _all(_EVERY_I, _P_IN_L, body=Implies(Sent(_P), _in_time(_P))),
    # Hadzilacos and Toueg 1994, strict forms
    "causal_delivery": _all(_EVERY_I, body=_BEFORE_IT_IS_DELIVERED),
    "fifo_delivery": _all(_EVERY_I, _EVERY_J, body=_WHAT_ITS_SENDER_SENT_IS_DELIVERED),
    "local_order": _all(_EVERY_I, body=_WHAT_ITS_SENDER_DELIVERED_IS_DELIVERED),
    # The same and total order, asked of correct receivers only
    "nonuniform_total_order": _all(
        _EVERY_I,
        _EVERY_J,
        body=Implies(And((_I_IS_CORRECT, _J_IS_CORRECT)), _order_equivalent(_L, _M)),
    ),
    "nonuniform_local_order": _all(
        _EVERY_I, body=Implies(_I_IS_CORRECT, _WHAT_ITS_SENDER_DELIVERED_IS_DELIVERED)
    ),
    "nonuniform_causal_delivery": _all(_EVERY_I, body=Implies(_I_IS_CORRECT, _BEFORE_IT_IS_DELIVERED)),
    "nonuniform_fifo_delivery": _all(
        _EVERY_I, _EVERY_J, body=Implies(_I_IS_CORRECT, _WHAT_ITS_SENDER_SENT_IS_DELIVERED)
    ),
    # What the 1994 service TO comes to: one order of all messages that agrees with every log and with every sender
    "one_order": Acyclic(
        _P,
        _Q,
        Or(
            (
                Exists(_I, TRUTH, Precedes(_P, _Q, _L)),
                Exists(_J, TRUTH, Precedes(_P, _Q, SendLog(_J))),
                HappensBefore(DeliveryEvent(_P, Sender(_Q)), SendEvent(_Q)),
            )
        ),
    ),
    # Défago, Schiper, Urbán 2004, over destination sets
    "begins": _all(_EVERY_I, _EVERY_J, body=_begins(_L, _M)),
    "prefix_order": _all(_EVERY_I, _EVERY_J, body=Or((_begins(_L, _M), _begins(_M, _L)))),
    "gap_free_order": _all(
        _EVERY_I,
        _EVERY_J,
        _P_TO_BOTH,
        _Q_TO_BOTH,
        body=Implies(And((Precedes(_P, _Q, _L), InLog(_Q, _M))), Precedes(_P, _Q, _M)),
    ),
    # What a log without gaps shows of each sender; etcd 3.5, watch
    "nothing_skipped": _all(
        _EVERY_I,
        _EVERY_J,
        (_P, _in_both(_P, _L, SendLog(_J))),
        (_R, _in_both(_R, _L, SendLog(_J))),
        (_Q, InLog(_Q, _SELECTED)),
        body=Implies(And((Precedes(_P, _Q, SendLog(_J)), Precedes(_Q, _R, SendLog(_J)))), InLog(_Q, _L)),
    ),
    # Chockler, Keidar, Vitenberg 2001
    "local_monotonicity": And(
        (
            _NO_VIEW_TWICE,
            _all(
                _EVERY_I,
                _EVERY_V,
                _EVERY_W,
                body=Implies(
                    InstallsBefore(_V, _W, _I),
                    Comparison(Relation.LESS, ViewNumber(_V), ViewNumber(_W), Dimension.NUMBER),
                ),
            ),
        )
    ),
    "one_view_order": And(
        (
            _NO_VIEW_TWICE,
            _all(
                _EVERY_I,
                _EVERY_J,
                _EVERY_V,
                _EVERY_W,
                body=Implies(InstallsBefore(_V, _W, _I), Not(InstallsBefore(_W, _V, _J))),
            ),
        )
    ),
    "self_inclusion": _all(_EVERY_I, (_V, Installs(_I, _V)), body=IsMember(_I, _V)),
    "initial_view_event": And(
        (
            _all(_EVERY_I, (_P, InLog(_P, SendLog(_I))), body=_happens_in_a_view(SendEvent(_P))),
            _all(_EVERY_I, _D_AT_I, body=_happens_in_a_view(_D)),
        )
    ),
    "same_view_delivery": _all(
        _EVERY_I,
        _EVERY_J,
        _EVERY_V,
        (_P, _in_both(_P, _L, _M)),
        body=Implies(_delivered_in_v(_I), _delivered_in_v(_J)),
    ),
    "sending_view_delivery": _all(
        _EVERY_I,
        _EVERY_V,
        _EVERY_W,
        _P_IN_L,
        body=Implies(And((_delivered_in_v(_I), SameView(ViewOf(SendEvent(_P)), _W))), SameView(_V, _W)),
    ),
    "virtual_synchrony": _all(
        _EVERY_I,
        _EVERY_J,
        _EVERY_V,
        _EVERY_W,
        body=Implies(
            And((_next_view(_I), _next_view(_J))),
            _all(_P_IN_L, body=Implies(_delivered_in_v(_I), _delivered_in_v(_J))),
        ),
    ),
    # Moser, Amir, Melliar-Smith, Agarwal 1994
    "self_delivery": _all(
        _EVERY_I,
        body=Implies(
            _I_IS_CORRECT,
            _all(
                (_P, And((InLog(_P, SendLog(_I)), IsDestination(_I, _P)))),
                _EVERY_V,
                body=Implies(SameView(ViewOf(SendEvent(_P)), _V), _delivered_in_v(_I)),
            ),
        ),
    ),
    # Consumer groups and shared subscriptions
    "once_per_group": _all(
        (_G, TRUTH),
        (_I, IsMember(_I, _G)),
        (_J, IsMember(_J, _G)),
        _D_AT_I,
        (_E, DeliveredAt(_E, _J)),
        body=Implies(_SAME_OF_D_AND_E, SameDelivery(_D, _E)),
    ),
    # Veríssimo and Rodrigues 2001
    "temporal_order": _all(
        _EVERY_I,
        _EVERY_P,
        _EVERY_Q,
        body=Implies(
            Precedes(_P, _Q, _L),
            Comparison(Relation.AT_MOST, TimeOf(SendEvent(_P)), TimeOf(SendEvent(_Q)), Dimension.TIME),
        ),
    ),
    # What consumers of a log expect; MQTT 5, 4.9 and 4.4; Amazon SQS, FIFO queues
    "every_delivery_in_order": _all(
        _EVERY_I, _EVERY_J, _D_AT_I, _E_AT_I, body=Implies(_D_SENT_BEFORE_E, _before(_D, _E))
    ),
    "repeats_in_place": _all(
        _EVERY_I,
        _D_AT_I,
        _E_AT_I,
        _F_AT_I,
        body=Implies(
            And((_before(_D, _E), _before(_E, _F), SameMessage(MessageOf(_D), MessageOf(_F)))),
            _SAME_OF_D_AND_E,
        ),
    ),
    "only_in_flight_repeats": _all(
        _EVERY_I, _D_AT_I, _E_AT_I, body=Implies(And((_SAME_OF_D_AND_E, _before(_D, _E))), InFlight(_D, _E))
    ),
    "ordered_until_acknowledged": _all(
        _EVERY_I, _EVERY_J, _D_AT_I, _E_AT_I, body=Implies(_D_SENT_BEFORE_E, Not(InFlight(_D, _E)))
    ),
    # Claimed positions: offsets of a partition or a stream
    "positions_never_go_back": _all(
        _EVERY_I,
        _D_AT_I,
        _E_AT_I,
        body=Implies(
            _before(_D, _E),
            Comparison(
                Relation.AT_MOST,
                _position(MessageOf(_D)),
                _position(MessageOf(_E)),
                Dimension.NUMBER,
            ),
        ),
    ),
    "first_deliveries_by_position": _all(
        _EVERY_I,
        _P_IN_L,
        _Q_IN_L,
        body=Implies(
            Precedes(_P, _Q, _L),
            Comparison(Relation.AT_MOST, _position(_P), _position(_Q), Dimension.NUMBER),
        ),
    ),
    "one_position_one_message": _all(
        _EVERY_P,
        _EVERY_Q,
        body=Implies(
            Comparison(Relation.EQUAL, _position(_P), _position(_Q), Dimension.NUMBER), SameMessage(_P, _Q)
        ),
    ),
}
"""Definitions that are recognized, closed over all receipt logs. Kernels and lemmas speak of them by these names."""

UNTUNED: Final = frozenset({"one_order", "self_inclusion"})
"""Those without a kernel: lemmas are about them, kernels tell where they cannot be violated, or the screen finds
executions that surely satisfy them.
"""


@cache
def _canonical_definitions() -> tuple[tuple[str, frozenset[Node]], ...]:
    return tuple((name, canonical(definition)) for name, definition in DEFINITIONS.items())


def recognise(formula: Formula) -> tuple[str, ...] | None:
    """The definitions that together are the formula, in the order of `DEFINITIONS`, or None.

    `true`, the conjunction of nothing, is recognized as no definition at all.
    """
    wanted = canonical(formula)
    found = [(name, parts) for name, parts in _canonical_definitions() if parts <= wanted]
    if frozenset[Node]().union(*(parts for _, parts in found)) != wanted:
        return None
    return tuple(name for name, _ in found)
