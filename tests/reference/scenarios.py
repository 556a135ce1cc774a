"""Executions written as the papers draw them, without the language: `logs(RL1="x c p z", SL1="a{2,3} b{2}")`.

Braces name destinations by place; a send without them goes to every entity. In histories `!m` sends, `?m`
delivers, `^m` arrives and `@7` gives the time in nanoseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from precedes.core.execution import Event, EventKind, Execution, History, Message

ITEM = re.compile(r"(?P<kind>[!?^]?)(?P<name>\w+)(\{(?P<to>[\d,]*)\})?(@(?P<time>-?\d+))?$")
KINDS = {"!": EventKind.SEND, "?": EventKind.DELIVER, "^": EventKind.ARRIVE}


def histories(
    cluster: str,
    *lines: str,
    senders: Mapping[str, str] | None = None,
    delta: int | None = None,
    epsilon: int = 0,
    complete: bool = True,
    delivery: EventKind = EventKind.DELIVER,
) -> Execution:
    """One line per entity, its events in order. `senders` are those of messages whose send is not logged."""
    entities = cluster.split()
    messages: dict[str, Message] = {}
    found = []
    for entity, line in zip(entities, lines, strict=True):
        found.append(
            History(entity, tuple(_event(item, entity, entities, messages) for item in line.split()))
        )
    named = {name: Message(name, sender, None) for name, sender in (senders or {}).items()}
    return Execution(
        "scenario", tuple(found), messages | named, delta, epsilon, complete=complete, delivery=delivery
    )


def logs(cluster: str, /, **lines: str) -> Execution:
    """`RL1=`, `SL1=` and so on; a log that is not given is empty."""
    entities = cluster.split()
    messages: dict[str, Message] = {}
    found = []
    for number, entity in enumerate(entities, start=1):
        text = [f"!{item}" for item in lines.get(f"SL{number}", "").split()]
        text += [f"?{item}" for item in lines.get(f"RL{number}", "").split()]
        events = tuple(_event(item, entity, entities, messages) for item in text)
        found.append(History(entity, events, interleaved=False))
    return Execution("scenario", tuple(found), messages)


def _event(item: str, entity: str, entities: list[str], messages: dict[str, Message]) -> Event:
    match = ITEM.match(item)
    assert match is not None, item
    name, kind = match["name"], KINDS[match["kind"]]
    if kind is EventKind.SEND:
        places = match["to"]
        to = (
            entities if places is None else [entities[int(place) - 1] for place in places.split(",") if place]
        )
        messages[name] = Message(name, entity, frozenset(to))
    else:
        messages.setdefault(name, Message(name, None, frozenset()))
    return Event(kind, name, None if match["time"] is None else int(match["time"]))


FIG2 = logs(
    "E1 E2 E3",
    RL1="a x b c p y z q",
    SL1="a b c",
    RL2="a x b p y z q",
    SL2="p q",
    RL3="a x b c p y z",
    SL3="x y z",
)
SENT = {"SL1": "a{2,3} b{2} c{1,3}", "SL2": "p{1} q{2,3}", "SL3": "x{1,2,3} y{2} z{1,3}"}
FIG3 = logs("E1 E2 E3", RL1="x c p z", RL2="a x b y q", RL3="x a c z q", **SENT)
FIG4 = logs("E1 E2 E3", RL1="x c p z", RL2="a x b y q", RL3="a x c z q", **SENT)
FIG6 = replace(
    logs("E1 E2 E3", RL1="x c p z", RL2="a x b y q", RL3="a x z q", **SENT), marks={"E1": 1, "E2": 4, "E3": 2}
)
CYCLE = logs("E1 E2 E3 E4", SL1="a{1,3}", SL2="b{1,2}", SL3="c{2,3}", RL1="a b", RL2="b c", RL3="c a")

SECOND = 10**9
OVERTAKING = histories(
    "Pi Pj Pk",
    "!m1{3}@0 !m2{2}@1000000000",
    "?m2@2000000000 !m3{3}@3000000000",
    "?m3@4000000000 ?m1@5000000000",
)
DELAYED = histories(
    "Pi Pj Pk",
    "!m1{3}@0 !m2{2}@1000000000",
    "?m2@2000000000 !m3{3}@3000000000",
    "?m1@5000000000 ?m3@6000000000",
)
BEYOND_DELTA = histories("Pi Pj Pk", "!m1{3}@0 !m2{2}@8", "?m2@9 !m3{3}@11", "?m3@12 ?m1@15", delta=10)
WITHIN_DELTA = histories("Pi Pj Pk", "!m1{3}@0 !m2{2}@8", "?m2@9 !m3{3}@11", "?m3@12 ?m1@15", delta=20)
OWN_MESSAGES = histories("A B", "!a ?a !b ?b ?c", "?a !c ?b ?c")
NO_TIMES = histories("A B", "!a{2}", "?a", delta=10)
NO_INTERLEAVING = logs("E1 E2 E3", SL1="a{2,3}", SL2="b{3}", RL2="a", RL3="b a")
AFTER = histories("E1 E2 E3", "!a{2,3}", "?a !b{3}", "?b ?a")
BEFORE = histories("E1 E2 E3", "!a{2,3}", "!b{3} ?a", "?b ?a")
