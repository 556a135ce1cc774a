"""Openings: what is there when an execution may still violate a formula or not.

An opening is a refutation without what decides it. It is derived from the refutations, so it does not depend on how the
formula is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never

from precedes.core.formula import (
    TRUTH,
    Acknowledged,
    AddressedTo,
    Atom,
    AttributeOf,
    Comparison,
    Constant,
    DeliveredAt,
    DeliveredBefore,
    DeliveryAttribute,
    DeliveryPosition,
    DeliveryTerm,
    DeliveryTime,
    DeliveryVariable,
    Delta,
    Difference,
    EntityVariable,
    Epsilon,
    EventTerm,
    Exists,
    FailureLine,
    Faulty,
    Formula,
    GroupVariable,
    HappensBefore,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    MessageOf,
    MessageVariable,
    Not,
    Nth,
    NumberTerm,
    Or,
    Position,
    Precedes,
    Quiescent,
    ReceiverOf,
    RecordedClock,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Scaled,
    Sent,
    Size,
    Sum,
    TimeOf,
    Truth,
    Undetermined,
    Variable,
    VectorTime,
    ViewNumber,
    ViewOf,
    ViewVariable,
    conjunction,
)
from precedes.core.traversal import Node, free_variables, rebuilt, substituted, walk
from precedes.logic.prerequisites import Seen, needed
from precedes.logic.refutation import (
    Equality,
    Refutation,
    consequences,
    happened,
    viewed,
)

LARGE: Final = 10
"""Facts up to which it is looked for whether one opening is a case of another. To look takes time that grows with every
fact; without it a premise says one thing more often than it needs to."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A part of a refutation from which an execution may still go either way: facts that are there, things that are
    different, and what is asked of all things.
    """

    variables: tuple[Variable, ...]
    facts: tuple[Formula, ...]
    universal: tuple[Formula, ...]

    @property
    def there(self) -> tuple[Formula, ...]:
        """The facts, and what else is there."""
        return _in_turn(_of_one_message(_placed((*self.facts, *consequences(self.facts)))))

    @property
    def formula(self) -> Formula:
        """That there is such a thing. Every fact stands where the last of its variables is bound, entities being bound
        first, so that messages are looked for in their logs.
        """
        placed = [fact for fact in self.there if isinstance(fact, InLog | DeliveredBefore)]
        parts = [(free_variables(fact), fact) for fact in dict.fromkeys((*placed, *self.facts))]
        spoken_of = frozenset[Variable]().union(
            *(names for names, _ in parts), *map(free_variables, self.universal)
        )
        # An event has one view, but in a view there may be many events.
        views = [v for v in self.variables if isinstance(v, ViewVariable)]
        of_events = [v for v in views if _of_an_event(v, self.facts)]
        # Every execution has an entity, but it may have nothing else.
        entities = [v for v in self.variables if isinstance(v, EntityVariable) and v in spoken_of]
        bound: list[Variable] = [
            *entities,
            *(v for v in self.variables if isinstance(v, GroupVariable)),
            *(views if not of_events else ()),
            *(v for v in self.variables if isinstance(v, MessageVariable)),
        ]
        bound += _linked([v for v in self.variables if isinstance(v, DeliveryVariable)], self.facts)
        bound += sorted(views, key=lambda v: v not in of_events) if of_events else ()
        formula = conjunction(*self.universal)
        for variable in reversed(bound):
            here = [fact for names, fact in parts if variable in names]
            parts = [(names, fact) for names, fact in parts if variable not in names]
            formula = Exists(variable, conjunction(*here), formula)
        return conjunction(*(fact for _, fact in parts), formula)


def _placed(facts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The facts, each delivery being at one entity: other terms for its entity become a variable."""
    at: dict[DeliveryTerm, EntityVariable] = {}
    for fact in facts:
        if isinstance(fact, DeliveredAt) and isinstance(fact.entity, EntityVariable):
            at.setdefault(fact.delivery, fact.entity)
    same: dict[Node, Node] = {ReceiverOf(delivery): entity for delivery, entity in at.items()}
    for fact in facts:
        if (
            isinstance(fact, DeliveredAt)
            and fact.delivery in at
            and not isinstance(fact.entity, EntityVariable)
        ):
            same[fact.entity] = at[fact.delivery]
    return tuple(dict.fromkeys(_replaced(fact, same) for fact in facts))


def _replaced(node: Node, same: Mapping[Node, Node]) -> Any:
    return same[node] if node in same else rebuilt(node, lambda child: _replaced(child, same))


def _of_one_message(facts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The facts, and in which logs a message is as it is one that is there."""
    same = [fact for fact in facts if isinstance(fact, SameMessage)]
    logs = [fact for fact in facts if isinstance(fact, InLog)]
    further = (InLog(one.right, in_log.log) for one in same for in_log in logs if in_log.message == one.left)
    return tuple(dict.fromkeys((*facts, *further)))


def _of_an_event(view: ViewVariable, facts: Sequence[Formula]) -> bool:
    """Whether a view is said to be that of an event."""
    return any(
        isinstance(fact, SameView)
        and view in (fact.left, fact.right)
        and ViewOf in map(type, (fact.left, fact.right))
        for fact in facts
    )


def _in_turn(facts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The facts, and which deliveries are before each other by way of a third one."""
    turns = {
        (fact.first, fact.second, fact.entity): None for fact in facts if isinstance(fact, DeliveredBefore)
    }
    further = (
        DeliveredBefore(first, last, entity)
        for first, second, entity in turns
        for third, last, other in turns
        if second == third and entity == other
    )
    return tuple(dict.fromkeys((*facts, *further)))


def _linked(deliveries: list[DeliveryVariable], facts: Sequence[Formula]) -> list[DeliveryVariable]:
    """The deliveries, each followed by those that are of its message: of these there are few."""
    of_one_message = [
        {fact.left.delivery, fact.right.delivery}
        for fact in facts
        if isinstance(fact, SameMessage)
        and isinstance(fact.left, MessageOf)
        and isinstance(fact.right, MessageOf)
    ]
    found: list[DeliveryVariable] = []
    for first in deliveries:
        others = [other for other in deliveries if {first, other} in of_one_message]
        found += [one for one in (first, *others) if one not in found]
    return found


def openings(refutation: Refutation) -> Iterator[Opening]:
    """The facts of a refutation without what decides it: without what has to be absent; where nothing has to be absent,
    without one of the facts. That is one about deliveries if there is any, for deliveries are what is judged.
    """
    apart = refutation.apart()
    if refutation.absences or refutation.universal or refutation.further:
        yield _opening(refutation, refutation.facts, apart)
        return
    deciding = [fact for fact in refutation.facts if Seen.DELIVERED in needed(fact)] or refutation.facts
    for fact in deciding:
        rest = (*(other for other in refutation.facts if other != fact), *_presupposed(fact))
        yield _opening(refutation, tuple(dict.fromkeys(rest)), apart)
    if not deciding:
        yield _opening(refutation, (), apart)


def _opening(
    refutation: Refutation, facts: tuple[Atom, ...], apart: tuple[tuple[Equality, ...], ...]
) -> Opening:
    rest = Refutation(refutation.variables, facts)
    different = [_not_all(group) for group in apart if not rest.merged(group).is_contradictory]
    universal = tuple(part for part in refutation.universal if part != TRUTH)
    return Opening(refutation.variables, _placed((*facts, *different)), universal)


def _not_all(equalities: tuple[Equality, ...]) -> Formula:
    parts = tuple(Not(equality) for equality in equalities)
    return parts[0] if len(parts) == 1 else Or(parts)


def widest(openings: list[Opening]) -> list[Opening]:
    """The openings of which none is a case of another one; of equal ones the first."""
    there = [opening.there for opening in openings]

    def is_case(one: int, other: int) -> bool:
        return _is_case(openings[one], there[one], openings[other])

    numbers = range(len(openings))
    return [
        openings[place]
        for place in numbers
        if not any(
            is_case(place, number) and (number < place or not is_case(number, place))
            for number in numbers
            if number != place
        )
    ]


def _is_case(opening: Opening, there: Sequence[Formula], wider: Opening) -> bool:
    """Whether all that `wider` asks for is `there`, under other names, wherever `opening` is."""
    if len(wider.facts) > LARGE:
        return False
    free = [v for v in wider.variables if not any(v in free_variables(fact) for fact in wider.facts)]
    if wider.universal or any(type(v) not in set(map(type, opening.variables)) for v in free):
        return False
    return _matched(wider.facts, there, {})


def _matched(wanted: Sequence[Formula], there: Sequence[Formula], names: Mapping[Variable, Variable]) -> bool:
    if not wanted:
        return True
    return any(
        found is not None and _matched(wanted[1:], there, found)
        for found in (_match(wanted[0], fact, names) for fact in there)
    )


def _match(
    wanted: Formula, there: Formula, names: Mapping[Variable, Variable]
) -> Mapping[Variable, Variable] | None:
    """The names for which a formula is another one, those that are known among them; None where it is not."""
    if type(wanted) is not type(there):
        return None
    found = dict(names)
    # Trees of one shape that differ in something else are found to be different in the end.
    for one, other in zip(walk(wanted), walk(there), strict=False):
        if type(one) is not type(other):
            return None
        if (
            isinstance(one, Variable)
            and isinstance(other, Variable)
            and found.setdefault(one, other) != other
        ):
            return None
    return found if substituted(wanted, found) == there else None


def _presupposed(fact: Atom) -> Iterator[Atom]:
    """What must be there for a fact to be in question."""
    match fact:
        case Precedes(first, second, log):
            yield InLog(first, log)
            yield InLog(second, log)
        case Repeated(message, log):
            yield InLog(message, log)
        case DeliveredBefore(first, second, entity):
            yield DeliveredAt(first, entity)
            yield DeliveredAt(second, entity)
        case InFlight(earlier, at):
            yield DeliveredBefore(earlier, at, ReceiverOf(at))
        case InstallsBefore(first_view, second_view, entity):
            yield Installs(entity, first_view)
            yield Installs(entity, second_view)
            yield from viewed(first_view, second_view)
        case InstallsAgain(entity, view):
            yield Installs(entity, view)
            yield from viewed(view)
        case Installs(_, view):
            yield from viewed(view)
        case IsMember(_, members_of):
            yield from viewed(members_of)
        case SameView(left_view, right_view):
            yield from viewed(left_view, right_view)
        case HappensBefore(first, second):
            yield from happened(first)
            yield from happened(second)
        case Comparison(_, left, right):
            for event in (*_events(left), *_events(right)):
                yield from happened(event)
        case (
            InLog() | Sent() | IsDestination() | SameEntity() | SameMessage() | SameText() | SamePart() | Faulty()
            | DeliveredAt() | SameDelivery() | Acknowledged()
            | Quiescent() | Truth() | Undetermined() | FailureLine() | AddressedTo() | SameGroup()
        ):  # fmt: skip
            return
        case _:
            assert_never(fact)


def _events(term: NumberTerm) -> Iterator[EventTerm | DeliveryTerm]:
    match term:
        case TimeOf(event) | RecordedClock(event, _) | VectorTime(event, _):
            yield event
        case ViewNumber(ViewOf(happening)):
            yield happening
        case Sum(left, right) | Difference(left, right):
            yield from _events(left)
            yield from _events(right)
        case Scaled(_, inner):
            yield from _events(inner)
        case (
            Position() | Size() | AttributeOf() | Nth() | DeliveryTime() | DeliveryPosition() | DeliveryAttribute()
            | Constant() | Delta() | Epsilon() | ViewNumber()
        ):  # fmt: skip
            return
        case _:
            assert_never(term)
