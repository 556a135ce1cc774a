"""Whether the entities of a model can be exchanged, as the model declares: a handler that is called after a
renaming of the entities does the same, renamed.

The search visits one of all renamings of a state. That all entities begin in the same way is checked at once.
Handlers are called again with renamed arguments: at first for every new call, later only now and then. To
repeat every call with all renamings takes longer than the search saves, and is done on request. Then it is proved
within the bounds: whatever a handler does in a state that was left out, it does, renamed, in one that was visited. What
else is local is compared by `local_symmetry`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import (
    Any,
    Final,
    TypeAlias,
    assert_never,
)

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute
from precedes.protocol.model import (
    Action,
    Arrive,
    Deliver,
    Discard,
    Here,
    Message,
    Protocol,
    Step,
    Timer,
    Transmit,
    View,
)
from precedes.protocol.network import Reliable, Timed
from precedes.protocol.validation import errors, returned_values
from precedes.protocol.validation.carried_values import CarriedValues
from precedes.protocol.validation.handler_calls import called

ALL_OF: Final = 500
"""So many calls are all looked at ..."""
EVERY: Final = 16
"""... and from then on one in so many."""

Renaming: TypeAlias = tuple[int, ...]
"""`names[k]` is what entity k becomes."""


def renamed_state(protocol: Protocol[Any], state: Any, names: Renaming) -> Any:
    """A state in other names; PrecedesError M005 where the model cannot say."""
    return _renamed(protocol, "renamed", protocol.renamed, state, names)


def renamed_packet(protocol: Protocol[Any], packet: Hashable, names: Renaming) -> Any:
    """A packet in other names; PrecedesError M005 where the model cannot say."""
    return _renamed(protocol, "renamed_packet", protocol.renamed_packet, packet, names)


class Exchanging:
    """Holds what handlers do against what they do in other names. PrecedesError M014 where these differ.

    Each call that is looked at is tried with the next renaming in turn, or every call with `every` renaming.
    """

    def __init__(
        self, protocol: Protocol[Any], entities: int, renamings: tuple[Renaming, ...], *, every: bool = False
    ) -> None:
        self.every = every
        self.protocol = protocol
        self.entities = entities
        self.renamings = tuple(names for names in renamings if names != tuple(range(entities)))
        network = protocol.network
        self.ordered = not isinstance(network, Timed) and not (
            isinstance(network, Reliable) and not network.fifo
        )
        self._carried = CarriedValues(protocol)
        self._carriers: set[Message] = set()
        self._calls = 0
        self._turn = 0

    def beginning(self) -> None:
        """Every entity begins as every other one does."""
        for entity in range(self.entities):
            at = Here(entity, self.entities)
            state = called(self.protocol, "start", at)
            for names in self.renamings:
                there = replace(at, entity=names[entity])
                expected = renamed_state(self.protocol, state, names)
                got = called(self.protocol, "start", there)
                if got != expected:
                    raise self._different("start", (at, (), state), (there, (), got))

    def watch(self, handler: str, at: Here, state: Any, arguments: tuple[Any, ...], outcome: object) -> None:
        """Take a call of a handler into account: where it is looked at, compare."""
        if handler == "send":
            self._carries_the_same(arguments[0])
        if self.looks_at_next():
            self.compare(handler, at, state, arguments, outcome)

    def looks_at_next(self) -> bool:
        """Count a call. Whether it is looked at."""
        self._calls += 1
        return self.every or self._calls <= ALL_OF or self._calls % EVERY == 0

    def compare(
        self, handler: str, at: Here, state: Any, arguments: tuple[Any, ...], outcome: object
    ) -> None:
        """Call a handler in other names, and compare."""
        if state is None or not self.renamings:
            return
        if self.every:
            for names in self.renamings:
                self._compare(handler, at, state, arguments, outcome, names)
        else:
            names = self.renamings[self._turn % len(self.renamings)]
            self._turn += 1
            self._compare(handler, at, state, arguments, outcome, names)

    def _compare(
        self,
        handler: str,
        at: Here,
        state: Any,
        arguments: tuple[Any, ...],
        outcome: object,
        names: Renaming,
    ) -> None:
        there = replace(at, entity=names[at.entity])
        other = renamed_state(self.protocol, state, names)
        given = self._arguments(handler, arguments, names, there, other)
        if given is None:
            return
        again = called(self.protocol, handler, there, other, *given)
        expected, got = self.forms(outcome, names), self.forms(again, None)
        if expected != got:
            raise self._different(
                handler, (at, (state, *arguments), outcome), (there, (other, *given), again)
            )

    def _carries_the_same(self, message: Message) -> None:
        """A message carries what it carries in other names."""
        if message in self._carriers:
            return
        self._carriers.add(message)
        for names in self.renamings:
            other = message.renamed(names)
            one, there = self._carried.of(message), self._carried.of(other)
            if one != there:
                raise errors.mistake(
                    self.protocol,
                    "M014",
                    f"{message.name} carries {_worded(one)}, and {_worded(there)} when the entities exchange their "
                    "names, but symmetric is True",
                    "remove `symmetric = True` from the model, or make `carries` independent of the names of entities; "
                    f"it was called with {errors.short(message)} and {errors.short(other)}",
                )

    def _arguments(
        self, handler: str, arguments: tuple[Any, ...], names: Renaming, there: Here, state: Any
    ) -> tuple[Any, ...] | None:
        """None for a timer that in other names may have any name."""
        if handler == "send":
            return (arguments[0].renamed(names),)
        if handler == "arrive":
            packet, sender = arguments
            return renamed_packet(self.protocol, packet, names), names[sender]
        if handler == "expire":
            timer: Timer = arguments[0]
            about = None if timer.about is None else names[timer.about]
            other = replace(timer, about=about)
            return (other,) if other in called(self.protocol, "timers", there, state) else None
        return arguments

    def forms(self, outcome: object, names: Renaming | None) -> Counter[Hashable] | None:
        """An outcome as what can be told apart of it."""
        if outcome is None:
            return None
        return Counter(self._form(step, names) for step in returned_values.steps(self.protocol, outcome))

    def _form(self, step: Step[Any], names: Renaming | None) -> Hashable:
        packets: dict[int, list[Any]] = {}
        others: list[Any] = []
        for action in step.actions:
            if isinstance(action, Transmit):
                packet = action.packet
                if names is not None:
                    packet = renamed_packet(self.protocol, packet, names)
                for receiver in returned_values.receivers(self.protocol, action, self.entities):
                    packets.setdefault(receiver if names is None else names[receiver], []).append(packet)
            else:
                others.append(action if names is None else renamed_action(action, names))
        state, clock = step.state, step.clock
        if names is not None:
            state, clock = renamed_state(self.protocol, state, names), moved(clock, names)
        return (
            state,
            clock,
            tuple(others),
            frozenset(
                (receiver, tuple(sent) if self.ordered else frozenset(Counter(sent).items()))
                for receiver, sent in packets.items()
            ),
        )

    def _different(
        self,
        handler: str,
        one: tuple[Here, tuple[Any, ...], object],
        other: tuple[Here, tuple[Any, ...], object],
    ) -> PrecedesError:
        """Two calls of a handler: where, with what, and what came of them."""
        name_of = self.protocol.name_of
        calls = "".join(
            f"\n        {name_of(where.entity)}: {handler}({', '.join(map(errors.short, what))})"
            f"\n            returned {errors.short(told)}"
            for where, what, told in (one, other)
        )
        return errors.mistake(
            self.protocol,
            "M014",
            f"{handler} of {name_of(other[0].entity)} does not do what it does at {name_of(one[0].entity)} when the"
            " entities exchange their names, but symmetric is True",
            "remove `symmetric = True` from the model, or correct the handler, renamed or renamed_packet; "
            f"it was called with{calls}",
        )


def _renamed(
    protocol: Protocol[Any], method: str, make: Callable[[Any, Renaming], Any], value: Any, names: Renaming
) -> Any:
    try:
        return make(value, names)
    except Exception as error:  # noqa: BLE001 - whatever a model raises is told as its mistake
        raise errors.mistake(
            protocol,
            "M005",
            f"{method} raised {type(error).__name__}: {error}",
            f"it was called with {errors.short(value)} and {names}; without `symmetric = True` it is not needed",
        ) from None


def _worded(carried: Mapping[Attribute, str | int]) -> str:
    return ", ".join(f"{attribute.name}={value}" for attribute, value in carried.items()) or "nothing"


def renamed_action(action: Deliver | Arrive | Discard | View, names: Renaming) -> Action:
    match action:
        case Deliver(message, clock):
            return Deliver(message.renamed(names), moved(clock, names))
        case View(members):
            return View(frozenset(names[k] for k in members))
        case Arrive(message) | Discard(message):
            return replace(action, message=message.renamed(names))
        case _:
            assert_never(action)


def moved(clock: tuple[int, ...] | None, names: Renaming) -> tuple[int, ...] | None:
    if clock is None:
        return None
    moved = [0] * len(clock)
    for entity, count in enumerate(clock):
        moved[names[entity]] = count
    return tuple(moved)
