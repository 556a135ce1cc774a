"""A lasso as what is drawn and told of it: packets on their way, timers, and which of it goes on for ever.

Messages alone do not show a loop: nothing is delivered in it. So the packets of the whole behavior are drawn, each
transmission with a name of its own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from precedes.core.execution import Event, EventKind, Execution, History
from precedes.core.execution import Message as Logged
from precedes.protocol.exploration.histories import view_id
from precedes.protocol.exploration.result import Finding
from precedes.protocol.model import Arrive, Deliver, Discard, Message, Protocol, Step, Transmit, View
from precedes.protocol.moves import (
    Arrived,
    Began,
    Crashed,
    Expired,
    Lost,
    Move,
    Recovered,
    Requested,
    Ticked,
    Vanished,
)
from precedes.reports.behavior import packet_text
from precedes.reports.places import Place, place_of

_WORDS: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Drawn:
    """The packets of a lasso as an execution, in which an arrival has an arrow; and what of it is in the loop."""

    execution: Execution
    loop: frozenset[Place]


def drawn(protocol: Protocol[Any], entities: int, finding: Finding) -> Drawn:
    """What is to be drawn of a lasso."""
    drawing = _Drawing(protocol, entities)
    stem = len(finding.behavior) - (finding.loop or 0)
    for number, move in enumerate(finding.behavior):
        drawing.in_loop = number >= stem
        drawing.add(move)
    return drawing.drawn()


def told(finding: Finding) -> str:
    """Which moves of a lasso go on for ever; nothing of a behavior that is none."""
    if finding.loop is None:
        return ""
    last = len(finding.behavior) - 1
    if not finding.loop:
        return f"after move {last} nothing more need happen"
    first = last - finding.loop + 1
    moves = f"move {last} leads" if finding.loop == 1 else f"moves {first} to {last} lead"
    return (
        f"{moves} back to where the loop began, and can go on for ever: every fair step is taken in it, or cannot \
always be taken"
    )


class _Drawing:
    def __init__(self, protocol: Protocol[Any], entities: int) -> None:
        self.protocol = protocol
        self.names = [protocol.name_of(entity) for entity in range(entities)]
        self.logs: list[list[Event]] = [[] for _ in range(entities)]
        self.messages: dict[str, Logged] = {}
        self.used: Counter[str] = Counter()
        self.in_flight: defaultdict[tuple[int, int, Hashable], list[str]] = defaultdict(list)
        self.shown_to: defaultdict[str, set[int]] = defaultdict(set)
        """To whom an arrow leads from a transmission: who gets it, and whom it is lost for. What is in flight in the
        end arrives the next time round."""
        self.cut: frozenset[tuple[int, int]] = frozenset()
        self.in_loop = False
        self.stem: set[Place] = set()
        self.loop: set[Place] = set()

    def add(self, move: Move) -> None:
        """Draw one move."""
        match move:
            case Began(cut, stopped):
                self.cut = cut | {(b, a) for a, b in cut}
                for entity in sorted(stopped):
                    self._log(entity, Event(EventKind.CRASH))
            case Requested(entity, _, step) | Expired(entity, _, step) | Recovered(entity, step):
                if isinstance(move, Recovered):
                    self._log(entity, Event(EventKind.RECOVER))
                if not self._act(entity, step):
                    self._log(entity, Event(EventKind.LOCAL))
            case Arrived(entity, sender, packet, step, copied, original):
                came = packet if original is None else original
                self._log(entity, Event(EventKind.ARRIVE, self._taken(entity, sender, came, keep=copied)))
                self._act(entity, step)
            case Lost(entity, sender, packet) | Vanished(entity, sender, packet):
                self._taken(entity, sender, packet)
            case Crashed(entity):
                self._log(entity, Event(EventKind.CRASH))
            case Ticked():
                pass
            case _:
                assert_never(move)

    def drawn(self) -> Drawn:
        """What was drawn."""
        messages = {
            name: replace(each, destinations=frozenset(self.names[k] for k in self.shown_to[name]) or None)
            for name, each in self.messages.items()
        }
        histories = tuple(History(name, tuple(log)) for name, log in zip(self.names, self.logs, strict=True))
        execution = Execution("lasso", histories, messages, delivery=EventKind.ARRIVE)
        return Drawn(execution, frozenset(self.loop - self.stem))

    def _log(self, entity: int, event: Event) -> None:
        self.logs[entity].append(event)
        place = place_of(self.names[entity], event)
        if place is not None:
            (self.loop if self.in_loop else self.stem).add(place)

    def _act(self, entity: int, step: Step[Any]) -> bool:
        """Draw what a step does. Whether it does anything that is drawn."""
        before = len(self.logs[entity])
        for action in step.actions:
            match action:
                case Transmit(packet, to):
                    receivers = range(len(self.names)) if to is None else sorted(to)
                    self._transmit(entity, packet, receivers)
                case Deliver(message):
                    self._of_message(entity, EventKind.DELIVER, message)
                case Discard(message):
                    self._of_message(entity, EventKind.DISCARD, message)
                case View(members):
                    named = tuple(self.names[k] for k in sorted(members))
                    view = view_id(members, self.names)
                    self._log(entity, Event(EventKind.VIEW, members=named, view=view))
                case Arrive():
                    pass
                case _:
                    assert_never(action)
        return len(self.logs[entity]) > before

    def _transmit(self, entity: int, packet: Hashable, receivers: Sequence[int]) -> None:
        text = _name(packet)
        self.used[text] += 1
        name = text if self.used[text] == 1 else f"{text}_{self.used[text]}"
        self.messages[name] = Logged(name, self.names[entity], None)
        for receiver in receivers:
            if (entity, receiver) in self.cut:
                self.shown_to[name].add(receiver)
            else:
                self.in_flight[entity, receiver, packet].append(name)
        self._log(entity, Event(EventKind.SEND, name))

    def _taken(self, entity: int, sender: int, packet: Hashable, *, keep: bool = False) -> str:
        """The transmission of a packet that comes to its end at an entity."""
        waiting = self.in_flight[sender, entity, packet]
        name = waiting[0] if keep else waiting.pop(0)
        self.shown_to[name].add(entity)
        return name

    def _of_message(self, entity: int, kind: EventKind, message: Message) -> None:
        sender = self.names[message.sender]
        self.messages.setdefault(message.name, Logged(message.name, sender, None))
        self.used[message.name] += not self.used[message.name]
        self._log(entity, Event(kind, message.name))


def _name(packet: Hashable) -> str:
    """A short name of a packet: the message that it carries, or what it is."""
    text = packet_text(packet)
    if isinstance(packet, tuple):
        text = "_".join(_WORDS.findall(text))
    return text if text.isidentifier() else type(packet).__name__
