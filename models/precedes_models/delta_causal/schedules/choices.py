"""What a schedule of the Δ-causal protocol is made of, as symbols: senders, destinations, times, clocks, what comes
before what at an entity, and which marks are where. What binds them together is left to `encoding`.

Times are whole numbers without a bound, and so is Δ: a tick may be as small a part of Δ as one likes, and a schedule
in real time is one in ticks that are small enough. Messages are numbered in the order in which they are sent. What
happens at an entity, its sends and deliveries, is ordered by a proposition for each pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Final, TypeAlias

from precedes.core.formula import Relation
from precedes.engines.solver.logic import (
    Linear,
    Proposition,
    Symbol,
    at_most,
    boolean,
    both,
    compared,
    integer,
    negated,
    number,
    some,
)

Mark: TypeAlias = tuple[int, int | None]
"""A message and whom the mark calls its sender; None: its sender."""
ONE: Final = Linear(Fraction(1))


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The send of a message, or its delivery, at an entity that is known from elsewhere."""

    message: int
    is_send: bool


@dataclass(frozen=True)
class Chosen:
    """What is chosen of a schedule of one size. `max_cb` None: without bound. `clock_stamps`: (S1) as written.
    `receiver_marks`: (R4) as written. `skewed`: clocks differ. `apart`: every message takes some time, and a process
    sends later than whatever else happened at it.
    """

    entity_count: int
    message_count: int
    max_cb: int | None
    clock_stamps: bool
    receiver_marks: bool
    skewed: bool
    apart: bool = False

    # ---- what is chosen -------------------------------------------------------------------------------------

    @property
    def entities(self) -> range:
        """Numbers of entities."""
        return range(self.entity_count)

    @property
    def messages(self) -> range:
        """Numbers of messages, in the order in which they are sent."""
        return range(self.message_count)

    def is_sender(self, message: int, entity: int) -> Symbol:
        """The entity sends the message."""
        return boolean(f"{entity} sends {message}")

    def is_destination(self, message: int, entity: int) -> Symbol:
        """The message goes to the entity."""
        return boolean(f"{message} goes to {entity}")

    def sent(self, message: int) -> Symbol:
        """When the message is sent, in ticks of global time."""
        return integer(f"send of {message}")

    def arrived(self, message: int, entity: int) -> Symbol:
        """When it comes in."""
        return integer(f"arrival of {message} at {entity}")

    def delivered_at(self, message: int, entity: int) -> Symbol:
        """When it is delivered, if it is."""
        return integer(f"delivery of {message} at {entity}")

    def ahead(self, entity: int) -> Symbol:
        """How far the entity's clock is ahead of global time."""
        return integer(f"clock of {entity}")

    @cached_property
    def delta(self) -> Symbol:
        """Δ."""
        return integer("delta")

    @cached_property
    def epsilon(self) -> Symbol:
        """ε."""
        return integer("epsilon")

    def numbers(self) -> Iterator[Symbol]:
        """Every number that is chosen."""
        yield self.delta
        yield from map(self.sent, self.messages)
        for message, entity in product(self.messages, self.entities):
            yield self.arrived(message, entity)
            yield self.delivered_at(message, entity)
        if self.skewed:
            yield self.epsilon
            yield from map(self.ahead, self.entities)

    # ---- times ----------------------------------------------------------------------------------------------

    @cached_property
    def limit(self) -> Linear:
        """What the steps call Δ."""
        return number(self.delta).plus(number(self.epsilon)) if self.skewed else number(self.delta)

    def shown(self, time: Symbol, entity: int) -> Linear:
        """What the entity's clock shows at a time."""
        return number(time).plus(number(self.ahead(entity))) if self.skewed else number(time)

    def stamp(self, message: int) -> Linear:
        """TS_m."""
        return number(integer(f"stamp of {message}") if self.skewed else self.sent(message))

    def expiry(self, message: int) -> Linear:
        """The first tick at which TS_m + Δ < time."""
        return self.stamp(message).plus(self.limit).plus(ONE)

    # ---- the order of what happens at an entity -------------------------------------------------------------

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...]:
        """What can happen at an entity."""
        return tuple(Occurrence(m, is_send) for is_send, m in product((True, False), self.messages))

    def present(self, entity: int, event: Occurrence) -> Symbol:
        """It happens at the entity."""
        if event.is_send:
            return self.is_sender(event.message, entity)
        return self.is_delivered(event.message, entity)

    def is_delivered(self, message: int, entity: int) -> Symbol:
        """The message is delivered there."""
        return boolean(f"{message} is delivered at {entity}")

    def before(self, entity: int, first: Occurrence, second: Occurrence) -> Proposition:
        """The first comes before the second, if both happen at the entity."""
        if first.is_send and second.is_send:
            return first.message < second.message
        if first.is_send:
            return negated(self.before(entity, second, first))
        if second.is_send:
            # Nothing is delivered before it was sent, nor before what was sent before it.
            if second.message <= first.message:
                return False
            return boolean(f"{first.message} is delivered before the send of {second.message} at {entity}")
        if first.message < second.message:
            return boolean(f"{first.message} is delivered before {second.message} at {entity}")
        return negated(self.before(entity, second, first))

    @cache  # noqa: B019 - an encoding lives as long as the question
    def just_before(self, entity: int, first: Occurrence, second: Occurrence) -> Proposition:
        """Both happen, the first before the second and nothing in between."""
        between = (
            both(
                self.present(entity, other),
                self.before(entity, first, other),
                self.before(entity, other, second),
            )
            for other in self.occurrences
            if other not in (first, second)
        )
        return both(
            self.present(entity, first),
            self.present(entity, second),
            self.before(entity, first, second),
            negated(some(between)),
        )

    def time(self, entity: int, event: Occurrence) -> Symbol:
        """When it happens."""
        return self.sent(event.message) if event.is_send else self.delivered_at(event.message, entity)

    # ---- marks ----------------------------------------------------------------------------------------------

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What a CB can hold: as written (R4) makes marks that call the receiver the sender."""
        owners: tuple[int | None, ...] = tuple(self.entities) if self.receiver_marks else (None,)
        return tuple(product(self.messages, owners))

    def owned(self, mark: Mark, entity: int) -> Proposition:
        """The mark calls the entity the sender."""
        message, owner = mark
        return self.is_sender(message, entity) if owner is None else owner == entity

    @cache  # noqa: B019 - as above
    def one_owner(self, first: Mark, second: Mark) -> Proposition:
        """Both call one entity the sender."""
        return some(both(self.owned(first, e), self.owned(second, e)) for e in self.entities)

    def older(self, first: Mark, second: Mark) -> Proposition:
        """The first has an earlier time stamp."""
        return compared(self.stamp(first[0]), Relation.LESS, self.stamp(second[0]))

    def same(self, first: Mark, second: Mark) -> Proposition:
        """They are one mark: (l, x) and (l, x)."""
        if first == second:
            return True
        at_one_time = compared(self.stamp(first[0]), Relation.EQUAL, self.stamp(second[0]))
        return both(self.one_owner(first, second), at_one_time)

    def known(self, entity: int, event: Occurrence, to: int, mark: Mark) -> Symbol:
        """The mark is in CB[to] of the entity before the event."""
        kind = "send" if event.is_send else "delivery"
        return boolean(f"{mark} in CB[{to}] of {entity} before {kind} of {event.message}")

    def tagged(self, message: int, to: int, mark: Mark) -> Symbol:
        """The mark is in CB_m[to]."""
        return boolean(f"{mark} in CB[{to}] of {message}")

    def is_full(self, message: int, to: int) -> Proposition:
        """|CB_m[to]| = MAX_CB."""
        if self.max_cb is None:
            return False
        return negated(at_most(self.kept(message, to), self.max_cb - 1))

    def kept(self, message: int, to: int) -> list[Proposition]:
        """For each mark, that it is in CB_m[to] and none before it is the same."""
        return [
            both(
                self.tagged(message, to, mark),
                *(
                    negated(both(self.tagged(message, to, other), self.same(other, mark)))
                    for other in self.marks[:place]
                ),
            )
            for place, mark in enumerate(self.marks)
        ]
