"""The steps of the Δ-causal protocol as propositions: every schedule of so many messages among so many entities.

What CB holds before and after each event is a proposition for each mark, given by what the event before left there. So
the propositions have one solution for each schedule and each choice that the protocol leaves open.

A delivery takes place at the first tick at which (R0) and (R2) allow it. `deliv` is taken for the latest time stamp
that was delivered of a sender, where (R6) has the last: they are the same until something is delivered out of order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, permutations, product
from typing import Final

from precedes.core.formula import Relation
from precedes.engines.solver.logic import (
    Linear,
    Proposition,
    at_most,
    both,
    compared,
    either,
    equivalent,
    every,
    implied,
    negated,
    number,
    some,
)
from precedes_models.delta_causal.schedules.choices import ONE, Chosen, Mark, Occurrence

ZERO: Final = Linear(Fraction(0))


@dataclass(frozen=True)
class Encoding(Chosen):
    """All schedules of one size."""

    # ---- the steps ------------------------------------------------------------------------------------------

    def constraints(self) -> Iterator[Proposition]:
        """What makes it a schedule of the protocol."""
        yield from self._frame()
        yield from self._orders()
        for message in self.messages:
            yield from self._sending(message)
        for message, entity in product(self.messages, self.entities):
            yield from self._receiving(message, entity)
        for entity, event in product(self.entities, self.occurrences):
            yield from self._knowing(entity, event)

    def _frame(self) -> Iterator[Proposition]:
        """Senders, destinations, times and clocks; of schedules that differ in the names of entities one."""
        for symbol in self.numbers():
            yield compared(ZERO, Relation.AT_MOST, number(symbol))
        yield compared(ONE, Relation.AT_MOST, number(self.delta))
        for message in self.messages:
            senders = [self.is_sender(message, entity) for entity in self.entities]
            yield some(senders)
            yield at_most(senders, 1)
            yield some(self.is_destination(message, entity) for entity in self.entities)
            for entity in self.entities[1:]:
                lower = (self.is_sender(other, entity - 1) for other in range(message))
                yield implied(self.is_sender(message, entity), some(lower))
        for first, second in zip(self.messages, self.messages[1:], strict=False):
            yield compared(number(self.sent(first)), Relation.AT_MOST, number(self.sent(second)))
        if self.skewed:
            for entity in self.entities:
                yield compared(number(self.ahead(entity)), Relation.AT_MOST, number(self.epsilon))
            for message, entity in product(self.messages, self.entities):
                shown = self.shown(self.sent(message), entity)
                yield implied(
                    self.is_sender(message, entity), compared(self.stamp(message), Relation.EQUAL, shown)
                )

    def _orders(self) -> Iterator[Proposition]:
        for entity in self.entities:
            for a, b, c in permutations(self.occurrences, 3):
                yield implied(
                    both(self.before(entity, a, b), self.before(entity, b, c)), self.before(entity, a, c)
                )
            for a, b in permutations(self.occurrences, 2):
                happen = both(self.present(entity, a), self.present(entity, b), self.before(entity, a, b))
                how = Relation.LESS if self.apart and b.is_send else Relation.AT_MOST
                yield implied(
                    happen, compared(number(self.time(entity, a)), how, number(self.time(entity, b)))
                )
                if b.is_send and not self.clock_stamps:
                    # (S1), repaired.
                    grows = compared(self.stamp(a.message), Relation.LESS, self.stamp(b.message))
                    yield implied(happen, grows)

    def _sending(self, message: int) -> Iterator[Proposition]:
        """(S2) and (S3): what is in the tag."""
        send = Occurrence(message, is_send=True)
        for to in self.entities:
            live = {}
            for mark in self.marks:
                known = some(
                    both(self.is_sender(message, e), self.known(e, send, to, mark)) for e in self.entities
                )
                in_time = compared(self.stamp(message), Relation.LESS, self.expiry(mark[0]))
                live[mark] = both(known, in_time)
            if self.max_cb is None:
                for mark in self.marks:
                    yield equivalent(self.tagged(message, to, mark), live[mark])
                continue
            for mark in self.marks:
                yield implied(self.tagged(message, to, mark), live[mark])
            for kept, other in permutations(self.marks, 2):
                goes_first = either(self.older(kept, other), self.same(kept, other))
                both_live = both(self.tagged(message, to, kept), live[other])
                yield implied(both(both_live, goes_first), self.tagged(message, to, other))
            yield at_most(self.kept(message, to), self.max_cb)
            everything = every(implied(live[mark], self.tagged(message, to, mark)) for mark in self.marks)
            yield either(everything, self.is_full(message, to))

    def _receiving(self, message: int, entity: int) -> Iterator[Proposition]:
        """(R0) to (R2): whether and when it is delivered."""
        goes_there = self.is_destination(message, entity)
        arrival = self.shown(self.arrived(message, entity), entity)
        in_time = compared(arrival, Relation.LESS, self.expiry(message))
        delivered = self.is_delivered(message, entity)
        how = Relation.LESS if self.apart else Relation.AT_MOST
        yield compared(number(self.sent(message)), how, number(self.arrived(message, entity)))
        yield equivalent(delivered, both(goes_there, in_time))
        now = self.shown(self.delivered_at(message, entity), entity)
        stamp = self.stamp(message)
        tagged = [(mark, self.tagged(message, entity, mark)) for mark in self.marks]
        full = self.is_full(message, entity)
        expired = {mark: compared(self.expiry(mark[0]), Relation.AT_MOST, now) for mark in self.marks}
        allowed = [
            compared(arrival, Relation.AT_MOST, now),
            compared(stamp, Relation.AT_MOST, now),
            implied(full, some(both(there, expired[mark]) for mark, there in tagged)),
        ]
        # The moment is that of the arrival, or one before which something that was waited for had not come about.
        moments = [compared(arrival, Relation.EQUAL, now), compared(stamp, Relation.EQUAL, now)]
        not_before = {mark: compared(now, Relation.AT_MOST, self.expiry(mark[0])) for mark in self.marks}
        moments.append(both(full, every(implied(there, not_before[mark]) for mark, there in tagged)))
        for mark, there in tagged:
            satisfying = list(self._satisfying(mark, message, entity))
            yes = some(before for _, before, _ in satisfying)
            allowed.append(implied(there, either(yes, expired[mark])))
            none_before = every(
                implied(fits, compared(now, Relation.AT_MOST, when)) for fits, _, when in satisfying
            )
            moments.append(both(there, not_before[mark], none_before))
        yield implied(delivered, both(*allowed, some(moments)))
        # Of what is not delivered the time says nothing: let there be one solution.
        yield implied(
            negated(delivered),
            compared(number(self.delivered_at(message, entity)), Relation.EQUAL, ZERO),
        )
        least = number(self.sent(message)).plus(ONE if self.apart else ZERO)
        yield implied(
            negated(goes_there), compared(number(self.arrived(message, entity)), Relation.EQUAL, least)
        )

    def _satisfying(
        self, mark: Mark, message: int, entity: int
    ) -> Iterable[tuple[Proposition, Proposition, Linear]]:
        """Deliveries after which `deliv[l] >= x`: that it is one, that it is one before this message's, and when."""
        this = Occurrence(message, is_send=False)
        for other in self.messages:
            if other == message:
                continue
            sender = some(both(self.owned(mark, e), self.is_sender(other, e)) for e in self.entities)
            late_enough = compared(self.stamp(mark[0]), Relation.AT_MOST, self.stamp(other))
            fits = both(self.is_delivered(other, entity), sender, late_enough)
            before = both(fits, self.before(entity, Occurrence(other, is_send=False), this))
            yield fits, before, self.shown(self.delivered_at(other, entity), entity)

    def _knowing(self, entity: int, event: Occurrence) -> Iterator[Proposition]:
        """What is in CB before an event is what was there after the one before."""
        for to, mark in product(self.entities, self.marks):
            left = (
                both(self.just_before(entity, other, event), self._after(entity, other, to, mark))
                for other in self.occurrences
                if other != event
            )
            yield equivalent(self.known(entity, event, to, mark), some(left))

    @cache  # noqa: B019 - as above
    def _after(self, entity: int, event: Occurrence, to: int, mark: Mark) -> Proposition:
        message = event.message
        goes_there = self.is_destination(message, to)
        # (S5), and (R4) as written, name the entity; (R4) repaired the sender.
        names = mark[0] == message and mark[1] in (None, entity)
        if event.is_send:
            return either(both(goes_there, names), both(negated(goes_there), self.tagged(message, to, mark)))
        if to == entity:
            return self.known(entity, event, to, mark)
        newer = (
            both(self._union(entity, event, to, other), self.one_owner(mark, other), self.older(mark, other))
            for other in self.marks
            if other[0] != mark[0]
        )
        return both(self._union(entity, event, to, mark), negated(some(newer)))

    @cache  # noqa: B019 - as above
    def _union(self, entity: int, event: Occurrence, to: int, mark: Mark) -> Proposition:
        """(R4) and (R5), before what is older of one sender goes."""
        goes_there = self.is_destination(event.message, to)
        names = mark[0] == event.message and mark[1] in (None, entity)
        more = either(
            both(goes_there, names), both(negated(goes_there), self.tagged(event.message, to, mark))
        )
        return either(self.known(entity, event, to, mark), more)

    # ---- what is asked --------------------------------------------------------------------------------------

    def out_of_order(self) -> Proposition:
        """Theorem 3 fails: of two messages to one entity, the later of which the earlier happened before, the later is
        delivered first.
        """
        return some(
            both(
                self.is_delivered(first, e),
                self.is_delivered(second, e),
                self._happened_before[first, second],
                self.before(e, Occurrence(second, is_send=False), Occurrence(first, is_send=False)),
            )
            for e in self.entities
            for first, second in combinations(self.messages, 2)
        )

    def too_late(self) -> Proposition:
        """Theorem 4 fails: what arrived in time is delivered when it is no longer, by the receiver's clock."""
        return some(
            both(
                self.is_delivered(m, e),
                compared(self.expiry(m), Relation.AT_MOST, self.shown(self.delivered_at(m, e), e)),
            )
            for m, e in product(self.messages, self.entities)
        )

    @cached_property
    def _happened_before(self) -> dict[tuple[int, int], Proposition]:
        found: dict[tuple[int, int], Proposition] = {}
        for first, second in sorted(combinations(self.messages, 2), key=lambda pair: pair[1] - pair[0]):
            steps: list[Proposition] = []
            for e in self.entities:
                send = Occurrence(second, is_send=True)
                delivery = Occurrence(first, is_send=False)
                steps.append(both(self.is_sender(first, e), self.is_sender(second, e)))
                steps.append(
                    both(
                        self.is_delivered(first, e),
                        self.is_sender(second, e),
                        self.before(e, delivery, send),
                    )
                )
            through = (
                both(found[first, middle], found[middle, second]) for middle in range(first + 1, second)
            )
            found[first, second] = either(*steps, *through)
        return found

    def choices(self) -> Iterator[Proposition]:
        """Propositions to make true where that is possible, one after the other, for a plain solution."""
        for message, entity in product(self.messages, self.entities):
            yield self.is_sender(message, entity)
        for message, entity in product(self.messages, self.entities):
            yield negated(self.is_destination(message, entity))
        for entity in self.entities:
            for a, b in permutations(self.occurrences, 2):
                if not a.is_send and (b.is_send or a.message < b.message):
                    yield self.before(entity, a, b)
