"""What one entity may do next in a run that has what was recorded: blocks of moves.

Most moves are not recorded: a packet comes in, and nothing is logged. Such a move is silent if it transmits nothing
either. Nobody but its entity can tell when it was made, so it is put off until that entity makes a move that is not
silent, and the two, or more, are one block. Other entities never come between the moves of a block. This leaves out no
recorded execution: whatever was in flight to the entity still is, for nobody else takes it.

Of two orders of a silent arrival and the move after it, only the one with the arrival last is followed where both come
to the same state, the same log and the same packets, which is found out by calling the handlers for both. That needs a
network in which a packet may come in at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from random import Random
from typing import Final, NamedTuple, TypeAlias

from precedes.core.execution import EventKind
from precedes.protocol.conformance.candidates import NOTHING, Candidate, Inboxes, Spent
from precedes.protocol.conformance.handlers import Done, Handlers
from precedes.protocol.conformance.observation import Expected, Observed
from precedes.protocol.conformance.state_values import Shown
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.model import Timer
from precedes.protocol.moves import Arrived, Crashed, Expired, Lost, Move, Recovered, Requested

MOST_SILENT: Final = 2_000
"""How many states of one entity silent arrivals may lead to before the search is given up."""
_TIMEOUT: Final[Spent] = (0, 0, 0, 1)


class Local(NamedTuple):
    """An entity: the number of its state (-1 where nothing is left of it), how many of its events have been explained,
    whether it runs, what is in flight to it, and how many of the first of these may have come while it had stopped.
    """

    state: int
    done: int
    inbox: tuple[int, ...]
    up: bool = True
    vanishing: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Moves of one entity that are made together. `key` names them among all of this entity in one local state.

    `seen`: it explains events. `turn`: of blocks that explain none, those with less come first: what comes in, then
    timers by what is preferred of their silent arrivals, and by patience. `stops`: it ends or begins with a crash.
    """

    entity: int
    key: tuple[object, ...]
    after: Local
    emission: tuple[tuple[int, int], ...]
    cost: Spent
    moves: tuple[Move, ...]
    seen: bool
    turn: tuple[float, int] = (0, 0)
    stops: bool = False


class Silent(NamedTuple):
    """A local state that silent arrivals lead to, and the last of them, with the state before it."""

    local: Local
    key: tuple[object, ...] = ()
    moves: tuple[Move, ...] = ()
    cost: Spent = NOTHING
    before: int = -1
    last: Candidate | None = None


Sorted: TypeAlias = tuple[list[Block], list[Block]]
"""Blocks that explain events, and blocks that explain none."""


class Level(Enum):
    """With how many silent arrivals a block begins."""

    DIRECT = auto()
    """none"""
    CHAIN = auto()
    """as they come, one after the other, each at no cost"""
    ANY = auto()
    """any others"""


class TooMany(Exception):
    """Silent arrivals lead to too many states."""


Cause: TypeAlias = Candidate | Timer | None
"""Why a move happens: a packet comes in, a timer expires, or, None, a user asks."""


class End(NamedTuple):
    """The move that ends a block, and which of several steps it is."""

    cause: Cause
    done: Done
    choice: int
    moves: tuple[Move, ...]


class Blocks:
    """The blocks of one recorded execution. `ahead`: how far each clock is ahead, in ticks."""

    def __init__(
        self, handlers: Handlers, observed: Observed, inboxes: Inboxes, ahead: tuple[int, ...], attempt: int
    ) -> None:
        self.attempt = attempt
        self.handlers = handlers
        self.observed = observed
        self.inboxes = inboxes
        self.ahead = ahead
        self.rearranged = False
        """Whether some step put in another order what an entity had received before."""
        self._found: dict[tuple[int, Local, int, bool, Level], Sorted] = {}

    def of(self, entity: int, local: Local, now: int, *, alone: bool, level: Level) -> Sorted:
        """The blocks that explain events, and those that explain none; a timer is never direct. `alone`: a silent
        arrival may be a block.
        """
        key = (entity, local, now, alone, level)
        found = self._found.get(key)
        if found is None:
            every = list(self._every(entity, local, now, alone=alone, level=level))
            seen = sorted((block for block in every if block.seen), key=partial(self._preference, local.done))
            found = self._found[key] = seen, [block for block in every if not block.seen]
        return found

    def expected(self, entity: int, local: Local) -> Expected | None:
        """The next event to be explained."""
        history = self.observed.histories[entity]
        return history[local.done] if local.done < len(history) else None

    def explained(self, entity: int, done: int, step: Done, now: int) -> int:
        """How many events have been explained after a step; -1 where what it logs, or the state after it, is not what
        was recorded. Of a step that logs several events only the state after the last is known.
        """
        history, kinds = self.observed.histories[entity], self.observed.kinds
        state: tuple[tuple[str, Shown], ...] = ()
        for entry in step.entries:
            if entry.kind not in kinds:
                continue
            if done == len(history) or not history[done].is_met_by(entry):
                return -1
            if history[done].time not in (None, now):
                return -1
            state = history[done].state
            done += 1
        return done if all(self.handlers.shown(step.state, name) == value for name, value in state) else -1

    def silently(self, entity: int, local: Local, now: int, level: Level) -> list[Silent]:
        """The local state, and what silent arrivals lead to. Raises TooMany."""
        found = [Silent(local)]
        if level is Level.DIRECT or self.handlers.timed:
            return found
        known = {local}
        for place, at in enumerate(found):
            for after in self._silent_arrivals(entity, at, now, place):
                if level is Level.CHAIN and after.cost != NOTHING:
                    continue
                if after.local not in known:
                    known.add(after.local)
                    found.append(after)
                if level is Level.CHAIN:
                    break
            if len(found) > MOST_SILENT:
                raise TooMany
        return found

    def _silent_arrivals(self, entity: int, at: Silent, now: int, place: int) -> Iterator[Silent]:
        for candidate in self.inboxes.candidates(at.local, now):
            for choice, done in enumerate(self._arrived(entity, at.local, now, candidate)):
                after = self._after(entity, at.local, now, done, candidate)
                if after is None or after.done != at.local.done or done.emission:
                    continue
                if done.state == at.local.state and not self.inboxes.ordered:
                    continue
                key, moves = (*at.key, candidate.key, choice), (*at.moves, *_came(entity, candidate, done))
                yield Silent(after, key, moves, added(at.cost, candidate.cost), place, candidate)

    def _preference(self, done: int, block: Block) -> tuple[float, float]:
        """What costs less first, then what begins with less, or, where packets keep an order, what `_eager` prefers."""
        cost, length = sum(block.cost[:3]), len(block.moves)
        if not self.inboxes.ordered or not block.emission:
            return cost, length
        return cost, self._eager(block.entity, done, -length)

    def _eager(self, entity: int, done: int, more: int) -> float:
        """What is in flight decides what a request or a timer tells others. In the first attempt as much as can has
        come in before, in the second as little, then by chance. Less is preferred.
        """
        if self.attempt < 2:
            return -more if self.attempt else more
        return Random(f"{self.attempt}/{entity}/{done}/{more}").random()  # noqa: S311 - not for secrets

    def _every(self, entity: int, local: Local, now: int, *, alone: bool, level: Level) -> Iterator[Block]:
        if not local.up:
            yield from self._recoveries(entity, local, now) if level is Level.DIRECT else ()
            return
        reached = self.silently(entity, local, now, level)
        known: set[Local] = set()
        if level is Level.ANY:
            known.update(at.local for at in self.silently(entity, local, now, Level.CHAIN))
        for place, at in enumerate(reached):
            if at.local in known:
                continue
            before = None if self.inboxes.ordered or at.before < 0 else reached[at.before]
            for end in self.ends(entity, at.local, now):
                if not place and isinstance(end.cause, Timer) is not (level is Level.CHAIN):
                    continue
                candidate = end.cause if isinstance(end.cause, Candidate) else None
                after = self._after(entity, at.local, now, end.done, candidate)
                if after is None:
                    continue
                seen = after.done > at.local.done
                if not seen and not self._matters(at.local, end, alone=alone):
                    continue
                # A timer mostly expires when all has come in: that block stays, though another may come to the same.
                last = level is Level.CHAIN and at is reached[-1] and isinstance(end.cause, Timer)
                if before is None or last or not self._commutes(entity, now, before, at, end):
                    yield self._block(
                        entity, at, end, after, (seen, self._eager(entity, local.done, len(reached) - place))
                    )
            if place or level is Level.DIRECT:
                yield from self._crashes(entity, at, now)

    def _matters(self, local: Local, end: End, *, alone: bool) -> bool:
        """Whether a move that explains nothing is worth a block."""
        if end.done.emission:
            return True
        changed = end.done.state != local.state
        if isinstance(end.cause, Candidate):
            return alone and (changed or self.inboxes.ordered)
        return changed

    def _block(self, entity: int, at: Silent, end: End, after: Local, rated: tuple[bool, float]) -> Block:
        """A block, whether it explains events, and how many silent arrivals more could have come before its end."""
        cause, (seen, more) = end.cause, rated
        turn: tuple[float, int] = (0, 0)
        if isinstance(cause, Candidate):
            key: object = cause.key
            cost = cause.cost
        elif isinstance(cause, Timer):
            key, cost, turn = cause, _TIMEOUT if cause.due is None else NOTHING, (more, cause.patience)
        else:
            key, cost = None, NOTHING
        return Block(
            entity,
            (*at.key, key, end.choice),
            after,
            end.done.emission,
            added(at.cost, cost),
            (*at.moves, *end.moves),
            seen,
            turn,
        )

    def ends(self, entity: int, local: Local, now: int) -> Iterator[End]:
        """What may happen next."""
        expected = self.expected(entity, local)
        clock = now + self.ahead[entity]
        if expected is not None and expected.kind is EventKind.SEND and expected.message is not None:
            message = expected.message
            for choice, done in enumerate(self.handlers.requested(entity, clock, local.state, message)):
                yield End(None, done, choice, (Requested(entity, message, done.step),))
        for candidate in self.inboxes.candidates(local, now):
            for choice, done in enumerate(self._arrived(entity, local, now, candidate)):
                yield End(candidate, done, choice, _came(entity, candidate, done))
        for timer in self.handlers.timers(entity, clock, local.state):
            if timer.due is not None and timer.due > clock:
                continue
            for choice, done in enumerate(self.handlers.expired(entity, clock, local.state, timer)):
                yield End(timer, done, choice, (Expired(entity, timer, done.step),))

    def _arrived(self, entity: int, local: Local, now: int, candidate: Candidate) -> tuple[Done, ...]:
        clock = now + self.ahead[entity]
        return self.handlers.arrived(entity, clock, local.state, candidate.packet, candidate.sender)

    def _after(
        self, entity: int, local: Local, now: int, done: Done, candidate: Candidate | None
    ) -> Local | None:
        """The local state after a step; None where it logs something else than was recorded."""
        if done.rearranged:
            self.rearranged = True
            return None
        explained = self.explained(entity, local.done, done, now)
        if explained < 0:
            return None
        if candidate is None:
            return local._replace(state=done.state, done=explained)
        return Local(done.state, explained, candidate.inbox, True, candidate.vanishing)

    def _commutes(self, entity: int, now: int, before: Silent, at: Silent, end: End) -> bool:
        """Whether the last silent arrival may as well come after what ends the block."""
        last, done = at.last, end.done
        expected = self.expected(entity, before.local)
        if last is None or last.cost != NOTHING or (expected is not None and expected.state):
            # Where a state was recorded, it shows what came in before the event.
            return False
        clock = now + self.ahead[entity]
        return any(
            then.state == done.state
            and self._recorded(first.entries + then.entries) == self._recorded(done.entries)
            and first.emission + then.emission == done.emission
            for first in self._before(entity, clock, before.local, end.cause)
            for then in self.handlers.arrived(entity, clock, first.state, last.packet, last.sender)
        )

    def _before(self, entity: int, clock: int, local: Local, cause: Cause) -> Sequence[Done]:
        """What the same cause does in another state."""
        if isinstance(cause, Candidate):
            return self.handlers.arrived(entity, clock, local.state, cause.packet, cause.sender)
        if isinstance(cause, Timer):
            running = cause in self.handlers.timers(entity, clock, local.state)
            return self.handlers.expired(entity, clock, local.state, cause) if running else ()
        expected = self.expected(entity, local)
        assert expected is not None
        assert expected.message is not None
        return self.handlers.requested(entity, clock, local.state, expected.message)

    def _recorded(self, entries: Sequence[Entry]) -> list[Entry]:
        return [entry for entry in entries if entry.kind in self.observed.kinds]

    def _crashes(self, entity: int, at: Silent, now: int) -> Iterator[Block]:
        expected = self.expected(entity, at.local)
        if expected is None or expected.kind is not EventKind.CRASH or expected.time not in (None, now):
            return
        left = self.handlers.crashed(entity, now + self.ahead[entity], at.local.state)
        after = Local(-1 if left is None else left, at.local.done + 1, at.local.inbox, False)
        moves = (*at.moves, Crashed(entity))
        yield Block(entity, (*at.key, "crash"), after, (), at.cost, moves, seen=True, stops=True)

    def _recoveries(self, entity: int, local: Local, now: int) -> Iterator[Block]:
        expected = self.expected(entity, local)
        if expected is None or expected.kind is not EventKind.RECOVER or local.state < 0:
            return
        if expected.time not in (None, now):
            return
        for choice, done in enumerate(self.handlers.recovered(entity, now + self.ahead[entity], local.state)):
            explained = self.explained(entity, local.done + 1, done, now)
            if explained >= 0:
                after = Local(done.state, explained, local.inbox, True, len(local.inbox))
                moves = (Recovered(entity, done.step),)
                key = ("recovery", choice)
                yield Block(entity, key, after, done.emission, NOTHING, moves, seen=True, stops=True)


def added(one: Spent, other: Spent) -> Spent:
    """Both together."""
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]


def _came(entity: int, candidate: Candidate, done: Done) -> tuple[Move, ...]:
    """A packet that came in, and before it those that were lost."""
    lost = (Lost(entity, sender, packet) for sender, packet in candidate.lost)
    value, original = candidate.value, candidate.original
    return (*lost, Arrived(entity, candidate.sender, value, done.step, candidate.copied, original))
