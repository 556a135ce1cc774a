"""The states of a protocol under bounds, and what can happen in each.

A state is a tuple of small integers: a component for each entity, then the remaining budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any, Final, TypeAlias

from precedes.core.diagnostics import usage
from precedes.core.faults import AT_TIMEOUTS, FAULTS, IN_ANY_STATE
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration import expansion, search_steps
from precedes.protocol.exploration.interned_values import Placement
from precedes.protocol.exploration.shown_moves import move
from precedes.protocol.exploration.transition_table import TransitionTable, kind_of
from precedes.protocol.model import Message, Protocol
from precedes.protocol.moves import Began, Move, Ticked
from precedes.protocol.network import Network, Timed

State: TypeAlias = tuple[int, ...]
Successor: TypeAlias = tuple[State, Move]

LATER: Final = (*IN_ANY_STATE, *AT_TIMEOUTS)
"""Faults that take something from the budget, in the order of its digits (`expansion`)."""
LARGEST_BUDGET: Final = 2**31


@dataclass(frozen=True, slots=True)
class Expanded:
    """What can happen in a state. `quiescent`: nothing but requests, faults and the passing of time for them.

    `broken`: for each successor, the invariants that the step to it breaks.
    """

    successors: list[Successor]
    quiescent: bool
    broken: list[tuple[str, ...]]


class Space:
    """All states of a protocol under bounds."""

    def __init__(self, table: TransitionTable, bounds: Bounds, *, symmetric: bool = False) -> None:
        self.table = table
        self.bounds = bounds
        self.entities = bounds.entities
        network = table.network
        self.timed = isinstance(network, Timed)
        self._wanted: dict[tuple[int, int], tuple[Message, ...]] = {}
        self._sets = tuple(_destinations(bounds, entity) for entity in range(bounds.entities))
        self.renamings = tuple(permutations(range(bounds.entities))) if symmetric else ()
        messages = bounds.messages if bounds.script is None else sum(map(len, bounds.script))
        counts = [messages, *(int(getattr(bounds, kind)) for kind in LATER)]
        digits = [(1, bounds.entities + expansion.FIRST_ENTITY)]
        for count in counts:
            stride, radix = digits[-1]
            digits.append((stride * radix, count + 1))
        if digits[-1][0] * digits[-1][1] >= LARGEST_BUDGET:
            raise usage("the bounds are too large to be explored", "allow fewer requests and faults")
        setting = [0] * c.SETTINGS
        setting[c.ENTITIES] = bounds.entities
        setting[c.NETWORK] = kind_of(network)
        if isinstance(network, Timed):
            setting[c.SHORTEST], setting[c.LONGEST] = network.shortest, network.longest
        setting[c.LAST_REQUEST] = last_request(network, bounds.ticks)
        setting[c.RENAMINGS] = len(self.renamings)
        setting[c.BROKEN_LINKS] = bounds.broken_links
        self.beginning = expansion.ANYBODY + sum(
            count * stride for count, (stride, _) in zip(counts, digits[1:], strict=True)
        )
        table.begin(
            setting + [number for pair in digits for number in pair],
            faulty=any(counts[1:]),
            requests=self.requests,
            renamings=len(self.renamings),
        )

    def initial(self) -> Iterator[Successor]:
        """Every beginning, and what was chosen in it."""
        pairs = tuple(combinations(range(self.entities), 2))
        network = self.table.network
        skew = network.skew if isinstance(network, Timed) else 0
        clocks = [
            ahead for ahead in product(range(skew + 1), repeat=self.entities) if not ahead or min(ahead) == 0
        ]
        for cut in _up_to(pairs, self.bounds.broken_links):
            for stopped in _up_to(range(self.entities), self.bounds.dead):
                for ahead in clocks:
                    state = []
                    for entity in range(self.entities):
                        others = frozenset(a + b - entity for a, b in cut if entity in (a, b))
                        placement = self.table.placement(Placement(entity, ahead[entity], others))
                        state.append(self.table.start(placement, stopped=entity in stopped))
                    yield (
                        (*state, self.beginning),
                        Began(frozenset(cut), frozenset(stopped), ahead if skew else ()),
                    )

    def expanded(self, state: State) -> Expanded:
        """Everything that can happen in a state."""
        table = self.table
        while True:
            tables = table.matrices.tables()
            tables.row[:] = state
            found = table.matrices.run(table.code, search_steps.SUCCESSORS, mode=expansion.EVERY)
            if found != expansion.INCOMPLETE:
                break
            table.answer()
        count = int(tables.sizes[c.OUT])
        via = tables.via[:count].tolist()
        now = table.inner_of(state[0]).now
        moves = [
            Ticked(now + 1) if transition == expansion.BY_TICK else move(table, entity, transition)
            for entity, transition in via
        ]
        return Expanded(
            list(zip(map(tuple, tables.out[:count].tolist()), moves, strict=True)),
            bool(found & expansion.QUIESCENT),
            [table.broken(transition) for _, transition in via],
        )

    def representative(self, state: State) -> State:
        """The state that stands for this one and all that are renamings of it."""
        table = self.table
        while True:
            tables = table.matrices.tables()
            tables.out[0] = state
            if table.matrices.run(table.code, search_steps.REPRESENTATIVE, 0):
                return tuple(tables.out[0].tolist())
            table.answer()

    def requests(self, entity: int, made: int) -> tuple[Message, ...]:
        """The messages that an entity may be asked to send, after so many requests."""
        script = self.bounds.script
        if script is not None:
            return script[entity][made : made + 1]
        wanted = self._wanted.get((entity, made))
        if wanted is None:
            wanted = tuple(Message(entity, made + 1, to) for to in self._sets[entity])
            self._wanted[entity, made] = wanted
        return wanted

    def is_alone(self, state: State) -> bool:
        """Whether it is one entity without the others."""
        return state[-1] == expansion.ALONE

    def plain(self, state: State) -> State:
        """The state without the note of whose turn it is."""
        return (*state[:-1], expansion.turned(state[-1], expansion.ANYBODY, self.entities))


def last_request(network: Network, ticks: int | None) -> int:
    """The last tick at which a message may be requested, where the bounds say it or say nothing; 0 without time."""
    if not isinstance(network, Timed):
        return 0
    return 2 * network.longest if ticks is None else ticks


def refuse_what_cannot_happen(protocol: Protocol[Any], bounds: Bounds) -> None:
    """PrecedesError U001 for bounds of what a model never does: its report would say that it was explored."""
    name, network, model = protocol.name, protocol.network, type(protocol)
    if bounds.ticks is not None and not isinstance(network, Timed):
        raise usage(f"the network of {name} has no time", f"it is {network}; leave out `ticks`")
    if bounds.recoveries and model.crash is Protocol.crash:
        hint = "define crash(here, state), what an entity that stops still has; or leave out `recoveries`"
        raise usage(f"no entity of {name} that has stopped starts again", hint)
    if bounds.early and model.timers is Protocol.timers:
        hint = "define timers(here, state), those that run; or leave out `early`"
        raise usage(f"no time-out of {name} can be early, because it has no timers", hint)
    for fault in FAULTS:
        if fault.ability and getattr(bounds, fault.count) and not getattr(network, fault.ability, False):
            raise usage(
                f"the network of {name} has no {fault.count}",
                f"it is {network}; a model says otherwise with {type(network).__name__}({fault.ability}=True)",
            )


def _destinations(bounds: Bounds, entity: int) -> tuple[frozenset[int], ...]:
    everybody = range(bounds.entities)
    others = [k for k in everybody if k != entity]
    match bounds.destinations:
        case Destinations.UNICAST:
            return tuple(frozenset({k}) for k in others)
        case Destinations.MULTICAST:
            return tuple(map(frozenset, list(_up_to(others, len(others)))[1:]))
        case Destinations.BROADCAST:
            return (frozenset(everybody),)
        case Destinations.ANY:
            return tuple(map(frozenset, list(_up_to(everybody, bounds.entities))[1:]))


def _up_to(items: Any, most: int) -> Iterator[tuple[Any, ...]]:
    """Every choice of at most so many items, the smallest first."""
    listed = tuple(items)
    for size in range(min(most, len(listed)) + 1):
        yield from combinations(listed, size)
