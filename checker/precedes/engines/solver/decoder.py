"""From a solution of the bounded encoding to an execution: named entities and messages, histories, times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice, product
from string import ascii_lowercase
from typing import assert_never

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import Attribute, AttributeSort, Carrier, FailureLine
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference import evaluate
from precedes.engines.solver.bounded import Bounded
from precedes.engines.solver.logic import Solver, Symbol
from precedes.engines.solver.structure import Happening, Kind

_EVENT_KINDS = {
    Kind.SEND: EventKind.SEND,
    Kind.DELIVERY: EventKind.DELIVER,
    Kind.ARRIVAL: EventKind.ARRIVE,
    Kind.REPEAT: EventKind.DELIVER,
    Kind.ACKNOWLEDGEMENT: EventKind.ACK,
    Kind.NEGATIVE_ACKNOWLEDGEMENT: EventKind.NACK,
    Kind.INSTALLATION: EventKind.VIEW,
}


class Decoding:
    """Reads the solution that a solver has found."""

    def __init__(self, encoding: Bounded, solver: Solver, name: str) -> None:
        self._encoding = encoding
        self._solver = solver
        self._name = name
        self._entities = self._named(encoding.entity_names, len(encoding.entities), _numbered("E"))
        self._messages = self._named(encoding.message_names, len(encoding.messages), message_names())
        self._views = self._view_ids()
        self._groups = self._named(encoding.group_names, len(encoding.groups.groups), _numbered("g"))

    def execution(self) -> Execution:
        """The execution; where the formula asks for a failure line, with marks on it or off it."""
        encoding, solver = self._encoding, self._solver
        histories = [self._history(e) for e in encoding.entities]
        if encoding.entity_names:
            histories.sort(key=lambda history: (len(history.entity), history.entity))
        wanted = encoding.wanted
        found = Execution(
            self._name,
            tuple(histories),
            {self._messages[m]: self._message(m) for m in encoding.messages},
            delta=self._whole("delta") * wanted.unit if wanted.delta else None,
            epsilon=self._whole("epsilon") * wanted.unit if wanted.epsilon else 0,
            groups={
                self._groups[g]: self._members(encoding.groups.members[g])
                for g in encoding.groups.groups
                if solver.holds(encoding.groups.exist[g])
            },
        )
        return _marked(found, solver.holds(encoding.line)) if wanted.failure_line else found

    def _named(self, given: dict[str, list[Symbol]], number: int, fresh: Iterator[str]) -> list[str]:
        names: list[str | None] = [None] * number
        for name, row in given.items():
            for place, is_it in enumerate(row):
                if self._solver.holds(is_it):
                    names[place] = name
        unused = (name for name in fresh if name not in given)
        return [next(unused) if name is None else name for name in names]

    def _view_ids(self) -> list[str]:
        """The ids that the formula names. Where it asks for numbers all others are these; where it does not, v1, v2 and
        so on.
        """
        encoding = self._encoding
        named = self._named(encoding.view_names, len(encoding.views.views), _numbered("v"))
        if not encoding.wanted.view_numbers:
            return named
        return [
            str(self._solver.whole(symbol)) if self._solver.holds(encoding.is_numbered(v)) else named[v]
            for v, symbol in enumerate(encoding.views.numbers)
        ]

    def _message(self, m: int) -> Message:
        encoding, solver = self._encoding, self._solver
        name = self._messages[m]
        sender = next((e for e in encoding.entities if solver.holds(encoding.sender[m][e])), None)
        carried = self._carried(Carrier.MESSAGE, m)
        if sender is None:
            return Message(name, None, None, carried)
        groups = frozenset(
            self._groups[g] for g in encoding.groups.groups if solver.holds(encoding.groups.addressed[m][g])
        )
        return Message(name, self._entities[sender], self._members(encoding.dest[m]), carried, groups)

    def _members(self, row: Sequence[Symbol]) -> frozenset[str]:
        """The entities of which a row holds."""
        return frozenset(self._entities[e] for e, holds in enumerate(row) if self._solver.holds(holds))

    def _carried(self, carrier: Carrier, number: int | None) -> dict[Attribute, str | int]:
        """What a message or a delivery carries, by its number."""
        return {
            attribute: self._value(attribute, symbol)
            for (attribute, of), symbol in self._encoding.attributes.items()
            if attribute.carrier is carrier and of == number
        }

    def _value(self, attribute: Attribute, symbol: Symbol) -> str | int:
        found, wanted = self._solver.whole(symbol), self._encoding.wanted
        match attribute.sort:
            case AttributeSort.TEXT:
                given = wanted.texts
                fresh = (name for name in message_names() if name.upper() not in given)
                names = [*given, *(name.upper() for name in islice(fresh, max(0, found - len(given) + 1)))]
                return names[found]
            case AttributeSort.NUMBER:
                return found
            case AttributeSort.TIME | AttributeSort.DURATION:
                return found * wanted.unit
            case _:
                assert_never(attribute.sort)

    def _history(self, e: int) -> History:
        encoding, solver = self._encoding, self._solver
        sends = [] if encoding.wanted.interleaving else list(product([Kind.SEND], encoding.messages))
        happened = [
            place
            for place in (*sends, *encoding.places)
            if solver.holds(encoding.happened(Happening(*place, e)))
        ]
        if encoding.wanted.interleaving:
            earlier = {
                place: sum(solver.holds(encoding.ordered(e, other, place)) for other in happened)
                for place in happened
            }
        else:
            sends = [place for place in happened if place[0] is Kind.SEND]
            earlier = {place: rank for rank, place in enumerate(sends)}
            for place in happened:
                if place not in earlier:
                    others = [other for other in happened if other not in sends]
                    earlier[place] = len(sends) + sum(
                        solver.holds(encoding.ordered(e, other, place)) for other in others
                    )
        events = [self._event(Happening(kind, m, e)) for kind, m in sorted(happened, key=earlier.__getitem__)]
        events += self._at_the_end(
            e, max((event.time for event in events if event.time is not None), default=0)
        )
        # What is neither a send nor a delivery stands in a history only. Of its interleavings one is taken: all sends
        # come first.
        in_history = any(event.kind not in (EventKind.SEND, EventKind.DELIVER) for event in events)
        return History(
            self._entities[e], tuple(events), interleaved=encoding.wanted.interleaving or in_history
        )

    def _at_the_end(self, e: int, last: int) -> Iterator[Event]:
        """The events whose place does not matter to the formula, all at the time of the last event before them.

        What is only discarded is discarded by the first entity.
        """
        encoding, holds = self._encoding, self._solver.holds
        time = last if encoding.wanted.times else None
        clock: dict[str, int] | None = {} if encoding.wanted.clocks else None
        if encoding.repeats is not None and not encoding.wanted.placed_repeats:
            for m in encoding.messages:
                if holds(encoding.repeats[m][e]):
                    yield Event(EventKind.DELIVER, self._messages[m], time, clock)
        for v in encoding.views.views:
            if holds(encoding.views.again(v, e)):
                yield replace(self._event(Happening(Kind.INSTALLATION, v, e)), time=time)
        for m in encoding.messages:
            if e == 0 and holds(encoding.discarded[m]):
                yield Event(EventKind.DISCARD, self._messages[m], time)
        if encoding.crashed is not None and holds(encoding.crashed[e]):
            yield Event(EventKind.CRASH, None, time)

    def _event(self, event: Happening) -> Event:
        wanted = self._encoding.wanted
        name = f"{event.kind.value} {event.message} at {event.entity}"
        time = self._whole(f"time of {name}") * wanted.unit if wanted.times else None
        clock = None
        if wanted.clocks:
            clock = {
                self._entities[k]: self._whole(f"clock of {name} for {k}") for k in self._encoding.entities
            }
        assert isinstance(event.message, int)
        if event.kind is Kind.INSTALLATION:
            members = self._members(self._encoding.views.members[event.message])
            inside = tuple(entity for entity in self._entities if entity in members)
            return Event(EventKind.VIEW, None, time, clock, inside, view=self._views[event.message])
        carried = self._carried(Carrier.EVENT, self._encoding.delivery_number(event))
        return Event(_EVENT_KINDS[event.kind], self._messages[event.message], time, clock, attributes=carried)

    def _whole(self, name: str) -> int:
        """The value of a number; 0 for one that nothing speaks of."""
        symbol = self._encoding.numbers().get(name)
        return 0 if symbol is None else self._solver.whole(symbol)


def _marked(execution: Execution, on_the_line: bool) -> Execution:
    """The execution with failure marks that stand on the failure line, or do not."""
    wanted = TRUE if on_the_line else FALSE
    logs = [range(len(execution.delivered(entity)) + 1) for entity in execution.entities]
    for places in product(*logs):
        marked = replace(execution, marks=dict(zip(execution.entities, places, strict=True)))
        if evaluate(FailureLine(), marked) == wanted:
            return marked
    raise AssertionError("no marks make the failure line what the solver took it for")


def message_names() -> Iterator[str]:
    """a, b, c, ..., z, a1, b1, ..."""
    for round_number in count():
        suffix = str(round_number) if round_number else ""
        yield from (letter + suffix for letter in ascii_lowercase)


def _numbered(letter: str) -> Iterator[str]:
    return (f"{letter}{number}" for number in count(1))
