"""The states of a protocol under bounds, and what can happen in each.

A state is a tuple of small integers: one component for each entity, then the remaining budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Final, TypeAlias

from precedes.core.diagnostics import usage
from precedes.core.faults import FAULTS, Moment
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.interned_states import (
    NONE,
    InternedState,
    Placement,
    Transition,
    TransitionTable,
)
from precedes.protocol.model import Message
from precedes.protocol.moves import Began, Expired, Move, Ticked
from precedes.protocol.network import Network, Timed

State: TypeAlias = tuple[int, ...]
Successor: TypeAlias = tuple[State, Move]


@dataclass(frozen=True, slots=True)
class Budget:
    """What is left of the bounds in a state.

    `turn`: whose moves are explored, where not every interleaving is: an entity that sends next, or one of the three
    numbers below.
    """

    messages: int
    losses: int = 0
    duplicates: int = 0
    corruptions: int = 0
    crashes: int = 0
    recoveries: int = 0
    early: int = 0
    turn: int = -1


ANYBODY: Final = -1
"""Nobody has been chosen yet."""
NOBODY: Final = -2
"""Nobody sends any more. What is in flight arrives, at one entity after the other."""
ALONE: Final = -3
"""Nobody sends any more, and one entity is explored without the others: the state has its component only."""

MOVES: Final = tuple(fault.count for fault in FAULTS if fault.moment is Moment.ANY_STATE)
"""Faults that are moves."""
LATER: Final = tuple(fault.count for fault in FAULTS if fault.moment is not Moment.BEGINNING)
"""Faults that take something from the budget."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """What can happen in a state. `quiescent`: nothing but requests, faults and the passing of time for them.

    `refused`: requests are left, every one is refused, and nothing else can happen. `resting`: entities looked at by
    themselves, to which nothing comes in any more.
    """

    successors: list[Successor]
    quiescent: bool
    refused: bool
    resting: tuple[int, ...] = ()


class Space:
    """All states of a protocol under bounds."""

    def __init__(self, table: TransitionTable, bounds: Bounds) -> None:
        self.table = table
        self.bounds = bounds
        self.entities = bounds.entities
        network = table.network
        self.timed = isinstance(network, Timed)
        self.last_request = last_request(network, bounds.ticks)
        self.budgets: list[Budget] = []
        self._budget_numbers: dict[Budget, int] = {}
        self._turns: dict[tuple[int, int], int] = {}
        self._spent: dict[tuple[int, str], int] = {}
        self._wanted: dict[tuple[int, int], tuple[Message, ...]] = {}
        self.beginning = self._numbered(
            Budget(
                messages=bounds.messages if bounds.script is None else sum(map(len, bounds.script)),
                **{kind: getattr(bounds, kind) for kind in LATER},
            )
        )
        self.faulty = any(getattr(self.budgets[self.beginning], kind) for kind in LATER)
        self._sets = tuple(_destinations(bounds, entity) for entity in range(bounds.entities))

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

    def budget(self, state: State) -> Budget:
        """What is left of the bounds in a state."""
        return self.budgets[state[-1]]

    def expanded(self, state: State) -> Expanded:
        """Everything that can happen in a state."""
        table = self.table
        budget_number = state[-1]
        budget = self.budgets[budget_number]
        rows = self._rows(state)
        found: list[Successor] = []
        for entity, row in enumerate(rows):
            found += self._all(state, entity, row.arrivals, budget_number)
            found += self._all(state, entity, row.due, budget_number)
        happens = bool(found)
        if not found and not (self.timed and any(row.is_pending for row in rows)):
            found = self._timeouts(state, rows, budget_number)
            happens = any(after != state or acts(move) for after, move in found)
        accepted = wanted = False
        if budget.messages and not (self.timed and rows[0].now > self.last_request):
            spent = self._spend(budget_number, "messages")
            for entity, row in enumerate(rows):
                requests = self._requests(state[entity], entity, row)
                wanted = wanted or row.wants
                accepted = accepted or bool(requests)
                found += self._all(state, entity, requests, spent)
        if self.faulty:
            self._faults(state, rows, budget, found)
        pending = False
        if self.timed and all(row.may_tick for row in rows):
            pending = any(row.is_pending for row in rows)
            if pending or (budget.messages and rows[0].now < self.last_request):
                after = (*(table.ticked(component) for component in state[:-1]), budget_number)
                found.append((after, Ticked(rows[0].now + 1)))
        quiescent = not happens and not pending
        # With time, what is refused at the last tick of the bounds may be accepted later.
        return Expanded(found, quiescent, quiescent and wanted and not accepted and not self.timed)

    def silently(self, state: State) -> Expanded:
        """Enough of what can happen in a state on a single channel for what is asked of entities and in quiescence.

        What comes in to an entity that answers nothing to it, and cannot be asked to send, comes in first, or is lost:
        nothing that others do, now or later, comes between, for the channel hands it over in any case before it lets a
        time-out expire.
        """
        budget_number = state[-1]
        budget = self.budgets[budget_number]
        for entity, row in enumerate(self._rows(state)):
            if not row.arrivals or any(emission for _, emission, _ in row.arrivals):
                continue
            if budget.messages and self._requests(state[entity], entity, row):
                continue
            found = [
                (self._after(state, entity, transition, budget_number), transition[2])
                for transition in row.arrivals
            ]
            if budget.losses:
                spent = self._spend(budget_number, "losses")
                found += [
                    (self._after(state, entity, transition, spent), transition[2])
                    for transition in self.table.fault(state[entity], "losses")
                ]
            return Expanded(found, quiescent=False, refused=False)
        return self.expanded(state)

    def one_by_one(self, state: State) -> Expanded:
        """Enough of what can happen in a state, where only requests transmit and nothing goes wrong.

        Before an entity sends, messages come in to it alone; in the end they come in to one entity after the other.
        """
        rows = self._rows(state)
        found, wanted, accepted = self._next_sender(state, rows)
        turn = self.budgets[state[-1]].turn
        if turn >= 0:
            return Expanded(found, quiescent=False, refused=False)
        return self._finishing(state, rows, found, wanted=wanted, accepted=accepted)

    def by_itself(self, state: State) -> Expanded:
        """As `one_by_one`, for what concerns single entities: in the end each is looked at without the others."""
        if len(state) == 2:
            row = self._rows(state)[0]
            after = [((transition[0], state[1]), transition[2]) for transition in row.arrivals or NONE]
            return Expanded(list(after), not after, refused=False)
        budget = self.budgets[state[-1]]
        rows = self._rows(state)
        found, wanted, accepted = self._next_sender(state, rows)
        if budget.turn >= 0:
            return Expanded(found, quiescent=False, refused=False)
        arrivals = False
        if budget.turn == ANYBODY:
            alone = self._alone()
            for row in rows:
                found += [((transition[0], alone), transition[2]) for transition in row.arrivals or NONE]
                arrivals = arrivals or bool(row.arrivals)
            resting = tuple(
                component for component, row in zip(state[:-1], rows, strict=True) if not row.arrivals
            )
            if arrivals and not budget.messages:
                return Expanded(found, quiescent=False, refused=False, resting=resting)
        # The others matter where requests are left and may all be refused.
        return self._finishing(state, rows, found, wanted=wanted, accepted=accepted)

    def _next_sender(self, state: State, rows: list[InternedState]) -> tuple[list[Successor], bool, bool]:
        """The next request, and what comes in to its entity before; whether one was wanted, and accepted."""
        budget = self.budgets[state[-1]]
        found: list[Successor] = []
        accepted = wanted = False
        if not budget.messages or budget.turn == NOBODY:
            return found, wanted, accepted
        spent = self._turned(self._spend(state[-1], "messages"), ANYBODY)
        for entity, row in enumerate(rows):
            if budget.turn not in (ANYBODY, entity):
                continue
            requests = self._requests(state[entity], entity, row)
            wanted = wanted or row.wants
            accepted = accepted or bool(requests)
            found += self._all(state, entity, requests, spent)
            if row.wants and row.arrivals:
                turn = self._turned(state[-1], entity)
                found += self._all(state, entity, row.arrivals, turn)
        return found, wanted, accepted

    def _finishing(
        self, state: State, rows: list[InternedState], found: list[Successor], *, wanted: bool, accepted: bool
    ) -> Expanded:
        """What comes in to the first entity to which something does; where nothing does, what happens then."""
        budget = self.budgets[state[-1]]
        for entity, row in enumerate(rows):
            if row.arrivals:
                turn = self._turned(state[-1], NOBODY)
                found += self._all(state, entity, row.arrivals, turn)
                return Expanded(found, quiescent=False, refused=False)
        timeouts = self._timeouts(state, rows, self._turned(state[-1], ANYBODY))
        happens = any(after[:-1] != state[:-1] or acts(move) for after, move in timeouts)
        if budget.messages and budget.turn == NOBODY:
            for entity, row in enumerate(rows):
                accepted = bool(self._requests(state[entity], entity, row)) or accepted
                wanted = wanted or row.wants
        return Expanded(found + timeouts, not happens, not happens and wanted and not accepted)

    def _alone(self) -> int:
        return self._numbered(Budget(0, turn=ALONE))

    def _rows(self, state: State) -> list[InternedState]:
        table = self.table
        rows = table.rows
        return [
            row if (row := rows[component]).arrivals is not None else table.worked_out(component)
            for component in state[:-1]
        ]

    def _all(
        self, state: State, entity: int, transitions: tuple[Transition, ...] | None, budget: int
    ) -> list[Successor]:
        return [
            (self._after(state, entity, transition, budget), transition[2])
            for transition in transitions or NONE
        ]

    def _timeouts(self, state: State, rows: list[InternedState], budget: int) -> list[Successor]:
        running = [(entity, one) for entity, row in enumerate(rows) for one in row.timeouts]
        least = min((_patience(transition) for _, transition in running), default=0)
        return [
            (self._after(state, entity, transition, budget), transition[2])
            for entity, transition in running
            if _patience(transition) == least
        ]

    def _requests(self, component: int, entity: int, row: InternedState) -> tuple[Transition, ...]:
        if row.requests is not None:
            return row.requests
        made = self.table.locals[row.local].requests
        return self.table.requested(component, self._wants(entity, made))

    def _wants(self, entity: int, made: int) -> tuple[Message, ...]:
        script = self.bounds.script
        if script is not None:
            return script[entity][made : made + 1]
        wanted = self._wanted.get((entity, made))
        if wanted is None:
            wanted = tuple(Message(entity, made + 1, to) for to in self._sets[entity])
            self._wanted[entity, made] = wanted
        return wanted

    def _faults(
        self, state: State, rows: list[InternedState], budget: Budget, found: list[Successor]
    ) -> None:
        for kind in MOVES:
            if getattr(budget, kind):
                spent = self._spend(state[-1], kind)
                for entity in range(self.entities):
                    found += self._all(state, entity, self.table.fault(state[entity], kind), spent)
        if budget.early and any(row.inbox for row in rows):
            spent = self._spend(state[-1], "early")
            for entity, row in enumerate(rows):
                found += self._all(state, entity, row.early, spent)

    def _after(self, state: State, entity: int, transition: Transition, budget: int) -> State:
        emission = transition[1]
        if not emission and budget == state[-1]:
            return (*state[:entity], transition[0], *state[entity + 1 :])
        after = list(state)
        after[entity] = transition[0]
        after[-1] = budget
        for receiver, flights in emission:
            after[receiver] = self.table.put(after[receiver], flights)
        return tuple(after)

    def _numbered(self, budget: Budget) -> int:
        number = self._budget_numbers.setdefault(budget, len(self.budgets))
        if number == len(self.budgets):
            self.budgets.append(budget)
        return number

    def plain(self, state: State) -> State:
        """The state without the note of whose turn it is."""
        return (*state[:-1], self._turned(state[-1], ANYBODY))

    def turned(self, budget: int, names: tuple[int, ...]) -> int:
        """What is left after entity k has become `names[k]`."""
        turn = self.budgets[budget].turn
        return budget if turn < 0 else self._turned(budget, names[turn])

    def _turned(self, budget: int, turn: int) -> int:
        number = self._turns.get((budget, turn))
        if number is None:
            number = self._turns[budget, turn] = self._numbered(replace(self.budgets[budget], turn=turn))
        return number

    def _spend(self, budget: int, kind: str) -> int:
        number = self._spent.get((budget, kind))
        if number is None:
            before = self.budgets[budget]
            number = self._numbered(replace(before, **{kind: getattr(before, kind) - 1}))
            self._spent[budget, kind] = number
        return number


def _patience(transition: Transition) -> int:
    """Of the time-out that expires."""
    move = transition[2]
    assert isinstance(move, Expired)
    return move.timer.patience


def last_request(network: Network, ticks: int | None) -> int:
    """The last tick at which a message may be requested, where the bounds say it or say nothing; 0 without time."""
    if not isinstance(network, Timed):
        return 0
    return 2 * network.longest if ticks is None else ticks


def refuse_what_cannot_happen(name: str, network: Network, bounds: Bounds) -> None:
    """PrecedesError U001 for faults that a network never has."""
    for fault in FAULTS:
        if fault.ability and getattr(bounds, fault.count) and not getattr(network, fault.ability, False):
            raise usage(
                f"the network of {name} has no {fault.count}",
                f"it is {network}; a model says otherwise with {type(network).__name__}({fault.ability}=True)",
            )


def acts(move: Move) -> bool:
    """Whether a move logs or transmits something."""
    step = getattr(move, "step", None)
    return step is None or bool(step.actions)


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
