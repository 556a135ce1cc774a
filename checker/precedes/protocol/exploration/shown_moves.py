"""The moves of a behavior that is shown. The steps that handlers returned are not kept: they are called again."""

from __future__ import annotations

from typing import Any, assert_never

from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration.interned_values import Cause, Trigger
from precedes.protocol.exploration.transition_table import TransitionTable
from precedes.protocol.model import Message, Step, Timer
from precedes.protocol.moves import Arrived, Crashed, Expired, Lost, Move, Recovered, Requested, Vanished
from precedes.protocol.validation import returned_values
from precedes.protocol.validation.handler_calls import called


def move(table: TransitionTable, entity: int, transition: int) -> Move:
    """The move that a transition of an entity is."""
    triggers = table.triggers.values
    _, _, step, kind, cause = table.matrices.arrays["transitions"][transition].tolist()
    if kind == c.CRASHED:
        after = table.inner_state(int(table.matrices.arrays["steps"][step, c.AFTER]))
        return Crashed(entity, table.states.values[after.state])
    made = Step(None) if step < 0 else _step(table, step)
    by = -1 if step < 0 else int(table.matrices.arrays["steps"][step, c.BY])
    if kind == c.REQUESTED_MOVE:
        return Requested(entity, triggers[by], made)
    if kind in (c.EXPIRED, c.EXPIRED_EARLY):
        return Expired(entity, triggers[by], made, kind == c.EXPIRED_EARLY)
    if kind == c.RECOVERED:
        return Recovered(entity, made)
    came: Cause = triggers[cause]
    if kind == c.LOST:
        return Lost(entity, came.sender, came.packet)
    if kind == c.VANISHED:
        return Vanished(entity, came.sender, came.packet)
    assert kind in (c.ARRIVED, c.COPIED)
    return Arrived(entity, came.sender, came.packet, made, kind == c.COPIED, came.original)


def _step(table: TransitionTable, number: int) -> Step[Any]:
    """A step, by calling its handler again. PrecedesError M010 where that returns something else now."""
    row = table.matrices.arrays["steps"][number].tolist()
    of, by = row[c.WHENCE], row[c.BY]
    at, state = table.called_in(of)
    handler, arguments = _call(table.triggers.values[by] if by >= 0 else None)
    outcome = called(table.protocol, handler, at, state, *arguments)
    steps = () if outcome is None else returned_values.steps(table.protocol, outcome)
    made = steps[row[c.OPTION] :][:1]
    expected = (row[c.AFTER], row[c.EMISSION], row[c.ADDS])
    if not made or table.made(handler, of, made[0], arguments) != expected:
        raise table.impure(f"{handler} of {table.protocol.name_of(at.entity)}", state, *arguments)
    return made[0]


def _call(trigger: Trigger) -> tuple[str, tuple[Any, ...]]:
    """The handler that is called for something, and with what."""
    match trigger:
        case Cause(sender, packet):
            return "arrive", (packet, sender)
        case Message():
            return "send", (trigger,)
        case Timer():
            return "expire", (trigger,)
        case None:
            return "recover", ()
        case _:
            assert_never(trigger)
