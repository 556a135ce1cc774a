"""Numbered random cases: a requirement, and an execution that it is asked of.

Cases come in batches, as an engine judges them: some requirements on some executions, which have in common what one run
over a trace has in common. The number of a case says everything about it, on every machine.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeAlias, assert_never, get_args

from precedes.core import formula as f
from precedes.core.execution import UNKNOWN_NAME, EventKind, Execution, History
from precedes.core.formula import Requirement
from precedes.core.traversal import walk
from precedes.core.verdict import Reason
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.testing.choices import Choices, Seeded, chance, pick
from precedes.testing.random_executions import Shape, doubted, execution, senderless, with_evidence
from precedes.testing.random_formulas import (
    ATTRIBUTES,
    EVENT_ATTRIBUTES,
    Scope,
    decided_by_an_atom,
    decided_by_deliveries,
    decided_by_membership,
    formula,
    per_value,
)

Kind: TypeAlias = Literal["definitions", "formulas", "atoms", "doubts", "attributes", "deliveries", "views"]
"""What cases are made of.

definitions   the names of the standard library, on random executions
formulas      random formulas, with every atom and every connective
atoms         formulas in which a single atom decides, which random ones hide
attributes    formulas about what messages carry and names that are asked per value, in turn
doubts        both, on executions whose rows do not tell the order of events: their times run against the rows
deliveries    names and formulas about every delivery, what it carries, and acknowledgements, also per value, on
              executions with repeats in any place and acknowledgements; the rows of some do not tell their order
views         names and formulas about groups and views, also per value, on executions with groups, messages that are
              addressed to them, and views that entities install; the rows of some do not tell the order of events
"""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
REQUIREMENTS: Final = 8
EXECUTIONS: Final = 8
BATCH: Final = REQUIREMENTS * EXECUTIONS
"""Cases in a batch: every one of its requirements on every one of its executions."""

_ARGUMENTS: Final = {
    "in_time": "forall p: forall i in dest(p): p in RL[i] implies in_time(p, i)",
    "generic_order": "generic_order(p, q: sender(p) = sender(q))",
    "next_view": "forall i: exists v, w: next_view(v, w, i)",
    "bounded_disorder": "bounded_disorder(1)",
}
"""How a name is asked that a name alone cannot ask."""


@dataclass(frozen=True, slots=True)
class Case:
    """One requirement on one execution. `print(case)` shows it so that it can be pasted.

    Attributes:
        number: The same number and kind always give the same case.
        kind: What it is made of (see `Kind`).
        requirement: The formula under its name.
        execution: What it is asked of. All that stands in it can be said by rows of a trace, but for doubts.
    """

    number: int
    kind: Kind
    requirement: Requirement
    execution: Execution

    def rows(self) -> list[dict[str, Any]]:
        """The execution as rows of a trace, one for each event (docs/traces.md); times in seconds."""
        return rows(self.execution)

    def options(self) -> tuple[str, ...]:
        """The options with which `precedes verify` reads the rows as this execution."""
        return options(self.execution)

    def __str__(self) -> str:
        named = self.requirement.name in standard_library()
        name = self.requirement.name
        words = ("--require", _ARGUMENTS.get(name, name), *self.options()) if named else self.options()
        lines = [f"# case {self.number} of kind {self.kind}; in Python: case({self.number}, {self.kind!r})"]
        if not named:
            lines += ["# from precedes.core.formula import *", f"# {expression(self.requirement.formula)}"]
        doubts = {h.entity: h.doubt for h in self.execution.histories if h.doubt & Reason.ROW_ORDER}
        if doubts:
            lines.append(f"# the order of events is not known at {', '.join(doubts)}")
        lines.append(f"# precedes verify - {shlex.join(words)}")
        return "\n".join((*lines, *map(json.dumps, self.rows())))


def rows(execution: Execution) -> list[dict[str, Any]]:
    """An execution as rows of a trace, one for each event; times in seconds. An entity without events has none."""
    from precedes.traces.writer import rows_of

    return [
        {**row, "time": row["time"] / 1e9} if "time" in row else row for row in map(dict, rows_of(execution))
    ]


def options(execution: Execution) -> tuple[str, ...]:
    """The options with which `precedes verify` reads the rows of an execution as that execution."""
    found: list[str] = []
    if execution.delta is not None:
        found += ["--delta", f"{execution.delta}ns"]
    if execution.epsilon:
        found += ["--epsilon", f"{execution.epsilon}ns"]
    if not execution.complete:
        found.append("--incomplete")
    if execution.delivery is not EventKind.DELIVER:
        found += ["--delivery", execution.delivery.value]
    return (*found, "--cluster", ",".join(execution.entities))


def expression(value: object) -> str:
    """A formula as an expression of Python that makes it, given the names of `precedes.core.formula`."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if is_dataclass(value) and not isinstance(value, type):
        parts = (expression(getattr(value, field.name)) for field in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(expression, value))},)"
    return repr(value)


def case(number: int, kind: Kind = "definitions") -> Case:
    """The case of a number.

    Args:
        number: 0 or more.
        kind: What it is made of (see `Kind`).

    Raises:
        ValueError: The number is negative, or there is no such kind.
    """
    if number < 0 or kind not in KINDS:
        raise ValueError(f"there is no case {number} of kind {kind}: numbers begin with 0, kinds are {KINDS}")
    block, place = divmod(number, BATCH)
    requirements, executions = _batch(block, kind)
    asked, judged = divmod(place, EXECUTIONS)
    return Case(number, kind, requirements[asked], executions[judged])


def cases(count: int, first: int = 0, kind: Kind = "definitions") -> Iterator[Case]:
    """The cases of so many numbers, from the first on.

    Args:
        count: How many.
        first: The number of the first.
        kind: What they are made of (see `Kind`).
    """
    return (case(number, kind) for number in range(first, first + count))


def batches(count: int, first: int, kind: Kind) -> Iterator[list[Case]]:
    """The same, divided into batches; the first and the last may lack some cases."""
    number, end = first, first + count
    while number < end:
        stop = min(end, (number // BATCH + 1) * BATCH)
        yield list(cases(stop - number, number, kind))
        number = stop


@lru_cache(maxsize=4)
def _batch(block: int, kind: Kind) -> tuple[Sequence[Requirement], Sequence[Execution]]:
    choices = Seeded(f"{kind} {block}")
    asked = [_requirement(choices, block * REQUIREMENTS + place, kind) for place in range(REQUIREMENTS)]
    cluster = tuple(f"E{number}" for number in range(1, choices.integer(1, 4) + 1))
    common = Execution(
        "",
        tuple(map(History, cluster)),
        {},
        delta=pick(choices, (None, 10, 25, 40)),
        epsilon=pick(choices, (0, 0, 3, 8)),
        complete=not chance(choices, 25),
        delivery=EventKind.ARRIVE if chance(choices, 15) else EventKind.DELIVER,
        by_clocks=True,
    )
    names = (f"x{block * EXECUTIONS + place}" for place in range(EXECUTIONS))
    return asked, [_execution(choices, name, common, kind) for name in names]


def _requirement(choices: Choices, number: int, kind: Kind) -> Requirement:
    """Definitions in turn, so that a few batches have them all."""
    match kind:
        case "definitions":
            return definitions()[number % len(definitions())]
        case "doubts" if number % 2:
            return definitions()[number // 2 % len(definitions())]
        case "attributes" if number % 2:
            asked = definitions()[number // 2 % len(definitions())]
            return Requirement(f"{asked.name}-per-{number}", per_value(choices, ATTRIBUTES, asked.formula))
        case "attributes":
            scope = Scope(attributes=ATTRIBUTES)
            written = decided_by_an_atom(choices, attributes=ATTRIBUTES) if number % 4 else None
            return Requirement(f"{kind}-{number}", written or formula(choices, scope=scope))
        case "deliveries":
            return _about_deliveries(choices, number)
        case "views":
            return _about_membership(choices, number)
        case "formulas" | "doubts":
            return Requirement(f"{kind}-{number}", formula(choices))
        case "atoms":
            return Requirement(f"{kind}-{number}", decided_by_an_atom(choices))
        case _:
            assert_never(kind)


def _about_deliveries(choices: Choices, number: int) -> Requirement:
    """Of four in turn one by a name of the library, one by two deliveries, and two random ones."""
    turn, place = number % 4, number // 4
    names = tuple(one for one in definitions() if speaks_of_deliveries(one))
    asked = names[place % len(names)].formula
    if turn == 1:
        asked = decided_by_deliveries(choices, ATTRIBUTES)
    elif turn > 1:
        asked = formula(choices, scope=Scope(attributes=ATTRIBUTES, every_delivery=True))
    if chance(choices, 30):
        asked = per_value(choices, ATTRIBUTES, asked)
    return Requirement(f"deliveries-{number}", asked)


def _about_membership(choices: Choices, number: int) -> Requirement:
    """Of four in turn one by a name of the library about groups and views, one by any other, for a message to a group
    concerns each; one in which atoms decide, and a random one.
    """
    turn, place = number % 4, number // 4
    if turn < 2:
        names = tuple(one for one in definitions() if speaks_of_membership(one) is (turn == 0))
        named = names[place % len(names)]
        if not chance(choices, 20):
            return named
        return Requirement(f"{named.name}-per-{number}", per_value(choices, ATTRIBUTES, named.formula))
    if turn == 2:
        return Requirement(f"views-{number}", decided_by_membership(choices, ATTRIBUTES))
    scope = Scope(attributes=ATTRIBUTES, membership=True, every_delivery=chance(choices, 40))
    return Requirement(f"views-{number}", formula(choices, scope=scope))


def speaks_of_membership(asked: Requirement) -> bool:
    """Whether it asks something of groups or of views."""
    about = f.GroupTerm | f.ViewTerm
    return any(isinstance(node, about) for node in walk(asked.formula))


def speaks_of_deliveries(asked: Requirement) -> bool:
    """Whether it asks something of every delivery, or of the positions that messages carry."""
    about = f.DeliveryVariable | f.AttributeOf
    return any(isinstance(node, about) for node in walk(asked.formula))


def _execution(choices: Choices, name: str, common: Execution, kind: Kind) -> Execution:
    shape = Shape(
        entities=len(common.entities),
        messages=6,
        odd=chance(choices, 60),
        arrival_delivery=False,
        evidence=False,
        contradictions=False,
        attributes=ATTRIBUTES if kind in ("attributes", "deliveries", "views") else (),
        event_attributes=EVENT_ATTRIBUTES if kind == "deliveries" else (),
        acknowledgements=kind == "deliveries" or (kind == "views" and chance(choices, 30)),
        membership=kind == "views",
    )
    drawn = execution(choices, shape, name)
    while not _told(choices, drawn, common.delivery):
        drawn = execution(choices, shape, name)
    histories = (*drawn.histories, *common.histories[len(drawn.histories) :])
    groups = dict(drawn.groups)
    if UNKNOWN_NAME in groups:
        groups[UNKNOWN_NAME] = frozenset(history.entity for history in histories)
    made = with_evidence(
        replace(common, name=name, histories=histories, messages=drawn.messages, groups=groups)
    )
    if kind in ("deliveries", "views"):
        return doubted(choices, senderless(choices, made))
    return doubted(choices, senderless(choices, made), 80) if kind == "doubts" else made


def _told(choices: Choices, drawn: Execution, delivery: EventKind) -> bool:
    """Whether there is enough to judge: some event, but for a few executions; an arrival where that is the delivery,
    for nobody can say what arrived where no arrival is recorded.
    """
    events = [event.kind for history in drawn.histories for event in history.events]
    return EventKind.ARRIVE in events if delivery is EventKind.ARRIVE else bool(events) or chance(choices, 10)


@cache
def definitions() -> tuple[Requirement, ...]:
    """Every name of the standard library as a requirement: of every log, of every pair of logs."""
    library = standard_library()
    return tuple(
        replace(requirement(_ARGUMENTS.get(name, name), library), name=name) for name in library.names()
    )
