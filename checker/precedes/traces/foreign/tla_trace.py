"""Traces for the validation of TLA+ specifications, a JSON object on each line: those of PGo, and those of EWD998, the
example of the TLA+ project. Both have vector clocks and no names of messages.

Clocks name messages where they can. Whoever gets a message learns that its sender had as many events as when it sent
it. So if a receipt learns of one more event of the sender than was known, that event is the send. If it learns nothing,
the message is an earlier one, and what is logged of it must say which.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign.rows import TO_SOMEBODY, Row, execution_of, objects, refused, tables
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "net": "of PGo: the variable whose writes are sends and whose reads are deliveries, such as net",
    "execution": "the execution, if it is not the folder of the files",
}

_PGO: Final = ("archetypeName", "self", "clock", "csElements", "isAbort")
_PACKET: Final = ("snd", "rcv", "msg")

_Clock = dict[str, int]


def recognizes(start: str, name: str) -> bool:
    """Whether the first line is an event of PGo, or the number of nodes with which EWD998 begins."""
    try:
        first = json.loads(start.partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    if not isinstance(first, dict) or "execution" in first or not name:
        return False
    return all(key in first for key in _PGO) or (set(first) == {"N"} and '"pkt"' in start)


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a trace. Raises PrecedesError."""
    yield from tables(source, _rows(source), notices)


def _rows(source: TraceSource) -> Iterator[tuple[int, Row]]:
    lines = objects(source)
    execution = {"execution": execution_of(source)}
    first = next(lines, None)
    if first is None:
        return
    found = _ewd998(source, list(lines)) if "N" in first[1] else _pgo(source, first, lines)
    for number, row in found:
        yield number, row | execution


# ---- PGo -------------------------------------------------------------------------------------------------------------


def _pgo(
    source: TraceSource, first: tuple[int, dict[str, Any]], rest: Iterator[tuple[int, dict[str, Any]]]
) -> Iterator[tuple[int, Row]]:
    """The critical sections of a process, each with what it sent and received."""
    known: defaultdict[str, _Clock] = defaultdict(dict)
    for number, event in (first, *rest):
        entity = _process(source, number, [event.get("archetypeName"), event.get("self")])
        clock = _pgo_clock(source, number, event.get("clock"))
        _own(source, number, entity, clock)
        row: Row = {"entity": entity, "time": event.get("endTime")}
        accesses = [] if event.get("isAbort") else list(_accesses(source, number, event))
        _refuse_two_writes(source, number, accesses)
        learned = sorted(k for k, n in clock.items() if k != entity and n > known[entity].get(k, 0))
        # Only the last row has the clock, which is that of the end of the section.
        rows = [row | _pgo_message(source, number, each, entity, clock, learned) for each in accesses]
        rows = rows or [row | {"event": "local"}]
        rows[-1]["clock"] = clock
        yield from ((number, each) for each in rows)
        known[entity] = clock


def _pgo_message(
    source: TraceSource, number: int, access: tuple[str, str], entity: str, clock: _Clock, learned: list[str]
) -> Row:
    """The row of a write to the network, or of a read from it. Raises PrecedesError (T027)."""
    tag, place = access
    if tag == "write":
        return {"event": "send", "message": f"{entity}:{clock[entity]}:{place}", "dest": list(TO_SOMEBODY)}
    if len(learned) != 1:
        processes = f"of {', '.join(learned)}" if learned else "of no other process"
        message = f"this section reads {place}, and its clock learns {processes}: that names no send"
        hint = "leave out the setting `net`: then these events are local"
        raise refused(source, number, RowError("T027", message, hint))
    sender = learned[0]
    return {"event": "deliver", "message": f"{sender}:{clock[sender]}:{place}", "sender": sender}


def _accesses(source: TraceSource, number: int, event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a section wrote to the network and read from it: `write` or `read`, and where."""
    elements = event.get("csElements")
    if not isinstance(elements, list):
        raise _wrong(source, number, "csElements", elements)
    for element in elements:
        match element:
            case {"tag": "read" | "write" as tag, "name": {"name": str(name)}, "indices": list(indices)}:
                if name == source.setting("net"):
                    yield tag, f"{name}[{','.join(map(str, indices))}]"
            case _:
                raise _wrong(source, number, "csElements", element)


def _refuse_two_writes(source: TraceSource, number: int, accesses: list[tuple[str, str]]) -> None:
    """Raise PrecedesError (T027) if a section sent two messages to one place, or took two from one."""
    if len(set(accesses)) < len(accesses):
        message = "this section accesses one place of the network twice, and a clock does not tell two messages apart"
        raise refused(source, number, RowError("T027", message, "leave out the setting `net`"))


def _pgo_clock(source: TraceSource, number: int, clock: object) -> _Clock:
    """A clock that is a list of pairs of a process and its count."""
    if not isinstance(clock, list) or not all(isinstance(each, list) and len(each) == 2 for each in clock):
        raise _wrong(source, number, "clock", clock)
    pairs = [(_process(source, number, name), count) for name, count in clock]
    if len({name for name, _ in pairs}) < len(pairs):
        raise refused(
            source, number, RowError("T008", "a process occurs twice in `clock`", "it has one component")
        )
    return _counts(source, number, dict(pairs))


def _process(source: TraceSource, number: int, name: object) -> str:
    """The name of a process: its archetype, and its number."""
    match name:
        case [str(archetype), str(number_of_process)]:
            return f"{archetype}({number_of_process})"
        case _:
            raise _wrong(source, number, "archetypeName and self", name)


# ---- EWD998 ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """An event of EWD998: what happened at a node, with its clock and, if it is about a message, its packet."""

    line: int
    event: str
    node: str
    clock: _Clock
    channel: tuple[str, str]
    content: str

    @property
    def name(self) -> str:
        """What the message of this event is called, if the event sends one."""
        return f"{self.node}:{self.clock[self.node]}"


def _ewd998(source: TraceSource, lines: list[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, Row]]:
    """The events of all nodes, whose lines may be in any order: clocks give it."""
    steps = [_step(source, number, event) for number, event in lines]
    names = _received(source, steps)
    for step in steps:
        row: Row = {"entity": step.node, "seq": step.clock[step.node], "clock": step.clock}
        match step.event:
            case ">":
                row |= {"event": "send", "message": step.name, "dest": [step.channel[1]]}
            case "<" if step.line in names:
                row |= {"event": "deliver", "message": names[step.line], "sender": step.channel[0]}
            case _:
                row |= {"event": "local"}
        yield step.line, row


def _received(source: TraceSource, steps: list[_Step]) -> dict[int, str]:
    """The messages of receipts, by line. One that takes up again what was received has none. Raises PrecedesError."""
    sends = {(step.node, step.clock[step.node]): step for step in steps if step.event == ">"}
    names: dict[int, str] = {}
    late: list[_Step] = []
    known: defaultdict[str, _Clock] = defaultdict(dict)
    for step in sorted(steps, key=lambda step: step.clock[step.node]):
        sender = step.channel[0]
        count = step.clock.get(sender, 0)
        if step.event == "<" and sender != step.node and count > known[step.node].get(sender, 0):
            send = sends.get((sender, count))
            if send is not None and (send.channel, send.content) != (step.channel, step.content):
                message = (
                    f"by its clock this is the message of event {count} of {sender}, which sent another one"
                )
                raise refused(source, step.line, RowError("T027", message, "the clocks may be wrong"))
            names[step.line] = f"{sender}:{count}"
        elif step.event == "<":
            late.append(step)
        known[step.node] = step.clock
    for step in late:
        if (name := _unlearned(source, step, list(sends.values()), set(names.values()))) is not None:
            names[step.line] = name
    return names


def _unlearned(source: TraceSource, step: _Step, sends: list[_Step], taken: set[str]) -> str | None:
    """The message of a receipt that learned nothing of the sender: one with the same content that was sent to it before
    and not received yet, if there is one; a message without a send, if nothing like it was sent. None, if the node
    takes up again what it has, or what nobody sent, such as its first token. Raises PrecedesError (T027) where two fit.
    """
    sender = step.channel[0]
    like = [
        send.name
        for send in sends
        if (send.channel, send.content) == (step.channel, step.content)
        and send.clock[sender] <= step.clock.get(sender, 0)
    ]
    new = [name for name in like if name not in taken]
    if new and len(like) > 1:
        message = (
            f"the clock learns nothing of {sender}, and {len(like)} messages that look alike were sent here"
        )
        raise refused(
            source, step.line, RowError("T027", message, "the log does not say which of them this is")
        )
    if not like and sender != step.node:
        return f"{sender}?{step.name}"
    return new[0] if new else None


def _step(source: TraceSource, number: int, event: Mapping[str, Any]) -> _Step:
    match event:
        case {
            "event": "<" | ">" as what,
            "node": node,
            "pkt": {"snd": sender, "rcv": receiver, "msg": content, "vc": clock},
        }:
            channel = (_node(source, number, sender), _node(source, number, receiver))
            said = json.dumps(content, sort_keys=True, default=str)
        case {"event": "d", "node": node, "pkt": {"vc": clock}}:
            what, channel, said = "d", ("", ""), ""
        case _:
            raise _wrong(source, number, "event", event.get("event"))
    here = _node(source, number, node)
    if what != "d" and here != channel[what == "<"]:
        raise refused(
            source, number, RowError("T012", f"`node` is {shown(node)}, which `pkt` does not say", None)
        )
    if not isinstance(clock, dict):
        raise _wrong(source, number, "vc", clock)
    counts = _counts(source, number, clock)
    _own(source, number, here, counts)
    return _Step(number, what, here, counts, channel, said)


def _node(source: TraceSource, number: int, node: object) -> str:
    if isinstance(node, bool) or not isinstance(node, int):
        raise _wrong(source, number, "node", node)
    return str(node)


# ---- clocks ----------------------------------------------------------------------------------------------------------


def _counts(source: TraceSource, number: int, clock: Mapping[str, object]) -> _Clock:
    counts: _Clock = {}
    for name, count in clock.items():
        if isinstance(count, bool) or not isinstance(count, int):
            raise _wrong(source, number, "clock", count)
        counts[name] = count
    return counts


def _own(source: TraceSource, number: int, entity: str, clock: _Clock) -> None:
    """Raise PrecedesError (T026) if a clock does not count its own event."""
    if clock.get(entity, 0) < 1:
        message = f"the clock of {entity} has {clock.get(entity)} for {entity} itself"
        raise refused(source, number, RowError("T026", message, "the clock of an event counts the event"))


def _wrong(source: TraceSource, number: int, name: str, value: object) -> Exception:
    hint = "traces of PGo and of EWD998 are read; see docs/formats/tla-trace.md"
    return refused(source, number, RowError("T012", f"`{name}` is {shown(value)}", hint))
