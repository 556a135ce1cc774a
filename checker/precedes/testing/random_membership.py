"""Random groups of entities, messages that are addressed to them, and views that entities install.

Views are often those of a group membership service: the members of a view install it at about the same moment. Now and
then somebody installs a view that it is not in, again, late or never, or nobody says which view it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from precedes.core.execution import UNKNOWN_NAME, Event, EventKind, Execution, Message
from precedes.testing.choices import Choices, chance, pick

GROUPS: Final = ("G1", "G2", "G3")
VIEWS: Final = (("V1", "V2", "V3"), ("1", "2", "3"), ("1", "10", "2"), ("-1", "V2", "2"))
"""What views may be called in an execution."""
OUTSIDE: Final = "E9"
"""A member of views that is not in the cluster."""

Step = tuple[str, Event]


def installing(choices: Choices, steps: list[Step], entities: tuple[str, ...]) -> list[Step]:
    """The events in their global order, with views that entities install among them."""
    unnamed = chance(choices, 10)
    orderly = chance(choices, 50)
    place = 0
    ids = pick(choices, VIEWS)
    for number in range(choices.integer(0, len(ids))):
        inside = tuple(entity for entity in entities if not chance(choices, 25))
        members = (*inside, OUTSIDE) if chance(choices, 10) else inside
        name = None if unnamed and chance(choices, 60) else ids[number]
        view = Event(EventKind.VIEW, members=members, view=name)
        place = place if number == 0 and chance(choices, 70) else choices.integer(place, len(steps))
        for entity in entities:
            if chance(choices, 10 if entity in inside else 95):
                continue
            here = place if orderly or chance(choices, 60) else choices.integer(0, len(steps))
            steps.insert(here, (entity, view))
            place += here <= place
            if chance(choices, 8):
                steps.insert(choices.integer(here + 1, len(steps)), (entity, view))
    return steps


def grouped(choices: Choices, execution: Execution) -> Execution:
    """The execution with groups, and with messages that are addressed to them. Members are entities with events, as a
    trace says of a row whose entity is in which groups.
    """
    acting = [history.entity for history in execution.histories if history.events]
    drawn = {
        name: frozenset(entity for entity in acting if not chance(choices, 45))
        for name in GROUPS[: choices.integer(0, len(GROUPS))]
    }
    groups = {name: members for name, members in drawn.items() if members}
    if chance(choices, 15):
        groups[UNKNOWN_NAME] = frozenset(execution.entities)
    if not groups:
        return execution
    messages = {
        name: _addressed(choices, message, groups) if message.logged and chance(choices, 60) else message
        for name, message in execution.messages.items()
    }
    if not any(UNKNOWN_NAME in message.groups for message in messages.values()):
        groups.pop(UNKNOWN_NAME, None)
    return replace(execution, groups=groups, messages=messages)


def _addressed(choices: Choices, message: Message, groups: dict[str, frozenset[str]]) -> Message:
    """The message addressed to one or two groups, and by name to all that it was, or to those who are not in them."""
    to = frozenset(pick(choices, tuple(groups)) for _ in range(1 + chance(choices, 30)))
    named = message.destinations or frozenset()
    kept = choices.integer(0, 9)
    if kept < 6:
        named -= frozenset().union(*(groups[group] for group in to))
    elif kept < 8:
        named = frozenset()
    return replace(message, destinations=named, groups=to)
