"""Executions of which some kind of thing is left out."""

from __future__ import annotations

from dataclasses import replace

from precedes.core.execution import EventKind, Execution


def without(given: Execution, kind: EventKind) -> Execution:
    """The execution without its sends, nobody being known to have sent anything, or without its deliveries."""
    histories = tuple(
        replace(history, events=tuple(event for event in history.events if event.kind is not kind))
        for history in given.histories
    )
    messages = given.messages
    if kind is EventKind.SEND:
        messages = {
            name: replace(message, sender=None, destinations=None) for name, message in messages.items()
        }
    return replace(given, histories=histories, messages=messages)


def of_one_message(given: Execution) -> Execution:
    """The execution with its first message alone."""
    kept = frozenset(sorted(given.messages)[:1])
    histories = tuple(
        replace(history, events=tuple(e for e in history.events if e.message is None or e.message in kept))
        for history in given.histories
    )
    return replace(
        given,
        histories=histories,
        messages={name: message for name, message in given.messages.items() if name in kept},
        marks={},
    )
