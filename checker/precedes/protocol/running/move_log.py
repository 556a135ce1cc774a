"""What the handlers of a run were called for, entity by entity: enough to call them again.

The processes of a run know what nobody sees in a trace: which packet came in when, and which time-out expired. Whoever
judges the trace can follow these moves with the handlers of the model, and need not search for them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import astuple, dataclass
from enum import Enum
from typing import Any, assert_never

import msgspec
from msgspec import Raw, Struct

from precedes.protocol.model import Timer
from precedes.protocol.running.encoding import Encoding


class Handler(Enum):
    """The handlers of a model that make a move, by their names."""

    SEND = "send"
    ARRIVE = "arrive"
    EXPIRE = "expire"
    CRASH = "crash"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class LoggedMove:
    """A handler, what it was called for, and which of several steps was taken.

    `time`: in ticks since the beginning, by a clock that all share. `cause`: the message that was asked to be sent, the
    packet that came in, the timer that expired, or None. `sender`: who transmitted the packet.
    """

    time: int
    handler: Handler
    cause: Hashable
    choice: int = 0
    sender: int = -1


@dataclass(frozen=True, slots=True)
class MoveLog:
    """The moves of each entity in their order. `channel`: where all packets share a channel, who transmitted into it,
    once for each step.
    """

    entities: tuple[tuple[LoggedMove, ...], ...]
    channel: tuple[int, ...] | None = None


class _Written(Struct, frozen=True, array_like=True):
    """A move as bytes."""

    time: int
    handler: str
    cause: Raw
    choice: int
    sender: int


class _Whole(Struct, frozen=True, array_like=True):
    """A log as bytes."""

    entities: tuple[tuple[_Written, ...], ...]
    channel: tuple[int, ...] | None


def move_of(time: int, calling: tuple[Any, ...], choice: int) -> LoggedMove:
    """The move that a call of a handler is: its name, where it was called, and its arguments."""
    handler, _, *given = calling
    kind = Handler(handler)
    match kind:
        case Handler.ARRIVE:
            _, packet, sender = given
            return LoggedMove(time, kind, packet, choice, sender)
        case Handler.SEND | Handler.EXPIRE:
            _, cause = given
            return LoggedMove(time, kind, cause, choice)
        case Handler.CRASH | Handler.RECOVER:
            return LoggedMove(time, kind, None, choice)
        case _:
            assert_never(kind)


def written(move: LoggedMove, encoding: Encoding) -> bytes:
    """A move as JSON."""
    said = astuple(move.cause) if isinstance(move.cause, Timer) else move.cause
    return msgspec.json.encode(
        _Written(move.time, move.handler.value, Raw(encoding.encode(said)), move.choice, move.sender)
    )


def joined(entities: list[bytes], channel: tuple[int, ...] | None) -> bytes:
    """A log as JSON, from the moves of each entity, separated by commas."""
    lists = b",".join(b"[" + each + b"]" for each in entities)
    return b"[[" + lists + b"]," + msgspec.json.encode(channel) + b"]"


def read(text: bytes, encoding: Encoding) -> MoveLog:
    """The log that was written."""
    whole = msgspec.json.decode(text, type=_Whole)
    return MoveLog(
        tuple(tuple(_move(each, encoding) for each in moves) for moves in whole.entities), whole.channel
    )


def _move(written: _Written, encoding: Encoding) -> LoggedMove:
    cause = encoding.decode(bytes(written.cause))
    handler = Handler(written.handler)
    if handler is Handler.EXPIRE:
        cause = Timer(*cause)
    return LoggedMove(written.time, handler, cause, written.choice, written.sender)
