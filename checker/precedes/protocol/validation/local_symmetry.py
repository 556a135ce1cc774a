"""Whether everything local commutes with renaming the entities: what a proof of `symmetric` needs beyond the handlers.

A search with symmetry asks one state of each set of renamings, and takes for granted what the others would say: which
timers run and what they do, what waits, what a log is, what a crash leaves, what a packet may become, what an invariant
says. It also takes for granted that two renamings one after the other are one renaming. On request each of these is
compared under every renaming, for each state and packet that the search meets. Then nothing is taken for granted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any, assert_never

from precedes.core.diagnostics import PrecedesError
from precedes.protocol.invariants import Invariant, OfEntity, OfPair, OfState, OfStep, Situation
from precedes.protocol.model import Here, Message, Protocol, Step, Timer, Transmit
from precedes.protocol.network import SingleChannel
from precedes.protocol.validation import errors
from precedes.protocol.validation.handler_calls import called
from precedes.protocol.validation.symmetry_check import (
    Exchanging,
    Renaming,
    moved,
    renamed_action,
    renamed_packet,
    renamed_state,
)


class LocalSymmetry:
    """Compares what is local under every renaming. PrecedesError M014 where it differs.

    Renamings compose if each composes with those that exchange two neighbors, for these make all others.
    """

    def __init__(self, exchanging: Exchanging) -> None:
        self.exchanging = exchanging
        self.protocol: Protocol[Any] = exchanging.protocol
        self.renamings = exchanging.renamings
        everybody = range(exchanging.entities)
        self.identity: Renaming = tuple(everybody)
        self.generators = tuple(
            tuple({k: k + 1, k + 1: k}.get(each, each) for each in everybody) for k in everybody[:-1]
        )

    def of_state(self, at: Here, state: Any) -> None:
        """Compare what the model says of the state of an entity that has not stopped."""
        self._composes("renamed", lambda value, names: renamed_state(self.protocol, value, names), state)
        for names in self.renamings:
            there = replace(at, entity=names[at.entity])
            other = renamed_state(self.protocol, state, names)
            self._same(
                "waiting",
                frozenset(message.renamed(names) for message in self.protocol.waiting(state)),
                self.protocol.waiting(other),
                (state, other),
            )
            log = self.protocol.receipt_log(state)
            self._same(
                "receipt_log",
                None if log is None else tuple(message.renamed(names) for message in log),
                self.protocol.receipt_log(other),
                (state, other),
            )
            left = called(self.protocol, "crash", at, state)
            self._same(
                "crash",
                None if left is None else renamed_state(self.protocol, left, names),
                called(self.protocol, "crash", there, other),
                (state, other),
            )
            expected, got = self._timers(at, state, names), self._timers(there, other, None)
            self._same("timers", expected, got, (state, other))

    def of_packet(self, packet: Hashable) -> None:
        """Compare what may become of a packet."""
        self._composes(
            "renamed_packet", lambda value, names: renamed_packet(self.protocol, value, names), packet
        )
        for names in self.renamings:
            other = renamed_packet(self.protocol, packet, names)
            self._same(
                "corrupted",
                frozenset(
                    renamed_packet(self.protocol, each, names) for each in self.protocol.corrupted(packet)
                ),
                frozenset(self.protocol.corrupted(other)),
                (packet, other),
            )

    def _timers(self, at: Here, state: Any, names: Renaming | None) -> frozenset[tuple[Any, int]]:
        """The timers of a state, and what each does now, by what the search knows of them: their names are free."""
        counts: dict[Any, int] = {}
        for timer in called(self.protocol, "timers", at, state):
            about = timer.about if timer.about is None or names is None else names[timer.about]
            form: Any = None
            if timer.due is None or timer.due <= at.now:
                forms = self.exchanging.forms(called(self.protocol, "expire", at, state, timer), names)
                form = frozenset(forms.items()) if forms is not None else None
            key = (timer.due, timer.after, about, timer.patience, form)
            counts[key] = counts.get(key, 0) + 1
        return frozenset(counts.items())

    def _composes(self, method: str, make: Callable[[Any, Renaming], Any], value: Any) -> None:
        self._same(method, value, make(value, self.identity), (value, self.identity))
        for names in self.renamings:
            once = make(value, names)
            for generator in self.generators:
                both = tuple(generator[k] for k in names)
                self._same(method, make(value, both), make(once, generator), (value, names, generator))

    def _same(self, what: str, expected: object, got: object, of: Iterable[object]) -> None:
        if expected != got:
            raise self._different(what, (expected, got), of)

    def _different(self, what: str, said: tuple[object, object], of: Iterable[object]) -> PrecedesError:
        given = "".join(f"\n        {errors.short(each)}" for each in of)
        return errors.mistake(
            self.protocol,
            "M014",
            f"{what} says something else when the entities exchange their names, but symmetric is True",
            f"remove `symmetric = True` from the model, or correct {what}, renamed or renamed_packet; "
            f"it said {errors.short(said[1])}, and {errors.short(said[0])} was expected, of{given}",
        )

    # ---- invariants ----

    def compared(self, invariant: Invariant) -> Invariant:
        """The invariant, which is asked under every renaming wherever it is asked."""
        match invariant:
            case OfEntity(name=name, check=of_entity):
                return replace(invariant, check=self._asking(name, of_entity, self._entities))
            case OfPair(name=name, check=of_pair):
                return replace(invariant, check=self._asking(name, of_pair, self._entities))
            case OfStep(name=name, check=of_step):
                return replace(invariant, check=self._asking(name, of_step, self._step))
            case OfState(name=name, check=of_state):
                return replace(invariant, check=self._asking(name, of_state, self._situation))
            case _:
                assert_never(invariant)

    def _asking(
        self,
        name: str,
        check: Callable[..., bool | None],
        renamed: Callable[[tuple[Any, ...], Renaming], tuple[Any, ...]],
    ) -> Callable[..., bool | None]:
        def asked(protocol: Any, *arguments: Any) -> bool | None:
            judged = check(protocol, *arguments)
            for names in self.renamings:
                other = renamed(arguments, names)
                self._same(name, judged, check(protocol, *other), (*arguments, *other))
            return judged

        return asked

    def _entities(self, arguments: tuple[Any, ...], names: Renaming) -> tuple[Any, ...]:
        """Of one or two entities, each where it is and its state."""
        return tuple(
            replace(each, entity=names[each.entity])
            if isinstance(each, Here)
            else renamed_state(self.protocol, each, names)
            for each in arguments
        )

    def _step(self, arguments: tuple[Any, ...], names: Renaming) -> tuple[Any, ...]:
        at, before, cause, step = arguments
        there, state = self._entities((at, before), names)
        return there, state, self._cause(cause, names), self._renamed_step(step, names)

    def _cause(self, cause: Hashable, names: Renaming) -> Any:
        if isinstance(cause, Message):
            return cause.renamed(names)
        if isinstance(cause, Timer):
            return cause if cause.about is None else replace(cause, about=names[cause.about])
        return renamed_packet(self.protocol, cause, names)

    def _renamed_step(self, step: Step[Any], names: Renaming) -> Step[Any]:
        actions = tuple(
            Transmit(
                renamed_packet(self.protocol, action.packet, names),
                None if action.to is None else frozenset(names[k] for k in action.to),
            )
            if isinstance(action, Transmit)
            else renamed_action(action, names)
            for action in step.actions
        )
        return Step(renamed_state(self.protocol, step.state, names), actions, moved(step.clock, names))

    def _situation(self, arguments: tuple[Any, ...], names: Renaming) -> tuple[Any, ...]:
        (given,) = arguments
        where = [names.index(k) for k in self.identity]
        flights = [
            (names[sender], names[receiver], renamed_packet(self.protocol, packet, names))
            for sender, receiver, packet in given.under_way
        ]
        one_channel = isinstance(self.protocol.network, SingleChannel)
        flights.sort(key=lambda each: each[1] if one_channel else (each[1], each[0]))
        return (
            Situation(
                tuple(
                    None if given.states[k] is None else renamed_state(self.protocol, given.states[k], names)
                    for k in where
                ),
                tuple(flights),
                tuple(tuple(message.renamed(names) for message in given.sent[k]) for k in where),
                tuple(tuple(message.renamed(names) for message in given.delivered[k]) for k in where),
            ),
        )
