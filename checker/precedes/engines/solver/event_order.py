"""Happens-before between events of any kind. It is defined by the order of events at one entity and the
relation between sends.

A chain of happens-before leaves an entity with a send and enters another entity with a delivery (Δ-causal
paper, Definition 1). So `e ~> f` in two cases: e comes before f at one entity; or e's entity has a send r
that is e or comes after it, r is or happens before the send of some message u, and f's entity has delivered u
when f happens. Arrivals are internal events: they carry nothing from another entity.
"""

from __future__ import annotations

from precedes.engines.solver.logic import Element, Proposition, Sort, both, either, same
from precedes.engines.solver.structure import Happening, Kind, Structure


def happens_before(structure: Structure, first: Happening, second: Happening) -> Proposition:
    """`first ~> second`; false where one of them did not happen."""
    if first.kind is Kind.SEND and second.kind is Kind.SEND:
        at_their_places = both(structure.happened(first), structure.happened(second))
        return both(at_their_places, structure.reaches(first.message, second.message))
    here = both(same(first.entity, second.entity), structure.earlier(first, second))
    if first.kind is Kind.SEND:
        there = both(structure.happened(first), structure.entered(first.message, second))
    elif second.kind is Kind.SEND:
        there = both(structure.happened(second), left_towards(structure, first, second.message))
    else:
        there = structure.quantified(
            universal=False,
            sort=Sort.MESSAGE,
            body=lambda r: both(
                structure.earlier(first, Happening(Kind.SEND, r, first.entity)), structure.entered(r, second)
            ),
        )
    return either(here, there)


def left_towards(structure: Structure, first: Happening, target: Element) -> Proposition:
    """After `first` its entity sends a message whose send is, or happens before, that of the target."""
    return structure.quantified(
        universal=False,
        sort=Sort.MESSAGE,
        body=lambda r: both(
            structure.earlier(first, Happening(Kind.SEND, r, first.entity)),
            either(both(same(r, target), structure.sent(r)), structure.reaches(r, target)),
        ),
    )


def entered(structure: Structure, source: Element, second: Happening) -> Proposition:
    """The send of the source is or happens before that of a message that `second`'s entity has delivered by
    then.
    """
    return structure.quantified(
        universal=False,
        sort=Sort.MESSAGE,
        body=lambda u: both(
            either(both(same(source, u), structure.sent(u)), structure.reaches(source, u)),
            delivered_by(structure, u, second),
        ),
    )


def delivered_by(structure: Structure, message: Element, event: Happening) -> Proposition:
    """The delivery of a message is the event or comes before it at its entity."""
    delivery = Happening(Kind.DELIVERY, message, event.entity)
    before = structure.earlier(delivery, event)
    if event.kind is not Kind.DELIVERY:
        return before
    return either(both(same(message, event.message), structure.happened(delivery)), before)
