"""The offenders of a formula on executions in columns: everything that one of its clauses is false of.

Each clause is compiled to loops that go through its quantifiers. For a relation with cycles a shortest cycle of each
strongly connected component is found. Loops that have gone on for `BUDGET` steps are given up, and so is what has more
than `MOST` bindings: then there are more offenders than were counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, assert_never

import numpy as np
import numpy.typing as npt

from precedes.core.columns import MISSING_TIME, Batch
from precedes.core.execution import EventKind
from precedes.core.formula import (
    Acyclic,
    DeliveryVariable,
    EntityVariable,
    Formula,
    GroupVariable,
    Implies,
    MessageVariable,
    Per,
    Quiescent,
    Variable,
    ViewVariable,
)
from precedes.core.transposition import execution_of
from precedes.engines.columnar.compiler.formula_compiler import arguments, as_lists, facts_of
from precedes.engines.columnar.compiler.functions import Generated, generate_enumeration
from precedes.engines.columnar.compiler.machine_code import jitted_enumeration, plain
from precedes.engines.columnar.compiler.terms import Facts
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.columnar.kernels.order import KNOWN_LOGS
from precedes.engines.columnar.kernels.witness import cycles
from precedes.engines.columnar.parts import named_values
from precedes.engines.reference.offenders import offenders as by_definition
from precedes.logic.recognition import recognise
from precedes.logic.universals import Clause, clauses, naming_parts, universal
from precedes.native.codes import SEND

BUDGET: Final = 500_000_000
"""Steps of the loops of a clause in one execution, a few seconds of machine code."""

PLAIN_BUDGET: Final = 20_000
"""Steps up to which the loops are run as plain Python."""

MOST: Final = 1_000_000
"""Bindings that are looked at. Several of them may be about the same entities and messages."""

SMALL: Final = 2_000
"""Events up to which cycles of a relation of one's own are found by definition."""

FIRST: Final = 4_096
"""Bindings for which there is room at first."""

Bindings = npt.NDArray[np.int32]

_KINDS: Final = tuple(EventKind)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that an offender is about: the send of one of its messages, or a delivery at one of its entities.

    `time` is in nanoseconds; `file` and `row` say where it was read, if that was kept.
    """

    event: str
    entity: str
    message: str
    time: int | None
    file: str | None
    row: int | None


@dataclass(frozen=True, slots=True)
class Offender:
    """Entities and messages, each once, in the order of the quantifiers; of a cycle in its order. `events` are those of
    the sends of the messages and of their deliveries at the entities, or at all where it names none. `part` has the
    values, by the names of their attributes, where something is asked per value.
    """

    entities: tuple[str, ...]
    messages: tuple[str, ...]
    events: tuple[Recorded, ...]
    part: tuple[tuple[str, str | int], ...] = ()


@dataclass(frozen=True, slots=True)
class Offenders:
    """The first offenders of a formula in one execution, and how many there are; at least so many unless `exact`."""

    first: tuple[Offender, ...]
    count: int
    exact: bool


class OffenderSearch:
    """Finds the offenders of formulas in the executions of one batch."""

    def __init__(self, batch: Batch, jit: bool | None = None) -> None:
        """`jit`: whether loops are compiled; None: where plain Python does not come to an end soon."""
        self._batch = batch
        self._source = BatchSource(batch)
        self._ways = (False, True) if jit is None else (jit,)
        self._facts = facts_of(self._source)
        self._arguments: dict[tuple[_Program, bool], list[Any]] = {}

    def of(self, formula: Formula, x: int, limit: int) -> Offenders:
        """The offenders of a closed formula in execution x, of which it is false. The first `limit` are told."""
        tables: list[_Table] = []
        exact = True
        for clause in clauses(formula, complete=self._batch.complete):
            if isinstance(clause.body, Acyclic):
                table, whole = self._cycles(clause, x)
            else:
                table, whole = self._bindings(clause, x)
            tables.append(table)
            exact &= whole
        places, count = _different(tables, limit)
        batch = self._batch
        entity_names = batch.entity_names[batch.entity_offsets[x] : batch.entity_offsets[x + 1]].tolist()
        message_names = batch.message_names[batch.message_offsets[x] : batch.message_offsets[x + 1]].tolist()
        found = (self._offender(x, place, entity_names, message_names) for place in places)
        first = (
            replace(one, part=self._part(formula, x, place[1]))
            for one, place in zip(found, places, strict=True)
        )
        # On an incomplete execution what was not recorded may decide.
        return Offenders(tuple(first), count, exact and count > 0)

    def _part(self, formula: Formula, x: int, messages: tuple[int, ...]) -> tuple[tuple[str, str | int], ...]:
        """The values of the part that an offender is in, whose messages all are in it."""
        asked = (
            formula.right if isinstance(formula, Implies) and isinstance(formula.left, Quiescent) else formula
        )
        if not isinstance(asked, Per) or not messages:
            return ()
        return named_values(self._source, int(self._batch.message_offsets[x]) + messages[0], asked.attributes)

    def _offender(
        self,
        x: int,
        place: tuple[tuple[int, ...], tuple[int, ...]],
        entity_names: list[str],
        message_names: list[str],
    ) -> Offender:
        batch, (entities, messages) = self._batch, place
        first_entity = int(batch.entity_offsets[x])
        return Offender(
            tuple(entity_names[e] for e in entities),
            tuple(message_names[m] for m in messages),
            tuple(
                self._recorded(k, entity_names[e], message_names[int(batch.event_message[k])])
                for e in range(len(entity_names))
                for k in self._events(first_entity + e, frozenset(messages))
                if batch.event_kind[k] == SEND or (self._is_delivery(k) and (not entities or e in entities))
            ),
        )

    def _events(self, entity: int, messages: frozenset[int]) -> list[int]:
        """The places of the events of some messages in the history of an entity."""
        start, stop = (int(self._batch.event_offsets[k]) for k in (entity, entity + 1))
        wanted = np.isin(self._batch.event_message[start:stop], list(messages))
        return (np.flatnonzero(wanted) + start).tolist()

    def _is_delivery(self, k: int) -> bool:
        return _KINDS[self._batch.event_kind[k]] is self._batch.delivery

    def _recorded(self, k: int, entity: str, message: str) -> Recorded:
        batch, time = self._batch, int(self._batch.event_time[k])
        origins = batch.origins
        return Recorded(
            _KINDS[batch.event_kind[k]].value,
            entity,
            message,
            None if time == MISSING_TIME else time,
            None if origins is None else origins.files[origins.file[k]],
            None if origins is None else int(origins.row[k]),
        )

    def _bindings(self, clause: Clause, x: int) -> tuple[_Table, bool]:
        """All values of the clause's variables for which it is false; and whether these are all."""
        program = _program(clause, self._facts)
        found, count = np.zeros(0, np.int32), 0
        for compiled in self._ways:
            found, count = self._run(program, x, FIRST, compiled=compiled)
            if count >= 0:
                break
        whole = 0 <= count <= MOST
        count = min(~count if count < 0 else count, MOST)
        if count > FIRST:
            found, _ = self._run(program, x, count, compiled=compiled)
        bindings = found[: count * program.width].reshape(count, program.width)
        parts = naming_parts(clause)
        columns = [column for variable, _ in clause.binders for column in _columns(variable, parts)]
        entity, message = (np.array([column == kind for column in columns], np.bool_) for kind in _SHOWN)
        return _Table(bindings[:, entity], bindings[:, message]), whole

    def _run(self, program: _Program, x: int, capacity: int, *, compiled: bool) -> tuple[Bindings, int]:
        key = program, compiled
        if key not in self._arguments:
            read = arguments(program.generated, self._source, compiled)
            self._arguments[key] = read if compiled else as_lists(read)
        room = np.zeros(capacity * program.width, np.int32)
        if compiled:
            return room, program.compiled()(x, capacity, BUDGET, *self._arguments[key], room)
        listed = room.tolist()
        count: int = program.plain()(x, capacity, PLAIN_BUDGET, *self._arguments[key], listed)
        return np.array(listed, np.int32), count

    def _cycles(self, clause: Clause, x: int) -> tuple[_Table, bool]:
        if not clause.binders and recognise(clause.body) == ("acyclic_order",):
            columns = self._source.columns(KNOWN_LOGS)
            return _Table.of(cycles(columns, x, by_machine=self._source.by_machine)), True
        first, last = self._batch.entity_offsets[x], self._batch.entity_offsets[x + 1]
        if self._batch.event_offsets[last] - self._batch.event_offsets[first] > SMALL:
            return _Table.of([]), False
        execution = execution_of(self._batch, x)
        entities = {name: number for number, name in enumerate(sorted(execution.entities))}
        messages = {name: number for number, name in enumerate(sorted(execution.messages))}
        found = [
            (tuple(entities[name] for name in one.entities), tuple(messages[name] for name in one.messages))
            for one in by_definition(universal(clause), execution)
        ]
        return _Table.of(found), True


@dataclass(slots=True, eq=False)
class _Program:
    """The generated function for one clause and kind of batch."""

    generated: Generated
    width: int
    _plain: Callable[..., Any] | None = None
    _compiled: Callable[..., int] | None = None

    def plain(self) -> Callable[..., Any]:
        """As plain Python."""
        self._plain = self._plain or plain(self.generated)
        return self._plain

    def compiled(self) -> Callable[..., int]:
        """As machine code."""
        self._compiled = self._compiled or jitted_enumeration(self.generated)
        return self._compiled


@lru_cache(maxsize=256)
def _program(clause: Clause, facts: Facts) -> _Program:
    width = sum(len(_columns(variable, ())) for variable, _ in clause.binders)
    return _Program(generate_enumeration(clause, facts), width)


_SHOWN: Final = ("entity", "message")


def _columns(variable: Variable, parts: Collection[Variable]) -> tuple[str, ...]:
    """What the values of a variable are in a row of bindings. A variable that names a part is not shown."""
    match variable:
        case EntityVariable():
            return ("entity",)
        case MessageVariable():
            return ("part",) if variable in parts else ("message",)
        case DeliveryVariable():
            return _SHOWN
        case GroupVariable() | ViewVariable():
            return ()
        case _:
            assert_never(variable)


# ---- which bindings are about the same ----


@dataclass(frozen=True, slots=True)
class _Table:
    """Bindings: a row of entities and one of messages for each, -1 where there are fewer."""

    entities: Bindings
    messages: Bindings

    @classmethod
    def of(cls, found: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> _Table:
        """The table of offenders of any length."""
        return cls(*(_rows([one[part] for one in found]) for part in (0, 1)))

    def widened(self, entities: int, messages: int) -> _Table:
        """The table with so many columns at least."""
        return _Table(_widened(self.entities, entities), _widened(self.messages, messages))


def _rows(lists: Sequence[tuple[int, ...]]) -> Bindings:
    width = max(map(len, lists), default=0)
    filled = [(*one, *[-1] * (width - len(one))) for one in lists]
    return np.array(filled, np.int32).reshape(len(lists), width)


def _widened(columns: Bindings, width: int) -> Bindings:
    return np.pad(columns, ((0, 0), (0, width - columns.shape[1])), constant_values=-1)


def _different(
    tables: Sequence[_Table], limit: int
) -> tuple[list[tuple[tuple[int, ...], tuple[int, ...]]], int]:
    """The first of the bindings that are about different entities and messages, and how many these are."""
    widths = [max(getattr(table, part).shape[1] for table in tables) for part in ("entities", "messages")]
    wide = [table.widened(*widths) for table in tables]
    entities, messages = (
        np.vstack([getattr(table, part) for table in wide]) for part in ("entities", "messages")
    )
    # A column that is the same everywhere: there may be no other.
    keys = np.hstack([np.zeros((len(entities), 1), np.int32), _as_sets(entities), _as_sets(messages)])
    places = np.sort(np.unique(keys, axis=0, return_index=True)[1])

    def once(numbers: Bindings) -> tuple[int, ...]:
        return tuple(dict.fromkeys(k for k in numbers.tolist() if k >= 0))

    return [(once(entities[k]), once(messages[k])) for k in places[:limit].tolist()], len(places)


def _as_sets(columns: Bindings) -> Bindings:
    """Each row in descending order, with every number once and then -1."""
    ordered = -np.sort(-columns, axis=1)
    again = np.zeros(ordered.shape, np.bool_)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    ordered[again] = -1
    return -np.sort(-ordered, axis=1)
