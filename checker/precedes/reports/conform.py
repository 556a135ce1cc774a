"""Whether recorded executions conform to a model, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, assert_never

from precedes.core.counts import counted
from precedes.core.execution import EventKind
from precedes.core.printable import json_text
from precedes.core.verdict import Verdict
from precedes.jobs.conform import LIMITS, Conformed, Judged, limits_said
from precedes.protocol import Message
from precedes.protocol.conformance.observation import Expected
from precedes.protocol.conformance.state_values import said
from precedes.protocol.conformance.verdicts import Conforms, Deviates, Naming, Undecided
from precedes.protocol.validation.errors import shortened
from precedes.reports.behavior import steps
from precedes.traces.notices import Notice

JSON_SCHEMA: Final = 1
_LAST: Final = 15
"""How many moves of a run the text shows."""
_SAID: Final[Mapping[EventKind, str]] = {
    EventKind.SEND: "sends",
    EventKind.DELIVER: "delivers",
    EventKind.ARRIVE: "logs the arrival of",
    EventKind.DISCARD: "discards",
    EventKind.CRASH: "stops",
    EventKind.RECOVER: "starts again",
    EventKind.VIEW: "installs the view",
}
_WORDS: Final[Mapping[Verdict, str]] = {
    Verdict.HOLDS: "conforms",
    Verdict.VIOLATED: "does not conform",
    Verdict.UNKNOWN: "undecided",
}


def as_text(found: Conformed, notices: tuple[Notice, ...], *, verbose: bool = False) -> str:
    """The report for people. `verbose`: with runs of executions that conform."""
    return "".join(f"{line}".rstrip() + "\n" for line in _lines(found, notices, verbose=verbose))


def _lines(found: Conformed, notices: tuple[Notice, ...], *, verbose: bool) -> Iterator[str]:
    for notice in notices:
        yield f"notice {notice.render()}"
    yield f"{heading(found)}: {counted(found.executions, 'execution')}"
    for word, _, number in counted_answers(found):
        if number:
            yield f"  {word:<16}  {number:,}"
    for judged in found.shown:
        match judged.answer:
            case Conforms() as answer:
                if verbose:
                    yield ""
                    yield from explained(found, judged)
                    yield from (f"    {line}" for line in steps(judged.protocol, answer.behavior))
                    yield from _names(judged)
            case Deviates() | Undecided():
                yield ""
                yield from explained(found, judged)
            case _:
                assert_never(judged.answer)
    yield ""
    yield closing(found)


def heading(found: Conformed) -> str:
    """The model and its form."""
    protocol = found.protocols[0]
    return protocol.name if protocol.form is None else f"{protocol.name} ({protocol.form})"


def counted_answers(found: Conformed) -> Iterator[tuple[str, Verdict, int]]:
    """Each answer in words, its verdict, and how many executions have it."""
    counts = (found.conforming, found.deviating, found.undecided)
    for (verdict, word), number in zip(_WORDS.items(), counts, strict=True):
        yield word, verdict, number


def explained(found: Conformed, judged: Judged) -> Iterator[str]:
    """Why an execution has the answer that it has, in lines."""
    match judged.answer:
        case Conforms():
            yield f"{judged.execution} conforms: a run of the model has what was recorded"
        case Deviates() as answer:
            yield from as_lines(found, judged, answer)
        case Undecided(reason):
            yield f"{judged.execution} is undecided: {reason}"
        case _:
            assert_never(judged.answer)


def as_lines(found: Conformed, judged: Judged, answer: Deviates) -> Iterator[str]:
    """An execution that does not conform: the first event that no run has, the run before it, and where that ends."""
    yield f"{judged.execution} does not conform{_within(found, answer)}: {first_said(judged, answer)}"
    yield from _again(found, judged, answer)
    where = "there" if answer.event is not None else f"then at {judged.naming.entities[answer.entity]}"
    yield f"  the model allows {where}: {_allowed(judged, answer)}"
    if answer.event is not None and answer.unlogged:
        word = answer.event.kind.value
        yield f"  no run that was tried logs any event `{word}`: if the model has none, add --ignore {word}"
    explained = (
        f"{number} of {name}" for number, name in zip(answer.explained, judged.naming.entities, strict=True)
    )
    yield f"  events before it that a run explains: {', '.join(explained)}"
    lines = list(steps(judged.protocol, answer.behavior))
    if len(lines) > _LAST:
        yield f"    ... {counted(len(lines) - _LAST, 'move')} before"
    yield from (f"    {line}" for line in lines[-_LAST:])
    yield "  states after that run:"
    for name, state in zip(judged.naming.entities, answer.states, strict=True):
        yield f"    {name}: {'has stopped' if state is None else shortened(said(state))}"
    yield from _names(judged)


def _again(found: Conformed, judged: Judged, answer: Deviates) -> Iterator[str]:
    """That a message was delivered before, where that may be what is wrong."""
    event, where = answer.event, judged.naming.entities[answer.entity]
    if event is None or event.kind is not EventKind.DELIVER or event.message is None:
        return
    name = _message(event.message, judged.naming)
    events = (history.events for history in judged.recorded.histories if history.entity == where)
    seen = [each for history in events for each in history if found.question.reading.is_seen(each)]
    for number, each in enumerate(seen[: answer.explained[answer.entity]], 1):
        if each.kind is EventKind.DELIVER and each.message == name:
            yield f"  {where} has delivered {name} before (its event {number})"
            return


def _within(found: Conformed, answer: Deviates) -> str:
    return f" with up to {limits_said(found.question, answer.within)}" if answer.within else ""


def first_said(judged: Judged, answer: Deviates) -> str:
    """The first event that no run has, in a clause."""
    if answer.event is None:
        return "every event has a run, and in each something is in flight after the last"
    where = judged.naming.entities[answer.entity]
    number = answer.explained[answer.entity] + 1
    return f"{where} {event_said(answer.event, judged.naming)} (its event {number}), and no run has that"


def _allowed(judged: Judged, answer: Deviates) -> str:
    if not answer.allowed:
        return "no event"
    if answer.event is not None and any(_is(answer.event, each) for each in answer.allowed):
        if not answer.in_one_step:
            return "this event, but not what comes with it or after it"
        return (
            f"this event, and in the same step: {' or '.join(_all_said(judged, answer, answer.in_one_step))}"
        )
    return ", ".join(_all_said(judged, answer, answer.allowed))


def _all_said(judged: Judged, answer: Deviates, events: Sequence[Expected]) -> list[str]:
    """Events in words, each once; with clocks where the recorded one has one."""
    clocks = answer.event is not None and answer.event.clock is not None
    shown = (each if clocks else replace(each, clock=None) for each in events)
    return list(dict.fromkeys(event_said(each, judged.naming) for each in shown))


def _is(event: Expected, allowed: Expected) -> bool:
    """Whether what the model allows is the event. A clock counts where both have one."""
    met = (event.kind, event.message, event.members, event.state)
    clocks = {event.clock, allowed.clock} - {None}
    return met == (allowed.kind, allowed.message, allowed.members, allowed.state) and len(clocks) < 2


def event_said(event: Expected, naming: Naming) -> str:
    """An event in words, with the names of the trace: `delivers b1`."""
    text = _SAID[event.kind]
    if event.message is not None:
        text += f" {_message(event.message, naming)}"
    if event.members is not None:
        known = range(len(naming.entities))
        names = (naming.entities[k] if k in known else "another" for k in sorted(event.members))
        text += f" {{{', '.join(names)}}}"
    further = [] if event.clock is None else [f"the clock {event.clock}"]
    further += [f"{name} = {value}" for name, value in event.state]
    return f"{text} with {' and '.join(further)}" if further else text


def _message(message: Message, naming: Naming) -> str:
    return dict(naming.messages).get(message, message.name)


def _names(judged: Judged) -> Iterator[str]:
    """What the model's names stand for, where the trace has others."""
    model = judged.protocol.name_of
    pairs = [f"{model(k)} is {name}" for k, name in enumerate(judged.naming.entities) if model(k) != name]
    pairs += [f"{message.name} is {name}" for message, name in judged.naming.messages]
    if pairs:
        yield f"  in these moves {', '.join(pairs)}"


def closing(found: Conformed) -> str:
    """The answer on all executions in one line."""
    match found.verdict:
        case Verdict.HOLDS:
            return "conforms: every execution is a behavior of the model"
        case Verdict.VIOLATED:
            return f"does not conform: {found.deviating:,} of {counted(found.executions, 'execution')}"
        case Verdict.UNKNOWN:
            if not found.executions:
                return "undecided: the trace has no execution"
            return f"undecided: {found.undecided:,} of {counted(found.executions, 'execution')}"


def as_json(found: Conformed, notices: tuple[Notice, ...]) -> str:
    """One JSON object, with a line break at its end."""
    protocol = found.protocols[0]
    document = {
        "schema": JSON_SCHEMA,
        "verdict": found.verdict.value,
        "model": protocol.name,
        "form": protocol.form,
        "executions": found.executions,
        "conforms": found.conforming,
        "does_not_conform": found.deviating,
        "undecided": found.undecided,
        "limits": {name: getattr(found.question.limits, name) for name in LIMITS},
        "quiescent": found.question.limits.quiescent,
        "shown": [_document(judged) for judged in found.shown],
        "notices": [notice.render() for notice in notices],
    }
    return json_text(document)


def _document(judged: Judged) -> dict[str, Any]:
    naming = judged.naming
    common: dict[str, Any] = {
        "execution": judged.execution,
        "answer": _WORDS[judged.answer.verdict],
        "entities": list(naming.entities),
        "messages": {message.name: name for message, name in naming.messages},
    }
    match judged.answer:
        case Conforms(behavior):
            return {**common, "steps": list(steps(judged.protocol, behavior))}
        case Deviates() as answer:
            event = answer.event
            return {
                **common,
                "steps": list(steps(judged.protocol, answer.behavior)),
                "explained": dict(zip(naming.entities, answer.explained, strict=True)),
                "entity": None if event is None else naming.entities[answer.entity],
                "event": None if event is None else event_said(event, naming),
                "allowed": [event_said(each, naming) for each in answer.allowed],
                "in_the_same_step": [event_said(each, naming) for each in answer.in_one_step],
                "within": list(answer.within),
                "states": [None if state is None else said(state) for state in answer.states],
            }
        case Undecided(reason):
            return {**common, "reason": reason}
        case _:
            assert_never(judged.answer)
