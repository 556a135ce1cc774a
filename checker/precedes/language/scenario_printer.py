"""An execution as a scenario of the language, to be pasted into a file and checked there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, assert_never

from precedes.core.execution import Event, EventKind, Execution, History
from precedes.core.formula import Attribute, AttributeSort
from precedes.language import syntax
from precedes.language.library import Library
from precedes.language.parsing.parser import parse_sentence
from precedes.language.printer import statement_text
from precedes.language.quoting import written
from precedes.language.scenarios import called_by_members

UNITS: Final = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def as_scenario(execution: Execution, name: str, statements: Sequence[str] = ()) -> str:
    """The scenario's statements, one a line, and after them those given, which say what is expected of it.

    Entities with a known interleaving have a history, the others SL and RL; who crashed has a history too, of the
    interleavings that with all sends first. The language has no recorded
    clocks: where an execution has some, they stand in comments, and a formula about them is unknown of the
    scenario.
    """
    lines = [statement_text(statement) for statement in _statements(execution, name)]
    lines += _clocks(execution)
    return "".join(line + "\n" for line in (*lines, *statements))


def definitions(formulas: Iterable[str], library: Library) -> str:
    """What a file has to define, beyond the standard library, for formulas to mean there what they mean here."""
    needed = [
        definition for formula in formulas for definition in library.added(parse_sentence(formula).formula)
    ]
    return "".join(f"{statement_text(definition)}\n" for definition in dict.fromkeys(needed))


def _statements(execution: Execution, name: str) -> Iterator[syntax.Statement]:
    yield syntax.ScenarioHead(_name(name))
    yield syntax.Cluster(tuple(_name(entity) for entity in execution.entities))
    for group, members in execution.groups.items():
        yield syntax.Group(_name(group), _references(execution, members))
    for bound, value in (("delta", execution.delta), ("epsilon", execution.epsilon or None)):
        if value is not None:
            yield syntax.Set(bound, _quantity(value))
    for place, history in enumerate(execution.histories, start=1):
        yield from _logs(execution, history, syntax.Place(place))


def _logs(execution: Execution, history: History, owner: syntax.Place) -> Iterator[syntax.Log]:
    mark = execution.marks.get(history.entity)
    if history.interleaved or any(event.message is None for event in history.events):
        items = _with_mark([_item(execution, event, True) for event in history.events], history, mark)
        if items:
            yield syntax.Log(syntax.LogKind.H, owner, tuple(items))
        return
    sends = [_item(execution, event, False) for event in history.events if event.kind is EventKind.SEND]
    others = [event for event in history.events if event.kind is not EventKind.SEND]
    received = _with_mark(
        [_item(execution, event, False) for event in others], History(history.entity, tuple(others)), mark
    )
    if sends:
        yield syntax.Log(syntax.LogKind.SL, owner, tuple(sends))
    if received:
        yield syntax.Log(syntax.LogKind.RL, owner, tuple(received))


def _with_mark(items: list[syntax.LogItem], history: History, mark: int | None) -> list[syntax.LogItem]:
    """The items with the failure mark after so many messages delivered, each counted once."""
    if mark is None:
        return items
    met: set[str | None] = set()
    for place, event in enumerate(history.events):
        if event.kind is EventKind.DELIVER:
            if len(met) == mark and event.message not in met:
                return [*items[:place], syntax.Mark(), *items[place:]]
            met.add(event.message)
    return [*items, syntax.Mark()]


def _item(execution: Execution, event: Event, in_history: bool) -> syntax.LogItem:
    time = None if event.time is None else _quantity(event.time)
    if event.message is None:
        return (
            _view(execution, event, time)
            if event.kind is EventKind.VIEW
            else syntax.Change(event.kind, None, time)
        )
    message = execution.messages[event.message]
    to = None
    if event.kind is EventKind.SEND and (
        message.groups or message.destinations != frozenset(execution.entities)
    ):
        groups = tuple(map(_name, sorted(message.groups)))
        to = syntax.Destinations(_references(execution, message.destinations or ()), groups=groups)
    shown = event.kind is EventKind.SEND or not message.logged
    brackets = (*(carried(message.attributes) if shown else ()), *carried(event.attributes))
    kind = event.kind if in_history else None
    return syntax.Entry(kind, _name(event.message), destinations=to, time=time, carried=brackets)


def _view(execution: Execution, event: Event, time: syntax.Quantity | None) -> syntax.Change:
    members = event.members if event.view is None else execution.views[event.view]
    inside = syntax.Destinations(_references(execution, members))
    return syntax.Change(event.kind, inside, time, view_name(execution, event))


def view_name(execution: Execution, event: Event) -> syntax.Name | None:
    """The id of a view as it is written before its members; None where these are its id, or it has none."""
    if event.view is None:
        return None
    inside = execution.views[event.view]
    by_members = called_by_members([entity for entity in execution.entities if entity in inside])
    return None if event.view == by_members else _name(event.view)


def carried(values: Mapping[Attribute, str | int]) -> tuple[syntax.Carried, ...]:
    """What a message or an event carries, as it is written in brackets after it."""
    return tuple(_carried(attribute, value) for attribute, value in values.items())


def _carried(attribute: Attribute, value: str | int) -> syntax.Carried:
    match attribute.sort:
        case AttributeSort.TEXT:
            written_value: syntax.Name | syntax.Quantity = _name(str(value))
        case AttributeSort.NUMBER:
            written_value = syntax.Quantity(Fraction(value))
        case AttributeSort.TIME | AttributeSort.DURATION:
            written_value = _quantity(int(value))
        case _:
            assert_never(attribute.sort)
    return syntax.Carried(_name(attribute.name), written_value)


def _references(execution: Execution, members: Sequence[str] | frozenset[str]) -> tuple[syntax.Place, ...]:
    places = [place for place, entity in enumerate(execution.entities, start=1) if entity in members]
    return tuple(map(syntax.Place, places))


def _quantity(nanoseconds: int) -> syntax.Quantity:
    """A time in the largest unit in which it is whole; seconds, which need no unit, where it is 0."""
    unit, factor = next((unit, factor) for unit, factor in UNITS if nanoseconds % factor == 0)
    return syntax.Quantity(Fraction(nanoseconds, factor), None if unit == "s" else unit)


def _name(text: str) -> syntax.Name:
    return syntax.Name(text)


def _clocks(execution: Execution) -> Iterator[str]:
    for history in execution.histories:
        for event in history.events:
            if event.clock is not None:
                counts = ((written(entity), event.clock.get(entity, 0)) for entity in execution.entities)
                clock = ", ".join(f"{entity} {count}" for entity, count in counts)
                what = (
                    event.kind.value
                    if event.message is None
                    else f"{event.kind.value} {written(event.message)}"
                )
                yield f"# clock of {what} at {written(history.entity)}: {clock}"
