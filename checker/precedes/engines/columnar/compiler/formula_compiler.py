"""Any formula of the core, compiled to loops over columns.

The source of the loops is generated once per formula and kind of batch (`generation`). A small batch is
judged by running it as plain Python; numba is loaded once there is more to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Batch
from precedes.core.formula import Attribute, Formula
from precedes.engines.columnar.compiler.functions import Generated, generate
from precedes.engines.columnar.compiler.machine_code import jitted, plain
from precedes.engines.columnar.compiler.terms import Facts
from precedes.engines.columnar.kernel_columns import columns_of, listed
from precedes.engines.columnar.native import read_only
from precedes.engines.columnar.parts import Members, Parts, codes_of, members_of, parts_of, values_of

PLAIN_FORMULA_EVENTS: Final = 100_000
"""Up to so many events a formula is judged without numba: to compile would take longer than the work."""

Values = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Witnesses:
    """What shows the violations: the values of the outermost variables where one was met, outermost first.

    Local numbers, the entities of execution x at `entity_offsets[x]:entity_offsets[x + 1]`, its messages
    likewise. For a relation with a cycle the messages on one are among them. Both are empty where no
    variable shows the violation.
    """

    entity_offsets: npt.NDArray[np.int64]
    entities: Values
    message_offsets: npt.NDArray[np.int64]
    messages: Values

    def of(self, x: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The entities and the messages for execution x."""
        entities = self.entities[self.entity_offsets[x] : self.entity_offsets[x + 1]]
        messages = self.messages[self.message_offsets[x] : self.message_offsets[x + 1]]
        return tuple(map(int, entities)), tuple(map(int, messages))


@dataclass(frozen=True, slots=True)
class CompiledFormula:
    """A formula that can judge batches. It can be pickled; what is compiled stays with the process."""

    formula: Formula

    def run(self, batch: Batch, jit: bool | None = None) -> tuple[Values, Witnesses]:
        """The value of the formula on every execution (E), as in `precedes.core.verdict`, and what shows the
        violations.

        `jit`: whether to compile; None: by how many events this process has judged by the formula.
        ValueError for a batch with logs of unknown interleaving, which no trace has.
        """
        if batch.interleaved is not None and not batch.interleaved.all():
            raise ValueError(
                "where only SL and RL are known, the reference evaluator judges, not the compiler"
            )
        program = _program(self.formula, facts_of(batch))
        return program.run(batch, program.is_worth_compiling(len(batch.event_kind)) if jit is None else jit)

    def reads(self, *, complete: bool) -> frozenset[str]:
        """The columns that judging by the formula may read; "names" where it looks for an id."""
        read: set[str] = set()
        for logged in (False, True):
            generated = _program(
                self.formula, Facts(complete=complete, logged=logged, ordered=True)
            ).generated
            read |= set(generated.reads) | ({"names"} if generated.named else set())
        return frozenset(read)


def facts_of(batch: Batch) -> Facts:
    """What is known of all executions of a batch."""
    logged = bool(np.all(batch.send_logged | (batch.sender < 0)))
    return Facts(complete=batch.complete, logged=logged, ordered=batch.history_doubt is None)


def compile_formula(formula: Formula) -> CompiledFormula:
    """The closed formula, ready to judge batches. Nothing is generated before the first one."""
    return CompiledFormula(formula)


@dataclass(slots=True)
class _Program:
    """The generated functions for one formula and kind of batch."""

    generated: Generated
    events: int = 0
    _plain: Callable[..., None] | None = None
    _compiled: Callable[..., None] | None = None

    def is_worth_compiling(self, events: int) -> bool:
        """Whether to compile, now that so many more events are to be judged."""
        self.events += events
        return self._compiled is not None or self.events >= PLAIN_FORMULA_EVENTS

    def run(self, batch: Batch, compiled: bool) -> tuple[Values, Witnesses]:
        """Judge a batch."""
        generated, executions = self.generated, batch.executions
        entities, messages, cycles = generated.shown
        read = arguments(generated, batch, compiled)
        outputs: list[npt.NDArray[Any]] = [
            np.zeros(executions, np.int32),
            np.zeros(executions, np.int64),
            np.zeros(executions, np.int64),
            np.zeros(executions * entities, np.int32),
            np.zeros(executions * messages + cycles * len(batch.sender), np.int32),
        ]
        if compiled:
            self._compiled = self._compiled or jitted(generated)
            self._compiled(0, executions, *read, *outputs)
        else:
            self._plain = self._plain or plain(generated)
            lists = [output.tolist() for output in outputs]
            self._plain(0, executions, *as_lists(read), *lists)
            outputs = [np.array(listed, output.dtype) for listed, output in zip(lists, outputs, strict=True)]
        values, entity_stops, message_stops, found_entities, found_messages = outputs
        start = np.zeros(1, np.int64)
        entity_offsets, message_offsets = np.append(start, entity_stops), np.append(start, message_stops)
        shown = found_entities[: entity_offsets[-1]].copy(), found_messages[: message_offsets[-1]].copy()
        return values, Witnesses(entity_offsets, shown[0], message_offsets, shown[1])


@lru_cache(maxsize=256)
def _program(formula: Formula, facts: Facts) -> _Program:
    return _Program(generate(formula, facts))


# ---- arguments -------------------------------------------------------------------------------------------


def arguments(generated: Generated, batch: Batch, compiled: bool) -> list[Any]:
    """What a generated function reads of a batch: its columns, local numbers by name, what messages carry, and scratch
    columns. `compiled`: machine code reads it.
    """
    sizes = _sizes(batch)
    return [
        columns_of(batch, generated.reads),
        *(read_only(_named(batch, sort, name)) for _, sort, name in generated.named),
        *map(read_only, _carried(batch, generated, compiled)),
        *(np.zeros(sizes[size], np.int32) for size in generated.scratch),
    ]


def _carried(batch: Batch, generated: Generated, compiled: bool) -> Iterator[npt.NDArray[np.int64]]:
    """What messages carry, and the codes of texts that a formula names."""
    parts: dict[tuple[Attribute, ...], Parts] = {}
    members: dict[tuple[Attribute, ...], Members] = {}
    for column in generated.carried:
        if column.kind == "values":
            yield values_of(batch, column.attributes[0])
            continue
        of = column.attributes
        if of not in parts:
            parts[of] = parts_of(batch, of, compiled)
        if column.kind not in ("member_starts", "members"):
            yield getattr(parts[of], column.kind)
            continue
        if of not in members:
            members[of] = members_of(parts[of], batch, compiled)
        yield getattr(members[of], column.kind)
    if generated.texts:
        yield codes_of(batch, generated.texts)


def as_lists(arguments: list[Any]) -> list[Any]:
    """The same as lists, which are read several times faster than arrays, one element at a time."""
    columns, *others = arguments
    return [listed(columns), *(column.tolist() for column in others)]


def _named(batch: Batch, sort: str, wanted: str) -> Values:
    """Per execution, the local number of the entity or message that has a name, or -1."""
    entity = sort == "entity"
    offsets = batch.entity_offsets if entity else batch.message_offsets
    return _numbers(batch.entity_names if entity else batch.message_names, offsets, wanted)


def _numbers(names: npt.NDArray[Any], offsets: npt.NDArray[np.int64], wanted: str) -> Values:
    """Per execution, the local number of what has the name, or -1."""
    numbers = np.full(len(offsets) - 1, -1, np.int32)
    places = np.flatnonzero(names == wanted)
    executions = np.searchsorted(offsets, places, side="right") - 1
    numbers[executions] = places - offsets[executions]
    return numbers


def _sizes(batch: Batch) -> dict[str, int]:
    """How long scratch columns must be for the largest executions."""
    entities = np.diff(batch.entity_offsets)
    messages = np.diff(batch.message_offsets)
    events = np.diff(batch.event_offsets[batch.entity_offsets])

    def most(lengths: npt.NDArray[np.int64]) -> int:
        return int(lengths.max(initial=0)) + 1

    return {
        "entities": most(entities),
        "messages": most(messages),
        "entity_messages": most(entities * messages),
        "events": most(events + messages),
        "event_entities": most(events * entities),
        "event_entity_pairs": most((events + entities) * 2 * entities),
        "message_pairs": most(messages * messages),
    }
