"""From the statements of a scenario to its execution.

Impossible events, and statements that contradict each other, are errors at their place in the text. A trace
with such rows would be unknown, but a scenario is written by hand, so it can be corrected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from precedes.core.counts import counted
from precedes.core.diagnostics import Span
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.core.suggestions import did_you_mean
from precedes.language import syntax
from precedes.language.durations import nanoseconds
from precedes.language.errors import Mistakes
from precedes.language.printer import quantity_text
from precedes.language.quoting import shown, written
from precedes.language.sorts.inference import Definitions, Scope, declaration


@dataclass(frozen=True, slots=True)
class Group:
    """The statements between one scenario's head and the next.

    `head` is None before the first, or where it did not parse.
    """

    head: syntax.ScenarioHead | None
    statements: tuple[syntax.Cluster | syntax.Group | syntax.Log | syntax.Set | syntax.Expect, ...]
    sound: bool = True


@dataclass(frozen=True, slots=True)
class _Addressees:
    """Entities, None for everybody, and groups by name."""

    entities: frozenset[str] | None = None
    groups: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Send:
    entity: str
    to: _Addressees
    span: Span


@dataclass(slots=True)
class _Builder:
    mistakes: Mistakes
    definitions: Definitions
    cluster: tuple[str, ...] = ()
    logs: dict[str, dict[syntax.LogKind, syntax.Log]] = field(default_factory=dict)
    sends: dict[str, _Send] = field(default_factory=dict)
    claimed: dict[str, tuple[str, Span]] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)
    bounds: dict[str, int] = field(default_factory=dict)
    groups: dict[str, tuple[frozenset[str], Span]] = field(default_factory=dict)
    views: dict[str, tuple[tuple[str, ...], Span]] = field(default_factory=dict)
    carried: dict[str, dict[Attribute, tuple[str | int, Span]]] = field(default_factory=dict)

    def tell(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        self.mistakes.tell(code, message, span, hint)

    # the cluster

    def read_cluster(self, clusters: Sequence[syntax.Cluster], head: syntax.ScenarioHead) -> None:
        if not clusters:
            self.tell("S001", "the scenario has no cluster", head.span, "cluster E1 E2 E3")
            return
        for again in clusters[1:]:
            self.tell(
                "S001", "the scenario already has a cluster", again.span, f"in line {clusters[0].span.line}"
            )
        seen: dict[str, Span] = {}
        for entity in clusters[0].entities:
            if entity.text in seen:
                self.tell("S002", f"{shown(entity.text)} is in the cluster twice", entity.span)
            seen.setdefault(entity.text, entity.span)
        self.cluster = tuple(seen)

    def entity(self, reference: syntax.Reference) -> str | None:
        if isinstance(reference, syntax.Place):
            if 1 <= reference.number <= len(self.cluster):
                return self.cluster[reference.number - 1]
            count = len(self.cluster)
            hint = f"the cluster has {count}: {', '.join(self.cluster[:8])}" if count else None
            self.tell("S003", f"there is no entity {reference.number}", reference.span, hint)
        elif reference.text in self.cluster:
            return reference.text
        else:
            hint = did_you_mean(reference.text, self.cluster)
            if reference.text in self.groups:
                hint = f"{shown(reference.text)} is a group: write group:{written(reference.text)}"
            self.tell("S003", f"there is no entity {shown(reference.text)}", reference.span, hint)
        return None

    def read_groups(self, groups: Sequence[syntax.Group]) -> None:
        for group in groups:
            name = group.name.text
            members = self.named(group.members)
            if name in self.groups:
                where = f"in line {self.groups[name][1].line}"
                self.tell("S019", f"there is already a group {shown(name)}", group.span, where)
            self.groups.setdefault(name, (members, group.span))

    def addressees(self, destinations: syntax.Destinations | None) -> _Addressees:
        if destinations is None:
            return _Addressees()
        for group in destinations.groups:
            if group.text not in self.groups:
                hint = did_you_mean(group.text, tuple(self.groups)) or f"group {written(group.text)}: E1 E2"
                self.tell("S019", f"there is no group {shown(group.text)}", group.span, hint)
        return _Addressees(self.members(destinations), frozenset(group.text for group in destinations.groups))

    def members(self, destinations: syntax.Destinations) -> frozenset[str]:
        if destinations.digits and len(self.cluster) >= 10:
            hint = "write {1,12}: with ten entities or more, one digit is not enough"
            self.tell(
                "S004",
                "digits without commas are possible only in clusters of fewer than ten entities",
                destinations.span,
                hint,
            )
            return frozenset()
        return self.named(destinations.members)

    def named(self, references: Sequence[syntax.Reference]) -> frozenset[str]:
        names = [self.entity(reference) for reference in references]
        return frozenset(name for name in names if name is not None)

    # the logs

    def place_logs(self, logs: Sequence[syntax.Log]) -> None:
        for log in logs:
            entity = self.entity(log.owner)
            if entity is None:
                continue
            own = self.logs.setdefault(entity, {})
            if log.kind in own:
                self.tell(
                    "S005",
                    f"{shown(entity)} already has this log",
                    log.span,
                    f"in line {own[log.kind].span.line}",
                )
            elif own and (log.kind is syntax.LogKind.H or syntax.LogKind.H in own):
                other = next(iter(own.values()))
                hint = f"the other is in line {other.span.line}; a history has SL and RL in one order"
                self.tell("S005", f"{shown(entity)} has a history or logs, not both", log.span, hint)
            else:
                own[log.kind] = log

    def read_sends(self, entity: str, log: syntax.Log) -> None:
        """Who sent what to whom; needs to be known before anything is delivered."""
        for item in log.items:
            if not isinstance(item, syntax.Entry) or _event(log, item) is not EventKind.SEND:
                continue
            name = item.message.text
            to = self.addressees(item.destinations)
            first = self.sends.get(name)
            if first is None:
                self.sends[name] = _Send(entity, to, item.span)
            elif first.entity != entity:
                hint = f"{shown(first.entity)} sends it in line {first.span.line}"
                both = f"{shown(first.entity)} and {shown(entity)}"
                self.tell("S006", f"{shown(name)} has two senders, {both}", item.span, hint)
            else:
                how = "again" if first.to == to else "again, to other destinations"
                self.tell(
                    "S007", f"{shown(name)} is sent {how}", item.span, f"first in line {first.span.line}"
                )

    def read_log(self, entity: str, log: syntax.Log) -> list[Event]:
        events: list[Event] = []
        delivered: dict[str, None] = {}
        crashed = told = False
        for item in log.items:
            if isinstance(item, syntax.Mark):
                self.mark(entity, log, item, len(delivered))
                continue
            kind = _event(log, item)
            if log.kind is not syntax.LogKind.H and (
                isinstance(item, syntax.Change) or item.event is not None
            ):
                self.tell(
                    "S008",
                    f"{kind.value} can only be in a history",
                    item.span,
                    "write a history: H1: < !a ?b ]",
                )
                continue
            if log.kind is syntax.LogKind.H and item.event is None:
                name = written(item.message.text)
                told_ = f"a history must say what happens to {name}: sent or delivered?"
                self.tell(
                    "S017", told_, item.span, f"write !{name} if it is sent, ?{name} if it is delivered"
                )
                continue
            if kind is EventKind.RECOVER:
                if not crashed:
                    self.tell("S009", f"{shown(entity)} recovers but has not crashed", item.span)
                crashed = told = False
            elif crashed and not told:
                hint = "write `recover` before the entity's next event"
                self.tell("S009", f"{shown(entity)} has crashed", item.span, hint)
                told = True
            crashed = crashed or kind is EventKind.CRASH
            time = None if item.time is None else nanoseconds(item.time, self.mistakes)
            if isinstance(item, syntax.Change):
                events.append(self.change(item, time))
                continue
            self.check_entry(entity, kind, item)
            if kind is EventKind.DELIVER:
                delivered[item.message.text] = None
            events.append(Event(kind, item.message.text, time, attributes=self.of_event(item)))
        return events

    def change(self, change: syntax.Change, time: int | None) -> Event:
        """A view without an id is called by its members, so that the same members are the same view."""
        if change.members is None:
            return Event(change.event, None, time)
        for group in change.members.groups:
            self.tell("S020", "a group is no member of a view", group.span, "write its members")
        inside = self.members(change.members)
        members = tuple(name for name in self.cluster if name in inside)
        view = called_by_members(members) if change.view is None else change.view.text
        first, where = self.views.setdefault(view, (members, change.span))
        if first != members:
            hint = f"the view has {', '.join(map(shown, first)) or 'nobody'} in line {where.line}"
            self.tell("S020", f"the view {shown(view)} has other members here", change.span, hint)
        return Event(change.event, None, time, None, members, view=view)

    def of_event(self, item: syntax.Entry) -> dict[Attribute, str | int]:
        """What an event carries, as far as it could be read; `check_entry` tells of the rest."""
        found: dict[Attribute, str | int] = {}
        for each in item.carried:
            attribute = self.definitions.attribute(each.attribute.text)
            if attribute is None or attribute.carrier is not Carrier.EVENT:
                continue
            value = self.attribute_value(attribute, each)
            if value is not None:
                found[attribute] = value
        return found

    def mark(self, entity: str, log: syntax.Log, item: syntax.Mark, delivered: int) -> None:
        if log.kind is syntax.LogKind.SL:
            self.tell(
                "S010",
                "|| marks a failure point among deliveries",
                item.span,
                f"in RL[{written(entity)}]",
            )
        elif entity in self.marks:
            self.tell("S010", f"the log of {shown(entity)} already has a failure point", item.span)
        else:
            self.marks[entity] = delivered

    def check_entry(self, entity: str, kind: EventKind, item: syntax.Entry) -> None:
        """What an entry says of its message besides that it is there: its sender, its destinations."""
        name = item.message.text
        send = self.sends.get(name)
        if item.destinations is not None and kind is not EventKind.SEND:
            to = self.addressees(item.destinations)
            if send is None:
                self.tell(
                    "S011",
                    f"nobody sends {shown(name)}: write its destinations where it is sent",
                    item.destinations.span,
                )
            elif to != replace(send.to, entities=self.everybody_or(send.to.entities)):
                hint = f"it is sent in line {send.span.line}"
                self.tell(
                    "S011", f"{shown(name)} was sent to other destinations", item.destinations.span, hint
                )
        for each in item.carried:
            self.carry(name, each, kind)
        if item.sender is None:
            return
        sender = self.entity(item.sender)
        if sender is None:
            return
        if kind is EventKind.SEND and sender != entity:
            self.tell(
                "S012", f"{shown(name)} is sent by {shown(entity)} here, not by {shown(sender)}", item.span
            )
        elif send is not None and send.entity != sender:
            hint = f"it is sent in line {send.span.line}"
            told_ = f"{shown(name)} is sent by {shown(send.entity)}, not by {shown(sender)}"
            self.tell("S012", told_, item.span, hint)
        elif send is None:
            known = self.logs.get(sender, {})
            if syntax.LogKind.SL in known or syntax.LogKind.H in known:
                self.tell(
                    "S012",
                    f"{shown(sender)} does not send {shown(name)}",
                    item.span,
                    f"the sends of {shown(sender)} are written, without {shown(name)}",
                )
            first, where = self.claimed.setdefault(name, (sender, item.span))
            if first != sender:
                told_ = f"{shown(name)} is from {shown(first)} in line {where.line}, and from {shown(sender)} here"
                self.tell("S012", told_, item.span)

    def everybody_or(self, entities: frozenset[str] | None) -> frozenset[str]:
        return frozenset(self.cluster) if entities is None else entities

    # attributes

    def carry(self, message: str, carried: syntax.Carried, kind: EventKind) -> None:
        """What a message or delivery carries; told where it cannot be that, or a message has another elsewhere."""
        name = carried.attribute
        attribute = self.definitions.attribute(name.text)
        if attribute is None:
            hint = did_you_mean(name.text, self.definitions.attributes()) or declaration(name.text)
            self.tell("N016", f"there is no attribute {shown(name.text)}", name.span, hint)
            return
        value = self.attribute_value(attribute, carried)
        if value is None:
            return
        if attribute.carrier is Carrier.EVENT:
            if kind is not EventKind.DELIVER:
                told_ = f"{shown(name.text)} is an attribute of events, and is asked of deliveries only"
                self.tell(
                    "S018", told_, carried.span, f"write it where a message is delivered: ?{message}[...]"
                )
            return
        first, where = self.carried.setdefault(message, {}).setdefault(attribute, (value, carried.span))
        if first != value:
            told_ = f"{shown(message)} has another {name.text} here"
            self.tell("S018", told_, carried.span, f"{name.text}={first} in line {where.line}")

    def attribute_value(self, attribute: Attribute, carried: syntax.Carried) -> str | int | None:
        value = carried.value
        match attribute.sort:
            case AttributeSort.TEXT:
                return value.text if isinstance(value, syntax.Name) else quantity_text(value)
            case AttributeSort.NUMBER:
                if isinstance(value, syntax.Quantity) and value.unit is None and value.value.denominator == 1:
                    return int(value.value)
                wanted = "a whole number"
            case AttributeSort.TIME | AttributeSort.DURATION:
                if isinstance(value, syntax.Quantity):
                    return nanoseconds(value, self.mistakes)
                wanted = "a time: 10, 1.5 or 100ms"
            case _:
                assert_never(attribute.sort)
        self.tell("S018", f"{attribute.name} is {wanted}", carried.span)
        return None

    # times

    def read_bounds(self, statements: Sequence[syntax.Set]) -> None:
        for statement in statements:
            value = nanoseconds(statement.value, self.mistakes)
            if statement.bound in self.bounds:
                self.tell("S013", f"{statement.bound} is already set", statement.span)
            elif value is not None:
                self.bounds[statement.bound] = value

    # the whole

    def build(self, name: str) -> Execution:
        histories: list[History] = []
        names: dict[str, None] = {}
        for entity, own in self.logs.items():
            for log in own.values():
                self.read_sends(entity, log)
        for entity in self.cluster:
            own = self.logs.get(entity, {})
            kinds = (syntax.LogKind.H, syntax.LogKind.SL, syntax.LogKind.RL)
            logs = [(kind, self.read_log(entity, own[kind])) for kind in kinds if kind in own]
            events = tuple(event for _, log in logs for event in log)
            # With nothing sent, or nothing delivered, there is one interleaving only.
            interleaved = sum(bool(log) for _, log in logs) < 2
            histories.append(History(entity, events, interleaved))
            names.update((event.message, None) for event in events if event.message is not None)
        messages: dict[str, Message] = {}
        for message in names:
            carried = {attribute: value for attribute, (value, _) in self.carried.get(message, {}).items()}
            if send := self.sends.get(message):
                to = self.everybody_or(send.to.entities)
                messages[message] = Message(message, send.entity, to, carried, send.to.groups)
            else:
                messages[message] = Message(
                    message, self.claimed.get(message, (None, None))[0], None, carried
                )
        return Execution(
            name,
            tuple(histories),
            messages,
            delta=self.bounds.get("delta"),
            epsilon=self.bounds.get("epsilon", 0),
            marks=dict(self.marks),
            groups={name: members for name, (members, _) in self.groups.items()},
        )

    def spans(self) -> dict[tuple[str, int], Span]:
        """Where the event at a place of an entity's history is written."""
        found: dict[tuple[str, int], Span] = {}
        for entity, own in self.logs.items():
            kinds = (syntax.LogKind.H, syntax.LogKind.SL, syntax.LogKind.RL)
            items = [
                item
                for kind in kinds
                if kind in own
                for item in own[kind].items
                if not isinstance(item, syntax.Mark)
            ]
            found.update(((entity, place), item.span) for place, item in enumerate(items))
        return found


def build_scenario(group: Group, definitions: Definitions, mistakes: Mistakes) -> tuple[Execution, Scope]:
    """The execution of a scenario and the names in it.

    Mistakes are told; what is returned then is not to be used.
    """
    assert group.head is not None
    builder = _Builder(mistakes, definitions)
    before = len(mistakes.found)
    statements = group.statements
    builder.read_cluster([s for s in statements if isinstance(s, syntax.Cluster)], group.head)
    if builder.cluster:
        builder.read_groups([s for s in statements if isinstance(s, syntax.Group)])
        builder.place_logs([s for s in statements if isinstance(s, syntax.Log)])
    builder.read_bounds([s for s in statements if isinstance(s, syntax.Set)])
    execution = builder.build(group.head.name.text)
    if len(mistakes.found) == before:
        spans: dict[tuple[str, int], Span] | None = None
        for entity, place, message, hint in impossible(execution):
            spans = builder.spans() if spans is None else spans
            mistakes.tell("S014", message, spans[entity, place], hint)
    scope = Scope(
        execution.entities,
        frozenset(execution.messages),
        frozenset(execution.groups),
        frozenset(execution.views),
    )
    return execution, scope


def called_by_members(members: Sequence[str]) -> str:
    """The id of a view that is written without one: `{a, b}`."""
    return f"{{{', '.join(map(written, members))}}}"


def _event(log: syntax.Log, item: syntax.Entry | syntax.Change) -> EventKind:
    if item.event is not None:
        return item.event
    return EventKind.SEND if log.kind is syntax.LogKind.SL else EventKind.DELIVER


# ---- possible executions -----------------------------------------------------------------------------------

_Place = tuple[str, int]
_END: Final = 4
"""Events at each end of a long cycle that a message shows."""


def impossible(execution: Execution) -> Iterator[tuple[str, int, str, str | None]]:
    """Why no order of its events is possible: the entity and place of an event, what is wrong with it, and a
    hint.

    Happens-before, as far as it is the same in every interleaving that the logs allow, must have no cycle.
    """
    sends: dict[str, _Place] = {}
    for history in execution.histories:
        for place, event in enumerate(history.events):
            if event.kind is EventKind.SEND and event.message is not None:
                sends[event.message] = (history.entity, place)
    found = False
    for history in execution.histories:
        if not history.interleaved:
            continue
        for place, event in enumerate(history.events):
            at = sends.get(event.message or "")
            if at is not None and at[0] == history.entity and place < at[1]:
                found = True
                yield (
                    history.entity,
                    place,
                    f"{shown(event.message or '')} occurs before it is sent",
                    "it is sent later in this history",
                )
    if not found:
        cycle = _cycle(execution, sends)
        if cycle:
            yield (
                *cycle[0],
                "happens-before has a cycle, so this execution is impossible",
                _way(execution, cycle),
            )


def _before(execution: Execution, sends: dict[str, _Place]) -> dict[_Place, list[_Place]]:
    """What directly happens before each event, in every interleaving."""
    before: dict[_Place, list[_Place]] = {}
    for history in execution.histories:
        last: dict[bool, int] = {}
        for place, event in enumerate(history.events):
            own = before.setdefault((history.entity, place), [])
            chain = history.interleaved or event.kind is EventKind.SEND
            if chain in last:
                own.append((history.entity, last[chain]))
            last[chain] = place
            if event.kind is not EventKind.SEND and event.message in sends:
                own.append(sends[event.message or ""])
    return before


def _cycle(execution: Execution, sends: dict[str, _Place]) -> list[_Place]:
    """The events on one cycle of happens-before, in its order; empty where there is none."""
    before = _before(execution, sends)
    waiting = {place: len(own) for place, own in before.items()}
    after: dict[_Place, list[_Place]] = {}
    for place, own in before.items():
        for earlier in own:
            after.setdefault(earlier, []).append(place)
    ready = [place for place, count in waiting.items() if not count]
    while ready:
        place = ready.pop()
        del waiting[place]
        for later in after.get(place, ()):
            waiting[later] -= 1
            if not waiting[later]:
                ready.append(later)
    if not waiting:
        return []
    place = next(iter(waiting))
    seen: dict[_Place, int] = {}
    way: list[_Place] = []
    while place not in seen:
        seen[place] = len(way)
        way.append(place)
        place = next(earlier for earlier in before[place] if earlier in waiting)
    circle = way[seen[place] :][::-1]
    order = {place: number for number, place in enumerate(before)}
    start = min(range(len(circle)), key=lambda index: order[circle[index]])
    return circle[start:] + circle[:start]


def _way(execution: Execution, cycle: Sequence[_Place]) -> str:
    """The events of a cycle and its first again; of a long one both ends, and how many there are between."""
    said = [_shown(execution, place) for place in (*cycle[:_END], *cycle[_END:][-_END:], cycle[0])]
    left_out = len(cycle) - 2 * _END
    if left_out > 0:
        said.insert(_END, counted(left_out, "more event"))
    return " -> ".join(said)


def _shown(execution: Execution, place: _Place) -> str:
    event = execution.history(place[0]).events[place[1]]
    verb = {
        EventKind.SEND: "sends",
        EventKind.DELIVER: "delivers",
        EventKind.ARRIVE: "receives",
        EventKind.DISCARD: "discards",
        EventKind.ACK: "acknowledges",
        EventKind.NACK: "gives back",
    }
    what = "" if event.message is None else f" {shown(event.message)}"
    return f"{shown(place[0])} {verb.get(event.kind, event.kind.value)}{what}"
