"""What a finding shows of an execution: its events in words, the places that matter, a scenario to keep."""

from __future__ import annotations

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Event as ExecutionEvent
from precedes.core.execution import EventKind, Execution
from precedes.core.witness import Witness
from precedes.gate.findings import Event, Mark
from precedes.language.quoting import shown
from precedes.language.scenario_printer import as_scenario


def events_of(execution: Execution) -> tuple[Event, ...]:
    """The events of an execution in words, history by history."""
    return tuple(
        Event(history.entity, _said(event, execution))
        for history in execution.histories
        for event in history.events
    )


def marks_of(execution: Execution, witness: Witness | None) -> tuple[Mark, ...]:
    """The places of an execution that a witness is about."""
    from precedes.reports.places import places

    found = frozenset() if witness is None else places(execution, witness)
    return tuple(Mark(*place) for place in sorted((entity, kind.value, name) for entity, kind, name in found))


def scenario_of(execution: Execution, name: str) -> str:
    """An execution as a scenario to keep; empty where the language has no way to write it."""
    try:
        return as_scenario(execution, name)
    except PrecedesError:
        return ""


def _said(event: ExecutionEvent, execution: Execution) -> str:
    about = event.view if event.kind is EventKind.VIEW else event.message
    text = event.kind.value if about is None else f"{event.kind.value} {shown(about)}"
    if event.kind is EventKind.SEND and event.message is not None:
        to = execution.messages[event.message].destinations or frozenset()
        reached = [shown(entity) for entity in execution.entities if entity in to]
        reached += [f"group {shown(group)}" for group in sorted(execution.messages[event.message].groups)]
        text += f" to {', '.join(reached) or 'nobody'}"
    return text if event.time is None else f"{text} at {event.time} ns"
