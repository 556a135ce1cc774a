"""Runs that somebody says were made: the moves of each entity are followed, and what they come to is compared.

The processes of a run know which packet came in when and which time-out expired, which a trace does not tell. Their
word counts for nothing by itself. Each move is made here again, by the handlers, from the start of the model, and is
refused where the network does not allow it. If all of them can be made, and log what was recorded, they are a run of
the model, found without a search. If not, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from precedes.core.execution import EventKind
from precedes.protocol.conformance.blocks import Local, added
from precedes.protocol.conformance.candidates import NOTHING, Candidate, Spent
from precedes.protocol.conformance.handlers import Done
from precedes.protocol.conformance.search import Search, Whole
from precedes.protocol.exploration.histories import EVERYTHING, Entry, entries, rearrange
from precedes.protocol.model import Message, Timer
from precedes.protocol.moves import Arrived, Began, Crashed, Expired, Lost, Move, Recovered, Requested
from precedes.protocol.network import Reliable
from precedes.protocol.running.move_log import Handler, LoggedMove, MoveLog

_COPY: Final[Spent] = (0, 1, 0, 0)
_TIMEOUT: Final[Spent] = (0, 0, 0, 1)


def behavior(search: Search, log: MoveLog) -> tuple[Move, ...] | None:
    """The moves of a logged run; None where they are no run of the model with exactly what was recorded. In a network
    with time, and where states were recorded, there is none.
    """
    states = any(each.state for history in search.observed.histories for each in history)
    if search.handlers.timed or states or len(log.entities) != search.handlers.entities:
        return None
    return _Follower(search, log).followed()


@dataclass(slots=True)
class _Follower:
    """A run that is followed, and how far it has come.

    `histories`: what each entity has logged. `receipts`: what it has received, where a protocol may rearrange that.
    `came`: where in the run a packet came in. `transmitted`: how many steps have transmitted into the channel.
    """

    search: Search
    log: MoveLog
    locals: list[Local] = field(init=False)
    made: list[int] = field(init=False)
    histories: list[list[Entry]] = field(init=False)
    receipts: list[tuple[Message, ...]] = field(init=False)
    spent: Spent = NOTHING
    moves: list[Move] = field(default_factory=lambda: [Began()])
    came: dict[tuple[int, int, int], int] = field(default_factory=dict)
    transmitted: int = 0

    def __post_init__(self) -> None:
        handlers = self.search.handlers
        entities = range(handlers.entities)
        self.locals = [Local(handlers.start(entity, 0), 0, ()) for entity in entities]
        self.made = [0] * handlers.entities
        self.histories = [[] for _ in entities]
        self.receipts = [() for _ in entities]

    def followed(self) -> tuple[Move, ...] | None:
        """Make every move, of those that can be made the earliest."""
        left = sum(map(len, self.log.entities))
        while left and any(self._make(entity) for entity in self._earliest()):
            left -= 1
        if left or not self._has_everything():
            return None
        ended = [local._replace(done=most) for local, most in zip(self.locals, self.search.goal, strict=True)]
        return tuple(self.moves) if self.search.is_over(Whole(tuple(ended), self.spent)) else None

    def _has_everything(self) -> bool:
        """Whether each entity has logged what was recorded of it, and nothing else."""
        observed = self.search.observed
        for recorded, history in zip(observed.histories, self.histories, strict=True):
            logged = [entry for entry in history if entry.kind in observed.kinds]
            met = (expected.is_met_by(entry) for expected, entry in zip(recorded, logged, strict=False))
            if len(logged) != len(recorded) or not all(met):
                return False
        return True

    def _earliest(self) -> list[int]:
        """The entities that have a move to make, by its time."""
        logs, made = self.log.entities, self.made
        waiting = [entity for entity, moves in enumerate(logs) if made[entity] < len(moves)]
        return sorted(waiting, key=lambda entity: logs[entity][made[entity]].time)

    def _make(self, entity: int) -> bool:
        """Make the next move of an entity, if it can be made now."""
        move = self.log.entities[entity][self.made[entity]]
        local = self.locals[entity]
        match move.handler:
            case Handler.SEND:
                made = local.up and self._request(entity, local, move)
            case Handler.ARRIVE:
                made = local.up and self._arrive(entity, local, move)
            case Handler.EXPIRE:
                made = local.up and self._expire(entity, local, move)
            case Handler.CRASH:
                made = local.up and self._crash(entity, local)
            case Handler.RECOVER:
                made = not local.up and self._recover(entity, local, move)
            case _:
                assert_never(move.handler)
        self.made[entity] += made
        return made

    def _crash(self, entity: int, local: Local) -> bool:
        left = self.search.handlers.crashed(entity, 0, local.state)
        self.locals[entity] = Local(-1 if left is None else left, 0, local.inbox, False)
        self.histories[entity].append(Entry(EventKind.CRASH))
        self.receipts[entity] = ()
        self.moves.append(Crashed(entity))
        return True

    def _recover(self, entity: int, local: Local, move: LoggedMove) -> bool:
        if local.state < 0:
            return False
        done = _chosen(self.search.handlers.recovered(entity, 0, local.state), move)
        if done is None:
            return False
        began = Local(local.state, 0, local.inbox, True, len(local.inbox))
        history = self.histories[entity]
        history.append(Entry(EventKind.RECOVER))
        made = self._take(entity, began, done, (Recovered(entity, done.step),), NOTHING)
        if not made:
            # The channel has to have others before it.
            history.pop()
        return made

    def _request(self, entity: int, local: Local, move: LoggedMove) -> bool:
        message = move.cause
        if not isinstance(message, Message):
            return False
        done = _chosen(self.search.handlers.requested(entity, 0, local.state, message), move)
        if done is None:
            return False
        return self._take(entity, local, done, (Requested(entity, message, done.step),), NOTHING)

    def _expire(self, entity: int, local: Local, move: LoggedMove) -> bool:
        handlers, timer = self.search.handlers, move.cause
        if not isinstance(timer, Timer) or timer not in handlers.timers(entity, 0, local.state):
            return False
        done = _chosen(handlers.expired(entity, 0, local.state, timer), move)
        if done is None:
            return False
        cost = _TIMEOUT if timer.due is None else NOTHING
        return self._take(entity, local, done, (Expired(entity, timer, done.step),), cost)

    def _arrive(self, entity: int, local: Local, move: LoggedMove) -> bool:
        handlers = self.search.handlers
        key = (entity, move.sender, handlers.packet(move.cause))
        candidate = min(self._candidates(local, move), key=lambda each: sum(each.cost), default=None)
        if candidate is None:
            return self._arrive_again(entity, local, move, key)
        done = _chosen(handlers.arrived(entity, 0, local.state, candidate.packet, candidate.sender), move)
        if done is None:
            return False
        lost = tuple(Lost(entity, sender, packet) for sender, packet in candidate.lost)
        came = Arrived(entity, candidate.sender, candidate.value, done.step, False, candidate.original)
        rest = local._replace(inbox=candidate.inbox, vanishing=candidate.vanishing)
        if not self._take(entity, rest, done, (*lost, came), candidate.cost):
            return False
        self.came[key] = len(self.moves) - 1
        return True

    def _candidates(self, local: Local, move: LoggedMove) -> Iterator[Candidate]:
        """What is in flight, or may become so on its way, and is the packet that came in. Where packets keep no order,
        what may have come in while the entity had stopped is the last that is taken.
        """
        inboxes = self.search.inboxes
        found = list(inboxes.candidates(local, 0))
        for each in found if inboxes.ordered else reversed(found):
            if each.sender == move.sender and each.value == move.cause and not each.copied:
                yield each

    def _arrive_again(self, entity: int, local: Local, move: LoggedMove, key: tuple[int, int, int]) -> bool:
        """A copy comes in of a packet that came in before, where no order says when."""
        network, place = self.search.inboxes.network, self.came.get(key)
        if not isinstance(network, Reliable) or not network.duplicates or network.fifo or place is None:
            return False
        first = self.moves[place]
        done = _chosen(self.search.handlers.arrived(entity, 0, local.state, key[2], move.sender), move)
        if done is None or not isinstance(first, Arrived) or first.original is not None:
            return False
        again = Arrived(entity, move.sender, move.cause, done.step)
        if not self._take(entity, local, done, (again,), _COPY):
            return False
        self.moves[place] = replace(first, copied=True)
        self.came[key] = len(self.moves) - 1
        return True

    def _take(self, entity: int, local: Local, done: Done, made: tuple[Move, ...], cost: Spent) -> bool:
        """Take a step, if the limits and the order of the channel allow it."""
        search = self.search
        spent = added(self.spent, cost)
        if any(each > most for each, most in zip(spent, search.most, strict=True)):
            return False
        if search.inboxes.single and done.emission:
            channel = self.log.channel or ()
            if self.transmitted >= len(channel) or channel[self.transmitted] != entity:
                return False
            self.transmitted += 1
        self.locals[entity] = local._replace(state=done.state)
        for receiver, flight in done.emission:
            to = self.locals[receiver]
            if to.up or self.made[receiver] < len(self.log.entities[receiver]):
                inbox = search.inboxes.with_flight(to.inbox, flight, to.vanishing)
                self.locals[receiver] = to._replace(inbox=inbox)
        self._log(entity, done, made[-1])
        self.spent = spent
        self.moves += made
        return True

    def _log(self, entity: int, done: Done, move: Move) -> None:
        """Add to a history what a step logs, as whoever runs the model does."""
        handlers, history = self.search.handlers, self.histories[entity]
        if not handlers.rearranges:
            history += done.entries
            return
        request = move.message if isinstance(move, Requested) else None
        history += entries(done.step, request, EVERYTHING, None, rearranges=True)
        log = handlers.protocol.receipt_log(done.step.state)
        if log is not None:
            rearrange(history, self.receipts[entity], log, None)
            self.receipts[entity] = log


def _chosen(outcome: Sequence[Done], move: LoggedMove) -> Done | None:
    """The step that was taken; None where there is none of its number."""
    return outcome[move.choice] if move.choice < len(outcome) else None
