"""A behavior told step by step."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, assert_never

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

LOOPS: Final = "↻"
"""Stands where something goes on for ever."""
_LONG: Final = 60
_CARRIERS: Final = frozenset({"Packet", "Data", "Pdu", "PDU"})
"""Names of packets that say no more than that they carry a message."""


def steps(protocol: Protocol[Any], behavior: Sequence[Move], loop: int = 0) -> Iterator[str]:
    """One line for each move, numbered; how it began has none unless something was chosen. The last `loop` moves, which
    go on for ever, are marked.
    """
    number = 0
    for move in behavior:
        text = _text(protocol, move)
        if not isinstance(move, Began):
            number += 1
            yield f"{number:>2}{LOOPS if number >= len(behavior) - loop else ' '} {text}"
        elif text:
            yield f" 0  {text}"


def _text(protocol: Protocol[Any], move: Move) -> str:
    name = protocol.name_of
    match move:
        case Began(cut, stopped, ahead):
            parts = [f"nothing arrives between {name(a)} and {name(b)}" for a, b in sorted(cut)]
            parts += [f"{name(entity)} has stopped" for entity in sorted(stopped)]
            parts += [f"{name(k)}'s clock is {ticks} ahead" for k, ticks in enumerate(ahead) if ticks]
            return "; ".join(parts)
        case Requested(entity, message, step):
            to = _set(protocol, message.destinations)
            return f"{name(entity)} sends {message.name} to {to}{_done(protocol, step)}"
        case Arrived(entity, sender, packet, step, copied, original):
            what = packet_text(packet)
            if original is not None:
                what += f", which was {packet_text(original)},"
            more = " (a copy is still in flight)" if copied else ""
            return f"{what} from {name(sender)} arrives at {name(entity)}{more}{_done(protocol, step)}"
        case Expired(entity, timer, step, early):
            about = "" if timer.about is None else f" about {name(timer.about)}"
            when = " early" if early else ""
            return f"timer {timer.name}{about} of {name(entity)} expires{when}{_done(protocol, step)}"
        case Lost(entity, sender, packet):
            return f"{packet_text(packet)} from {name(sender)} to {name(entity)} is lost"
        case Vanished(entity, sender, packet):
            return f"{packet_text(packet)} from {name(sender)} arrives at {name(entity)}, which has stopped"
        case Crashed(entity):
            return f"{name(entity)} stops"
        case Recovered(entity, step):
            return f"{name(entity)} starts again{_done(protocol, step)}"
        case Ticked(now):
            return f"time goes on to {now}"
        case _:
            assert_never(move)


def _done(protocol: Protocol[Any], step: Step[Any]) -> str:
    """What a step does, but for the transmission of what was just requested."""
    parts: list[str] = []
    for action in step.actions:
        match action:
            case Deliver(message):
                parts.append(f"delivers {message.name}")
            case Discard(message):
                parts.append(f"discards {message.name}")
            case View(members):
                parts.append(f"installs the view {_set(protocol, members)}")
            case Transmit(packet, to):
                receivers = "all" if to is None else _set(protocol, to)
                parts.append(f"transmits {packet_text(packet)} to {receivers}")
            case Arrive():
                pass
            case _:
                assert_never(action)
    return f": {', '.join(parts)}" if parts else ""


def packet_text(packet: Hashable) -> str:
    """A packet by the message that it carries, or by what it is called."""
    if isinstance(packet, Message):
        return packet.name
    if isinstance(packet, tuple):
        text = f"({', '.join(packet_text(part) for part in packet if part is not None)})"
        return text if len(text) <= _LONG else "a packet"
    message = getattr(packet, "message", None)
    kind = type(packet).__name__
    if isinstance(message, Message):
        return message.name if kind in _CARRIERS else f"{kind} of {message.name}"
    text = str(packet)
    return text if len(text) <= _LONG else kind


def _set(protocol: Protocol[Any], entities: frozenset[int]) -> str:
    return ", ".join(protocol.name_of(entity) for entity in sorted(entities)) or "nobody"
