"""Checks of what a handler returns. Every mistake is reported as M006."""

from __future__ import annotations

from typing import Any, Final

from precedes.core.diagnostics import PrecedesError
from precedes.protocol.model import Arrive, Choose, Deliver, Discard, Message, Protocol, Step, Transmit, View
from precedes.protocol.validation import errors

ACTIONS: Final = frozenset({Transmit, Arrive, Deliver, Discard, View})
"""The classes of actions."""
_ANY: Final = Message(0, 1, frozenset())
_WHOLE: Final = frozenset({int})


def steps(protocol: Protocol[Any], outcome: object) -> tuple[Step[Any], ...]:
    """The steps of an outcome that is not None, each of which has a tuple of actions."""
    if type(outcome) is Step:
        # Nearly every outcome; there are hundreds of thousands.
        check_actions(protocol, outcome)
        return (outcome,)
    match outcome:
        case Step():
            found: tuple[Any, ...] = (outcome,)
        case Choose(options):
            found = tuple(_weighted(protocol, option) for option in options)
        case _:
            raise errors.no_outcome(protocol, outcome)
    for step in found:
        check_actions(protocol, step)
    return found


def check_actions(protocol: Protocol[Any], step: Step[Any]) -> None:
    """Raises where what a step does is no tuple of actions."""
    actions: object = step.actions
    if not isinstance(actions, tuple | list):
        raise errors.mistake(
            protocol,
            "M006",
            f"the actions of a step are {errors.short(actions)}",
            "they must be a tuple, and a tuple of one action has a comma: Step(state, (Deliver(message),))",
        )
    for action in actions:
        message = getattr(action, "message", _ANY)
        if type(action) not in ACTIONS or not isinstance(message, Message):
            raise no_action(protocol, action)
        if not _is_whole(message):
            raise errors.mistake(
                protocol,
                "M006",
                f"an action of a step is about {errors.short(message)}",
                "a message has a sender (from 0), a number (from 1) and a frozenset of destinations; handlers pass on"
                " those that came in a request or a packet",
            )


def _is_whole(message: Message) -> bool:
    """Whether a message is made of what a message is made of: models are not type-checked before they run."""
    sender: object = message.sender
    number: object = message.number
    to: object = message.destinations
    return (
        type(sender) is int
        and sender >= 0
        and type(number) is int
        and number >= 1
        and isinstance(to, frozenset)
        and _WHOLE.issuperset(map(type, to))
    )


def no_action(protocol: Protocol[Any], action: object) -> PrecedesError:
    """An action that is none."""
    return errors.mistake(
        protocol,
        "M006",
        f"an action of a step is {errors.short(action)}",
        "actions are Transmit(packet, to), View(members), and Deliver, Arrive and Discard of a message as it came in a "
        "request or a packet",
    )


def receivers(protocol: Protocol[Any], action: Transmit, entities: int) -> tuple[int, ...]:
    """Those to whom a packet is transmitted, in their order."""
    to: object = action.to
    everybody = range(entities)
    if to is None:
        return tuple(everybody)
    if not isinstance(to, frozenset | set | tuple | list):
        raise errors.mistake(
            protocol,
            "M006",
            f"a handler transmitted {errors.short(action.packet)} to {errors.short(to)}",
            "the receivers are a set of entities: Transmit(packet, frozenset({0}))",
        )
    for receiver in to:
        if receiver not in everybody:
            raise errors.nowhere(protocol, receiver, entities)
    return tuple(sorted(to))


def _weighted(protocol: Protocol[Any], option: object) -> Step[Any]:
    match option:
        case (_, Step() as step):
            return step
        case _:
            raise errors.mistake(
                protocol,
                "M006",
                f"an option of Choose is {errors.short(option)}",
                "each is a weight and a step: Choose(((1.0, Step(state)), (2.0, Step(other))))",
            )
