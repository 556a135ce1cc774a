"""What can be said where it is not known who sent some message: nothing that depends on sends.

A sender that nobody recorded may be any entity, and one that left no trace. So each closed part of a formula that
speaks of sends, senders or destinations, or of what happened before what, is undetermined. What is asked of receipt
logs, deliveries and views alone stays as it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, assert_never

from precedes.core import formula as f
from precedes.core.traversal import walk
from precedes.core.verdict import Reason
from precedes.logic.canonical_form import canonical

_OF_SENDS: Final = (
    f.SendLog,
    f.Sender,
    f.SendEvent,
    f.Sent,
    f.IsDestination,
    f.AddressedTo,
    f.HappensBefore,
    f.VectorTime,
    f.FailureLine,
)


@lru_cache(maxsize=1 << 10)
def without_sends(formula: f.Formula) -> f.Formula:
    """A closed formula as it is judged where the sender of some message is not known."""
    match formula:
        case f.Not(body):
            return f.Not(without_sends(body))
        case f.And(parts):
            return f.And(tuple(map(without_sends, parts)))
        case f.Or(parts):
            return f.Or(tuple(map(without_sends, parts)))
        case f.Implies(left, right):
            return f.Implies(without_sends(left), without_sends(right))
        case f.Iff(left, right):
            return f.Iff(without_sends(left), without_sends(right))
        case f.Per(attributes, body):
            return f.Per(attributes, without_sends(body))
        case (
            f.Forall() | f.Exists() | f.Acyclic() | f.Comparison() | f.Truth() | f.Undetermined() | f.InLog()
            | f.Precedes() | f.Repeated() | f.Sent() | f.IsDestination() | f.SameEntity() | f.SameMessage()
            | f.SameText() | f.SamePart() | f.DeliveredAt() | f.DeliveredBefore() | f.SameDelivery() | f.InFlight()
            | f.Acknowledged() | f.Faulty() | f.HappensBefore() | f.FailureLine() | f.Quiescent() | f.IsMember()
            | f.AddressedTo() | f.SameGroup() | f.Installs() | f.InstallsBefore() | f.InstallsAgain() | f.SameView()
        ):  # fmt: skip
            # What is true in whatever execution is so here, too: a plan leaves it out.
            if any(isinstance(node, _OF_SENDS) for node in walk(formula)) and canonical(formula):
                return f.Undetermined("who sent a message is not known", Reason.SEND_NOT_LOGGED)
            return formula
        case _:
            assert_never(formula)
