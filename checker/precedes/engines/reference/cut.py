"""The part of an execution that a witness is about."""

from __future__ import annotations

from dataclasses import replace

from precedes.core.execution import Execution
from precedes.core.witness import Witness


def cut(execution: Execution, witness: Witness) -> Execution:
    """The execution with the messages of the witness alone; every entity stays, what has no message, and each failure
    mark with the deliveries before it.
    """
    kept = set(witness.messages)
    histories = tuple(
        replace(history, events=tuple(e for e in history.events if e.message is None or e.message in kept))
        for history in execution.histories
    )
    marks = {
        entity: sum(message in kept for message in execution.delivered(entity)[:place])
        for entity, place in execution.marks.items()
    }
    messages = {name: message for name, message in execution.messages.items() if name in kept}
    return replace(
        execution,
        histories=histories,
        messages=messages,
        marks=marks,
        acknowledging=execution.has_acknowledgements,
    )
