"""The search for a run that has what was recorded: depth first, what is recorded before what is not.

Blocks of different entities are independent, unless both transmit into one channel that keeps an order, or both need
what is left of a limit. Of two independent blocks both orders lead to the same state, and only one is followed: what
was tried in a state sleeps in the states after the other block, until a block comes that it depends on (Godefroid,
Partial-Order Methods for the Verification of Concurrent Systems, 1996: sleep sets, with states that are remembered).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias, assert_never

from precedes.core.faults import UNRECORDED
from precedes.protocol.conformance.blocks import Block, Blocks, Level, Local, Sorted, TooMany, added
from precedes.protocol.conformance.candidates import NOTHING, Inboxes, Spent
from precedes.protocol.conformance.handlers import Done, Handlers
from precedes.protocol.conformance.observation import Observed
from precedes.protocol.conformance.verdicts import Limits
from precedes.protocol.moves import Began, Move, Ticked
from precedes.protocol.network import Network, Reliable, SingleChannel, Timed

NAMES: Final = tuple(UNRECORDED)
"""What `Spent` counts, by the names of the limits."""
_NOBODY: Final = -1
"""The entity of a block in which time goes on."""

Key: TypeAlias = tuple[int, tuple[object, ...]]
"""A block, by its entity and its key."""


class Whole(NamedTuple):
    """A state of the search: the entities, what has been spent of the limits, and the time."""

    locals: tuple[Local, ...]
    spent: Spent = NOTHING
    now: int = 0


@dataclass(slots=True)
class Node:
    """A state under way: the blocks that have not been tried, and those that need not be. `only`: all others were tried
    when the state was met before.
    """

    state: Whole
    block: Block | None
    blocks: Iterator[Block]
    asleep: dict[Key, Block]
    only: frozenset[Key] | None = None


@dataclass(slots=True)
class Trail:
    """What a search found: the blocks of a run that has everything, or as much as any, and the state after them.

    `complete`: there is no state that was not searched. `met`: the limits that kept a block from being taken.
    `crowded`: there were more ways than `MOST_SILENT` in which packets may have come in silently.
    """

    found: bool
    blocks: tuple[Block, ...]
    state: Whole
    searched: int
    complete: bool
    met: frozenset[str] = frozenset()
    rearranged: bool = False
    crowded: bool = False
    ahead: tuple[int, ...] = ()
    faults: bool = False

    @property
    def explained(self) -> int:
        """How many events the run has."""
        return sum(local.done for local in self.state.locals)

    def behavior(self) -> tuple[Move, ...]:
        """The moves of the run."""
        moves = (move for block in self.blocks for move in block.moves)
        return (Began(ahead=self.ahead if any(self.ahead) else ()), *moves)


@dataclass(slots=True)
class Search:
    """One search, with clocks that are `ahead`. `faults`: the network may lose, duplicate and corrupt. `attempt`: what
    is tried first differs from one to the next.
    """

    handlers: Handlers
    observed: Observed
    limits: Limits
    ahead: tuple[int, ...]
    faults: bool
    attempt: int
    most_states: int
    blocks: Blocks = field(init=False)
    inboxes: Inboxes = field(init=False)
    known: dict[Whole, frozenset[Key]] = field(init=False, default_factory=dict)
    met: set[str] = field(init=False, default_factory=set)
    goal: tuple[int, ...] = field(init=False)
    most: Spent = field(init=False)
    complete: bool = field(init=False, default=True)
    crowded: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.inboxes = Inboxes(self.handlers, self.ahead, faults=self.faults, losses=self.limits.losses)
        self.blocks = Blocks(self.handlers, self.observed, self.inboxes, self.ahead, self.attempt)
        self.goal = tuple(map(len, self.observed.histories))
        limits = self.limits
        self.most = (limits.losses, limits.duplicates, limits.corruptions, limits.timeouts)

    def run(self) -> Trail:
        """Search until a run is found, everything was searched, or the limit of states is met."""
        entities = range(self.handlers.entities)
        start = Whole(tuple(Local(self.handlers.start(k, self.ahead[k]), 0, ()) for k in entities))
        best: tuple[int, tuple[Block, ...], Whole] = (-1, (), start)
        node: Node | None = self._node(start, None, {})
        stack: list[Node] = []
        self.known[start] = frozenset()
        while node is not None or stack:
            if node is not None:
                stack.append(node)
                explained = sum(local.done for local in node.state.locals)
                if explained > best[0]:
                    best = explained, _taken(stack), node.state
                if self.is_over(node.state):
                    return self._trail(_taken(stack), node.state, found=True)
                if len(self.known) > self.most_states:
                    self.complete = False
                    break
            node = self._next(stack[-1])
            if node is None:
                tried = stack.pop().block
                if tried is not None:
                    stack[-1].asleep[tried.entity, tried.key] = tried
        return self._trail(best[1], best[2], found=False)

    def _trail(self, taken: tuple[Block, ...], state: Whole, *, found: bool) -> Trail:
        if self.inboxes.refused:
            self.met.add("losses")
        return Trail(
            found,
            taken,
            state,
            searched=len(self.known),
            complete=self.complete,
            met=frozenset(self.met),
            rearranged=self.blocks.rearranged,
            crowded=self.crowded,
            ahead=self.ahead,
            faults=self.faults,
        )

    def _node(self, state: Whole, block: Block | None, asleep: dict[Key, Block]) -> Node:
        return Node(state, block, self._blocks(state), asleep)

    def _next(self, node: Node) -> Node | None:
        """The next state that has to be searched from a state."""
        for block in node.blocks:
            key = block.entity, block.key
            if key in node.asleep or (node.only is not None and key not in node.only):
                continue
            after = self._after(node.state, block)
            if after is None:
                continue
            asleep = {
                each: other
                for each, other in node.asleep.items()
                if self._independent(node.state, block, other)
            }
            before, sleeping = self.known.get(after), frozenset(asleep)
            child = self._node(after, block, asleep)
            if before is not None:
                if before <= sleeping:
                    node.asleep[key] = block
                    continue
                child.only = before - sleeping
                sleeping &= before
            self.known[after] = sleeping
            return child
        return None

    def _independent(self, state: Whole, block: Block, other: Block) -> bool:
        """Whether two blocks come to the same in both orders."""
        if block.entity == other.entity or _NOBODY in (block.entity, other.entity):
            return False
        both = added(state.spent, added(block.cost, other.cost))
        if any(spent > most for spent, most in zip(both, self.most, strict=True)):
            return False
        if block.stops or other.stops:
            return not _reaches(block, other) and not _reaches(other, block)
        if not self.inboxes.single:
            return True
        to = {receiver for receiver, _ in block.emission}
        return not any(receiver in to for receiver, _ in other.emission)

    def _after(self, state: Whole, block: Block) -> Whole | None:
        """The state after a block; None where a limit does not allow it."""
        if block.entity == _NOBODY:
            return state._replace(now=int(block.turn[0]))
        spent = state.spent
        if block.cost != NOTHING:
            spent = added(spent, block.cost)
            over = [k for k, most in enumerate(self.most) if spent[k] > most]
            if over:
                self.met.update(NAMES[k] for k in over)
                return None
        entities = list(state.locals)
        entities[block.entity] = block.after
        for receiver, flight in block.emission:
            local = entities[receiver]
            if local.up or local.done < self.goal[receiver]:
                inbox = self.inboxes.with_flight(local.inbox, flight, local.vanishing)
                entities[receiver] = local._replace(inbox=inbox)
        return Whole(tuple(entities), spent, state.now)

    # ---- what comes first ----

    def _blocks(self, state: Whole) -> Iterator[Block]:
        """The blocks of a state, those first that are most likely to lead to a run: what explains the next event of
        all, then what explains another, then what explains nothing.

        Where all packets share a channel, a transmission out of turn decides on an order that was another, and comes
        last.
        """
        if self._is_late(state):
            return
        ranks = self.observed.ranks
        waiting = [k for k, local in enumerate(state.locals) if local.done < self.goal[k]]
        waiting.sort(key=lambda k: ranks[k][state.locals[k].done])
        if self.inboxes.ordered:
            yield from self._in_order(state, waiting)
            return
        of = self._of(state)
        everybody = range(self.handlers.entities)
        for entity in waiting:
            yield from of(entity, Level.DIRECT)[0]
        yield from (block for k in everybody for block in of(k, Level.DIRECT)[1])
        for entity in waiting:
            yield from of(entity, Level.CHAIN)[0]
        yield from sorted((block for k in everybody for block in of(k, Level.CHAIN)[1]), key=_turn(waiting))
        if self.handlers.timed:
            yield from self._tick(state)
        yield from self._others(of, waiting)

    def _in_order(self, state: Whole, waiting: Sequence[int]) -> Iterator[Block]:
        """The same where packets keep an order. Before an entity transmits, as much as can has come in to it."""
        of, single = self._of(state), self.inboxes.single
        levels = (Level.CHAIN, Level.DIRECT)
        for place, entity in enumerate(waiting):
            for level in levels:
                yield from (b for b in of(entity, level)[0] if not (single and place and b.emission))
        everybody = range(self.handlers.entities)
        yield from sorted((b for level in levels for k in everybody for b in of(k, level)[1]), key=_turn(()))
        for entity in waiting[1:] if single else ():
            for level in levels:
                yield from (block for block in of(entity, level)[0] if block.emission)
        yield from self._others(of, waiting)

    def _others(self, of: Callable[[int, Level], Sorted], waiting: Sequence[int]) -> Iterator[Block]:
        """Blocks with silent arrivals in any other order, or with some left out."""
        for entity in waiting:
            yield from of(entity, Level.ANY)[0]
        everybody = range(self.handlers.entities)
        yield from sorted((block for k in everybody for block in of(k, Level.ANY)[1]), key=_turn(waiting))

    def _of(self, state: Whole) -> Callable[[int, Level], Sorted]:
        """The blocks of an entity in a state. Where there are too many, the search is not complete."""
        alone = self.handlers.timed or self._has_everything(state)

        def found(entity: int, level: Level) -> Sorted:
            try:
                return self.blocks.of(entity, state.locals[entity], state.now, alone=alone, level=level)
            except TooMany:
                self.crowded = True
                return [], []

        return found

    def _has_everything(self, state: Whole) -> bool:
        return tuple(local.done for local in state.locals) == self.goal

    def is_over(self, state: Whole) -> bool:
        """Whether a run may end here."""
        if not self._has_everything(state):
            return False
        return not self.limits.quiescent or self._is_quiescent(state)

    def _is_quiescent(self, state: Whole) -> bool:
        """Whether nothing is in flight any more that somebody would take, and no timer does anything."""
        network = self.handlers.protocol.network
        left = 0
        for entity, local in enumerate(state.locals):
            if not local.up:
                continue
            clock = state.now + self.ahead[entity]
            for timer in self.handlers.timers(entity, clock, local.state):
                if timer.due is not None or self._acts(
                    self.handlers.expired(entity, clock, local.state, timer), local
                ):
                    return False
            for flight in local.inbox[local.vanishing :]:
                found = self.handlers.flights[flight]
                done = self.handlers.arrived(entity, clock, local.state, found.packet, found.sender)
                left += self._acts(done, local)
        may_lose = self.faults and network.loses
        return left <= (self.limits.losses - state.spent[0] if may_lose else 0)

    def _acts(self, outcome: Sequence[Done], local: Local) -> bool:
        """Whether something would come of it."""
        return any(done.state != local.state or done.emission or done.entries for done in outcome)

    # ---- time ----

    def _is_late(self, state: Whole) -> bool:
        """Whether an event that is still to come has a time that is over."""
        if not self.handlers.timed:
            return False
        next_events = (self.blocks.expected(k, local) for k, local in enumerate(state.locals))
        return any(
            each is not None and each.time is not None and each.time < state.now for each in next_events
        )

    def _tick(self, state: Whole) -> Iterator[Block]:
        """Time goes on: by one tick where something is in flight, else to when something happens."""
        network = self.handlers.protocol.network
        assert isinstance(network, Timed)
        bounds: list[int] = []
        in_flight = open_ended = False
        for entity, local in enumerate(state.locals):
            expected = self.blocks.expected(entity, local)
            if expected is not None:
                bounds += [] if expected.time is None else [expected.time]
                open_ended = open_ended or expected.time is None
            if not local.up:
                continue
            clock = state.now + self.ahead[entity]
            for timer in self.handlers.timers(entity, clock, local.state):
                if timer.due is not None:
                    bounds.append(timer.due - self.ahead[entity])
            for flight in local.inbox:
                last = self.inboxes.sent(flight) + network.longest
                in_flight = in_flight or last > state.now
                if last == state.now and not network.loses:
                    return
        if any(bound <= state.now for bound in bounds):
            return
        if in_flight or open_ended:
            now = state.now + 1
        elif bounds:
            now = min(bounds)
        else:
            return
        local = state.locals[0]
        yield Block(_NOBODY, (now,), local, (), NOTHING, (Ticked(now),), seen=False, turn=(now, 0))


def _taken(stack: Iterable[Node]) -> tuple[Block, ...]:
    return tuple(node.block for node in stack if node.block is not None)


def _turn(waiting: Sequence[int]) -> Callable[[Block], tuple[float, ...]]:
    """What costs less first; where as much has come in as can; and at the entity whose event is the next of all."""
    first = waiting[0] if waiting else _NOBODY
    return lambda block: (sum(block.cost[:3]), block.turn[0], block.entity != first, block.turn[1])


def _reaches(block: Block, other: Block) -> bool:
    """Whether one entity transmits to another."""
    return any(receiver == other.entity for receiver, _ in block.emission)


def faults_of(network: Network) -> tuple[str, ...]:
    """The limits of what a network may do to packets. A loss counts where others notice that a packet does not come."""
    match network:
        case SingleChannel(loses=loses):
            return ("losses",) if loses else ()
        case Reliable(loses=loses, duplicates=duplicates, corrupts=corrupts):
            able = (loses, duplicates, corrupts)
            return tuple(name for name, is_able in zip(NAMES, able, strict=False) if is_able)
        case Timed(loses=loses):
            return ("losses",) if loses else ()
        case _:
            assert_never(network)


def keeps_order(network: Network) -> bool:
    """Whether packets of one sender, or of all, come in in the order of their transmission."""
    match network:
        case SingleChannel():
            return True
        case Reliable(fifo=fifo):
            return fifo
        case Timed():
            return False
        case _:
            assert_never(network)
