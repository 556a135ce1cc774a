"""Any formula of the core, compiled to loops over columns.

The source of the loops is generated once per formula and kind of batch (`generation`). A small batch is
judged by running it as plain Python; numba is loaded once there is more to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import offsets_of
from precedes.core.formula import And, Attribute, Exists, Formula, Or, RecordedClock
from precedes.core.traversal import walk
from precedes.core.verdict import TRUE, Reason
from precedes.engines.columnar.compiler.estimate import Steps, steps
from precedes.engines.columnar.compiler.functions import Generated, generate
from precedes.engines.columnar.compiler.machine_code import jitted, plain
from precedes.engines.columnar.compiler.terms import Facts
from precedes.engines.columnar.execution_source import ExecutionSource
from precedes.engines.columnar.kernel_columns import Columns, listed
from precedes.engines.columnar.parts import (
    Members,
    Parts,
    codes_of,
    made_values,
    members_of,
    parts_of,
    values_of,
)
from precedes.logic.senders import without_sends
from precedes.native.compiled_functions import read_only

PLAIN_FORMULA_STEPS: Final = 3_000_000
"""Up to so many steps of its loops a formula is judged without numba: to compile would take longer than the work."""

SEEKING_STEPS: Final = 20_000_000
"""Steps of loops in one execution after which a search for what may be true ends: some 0.1 s of machine code."""

FIRST_STEPS: Final = 100_000
"""So many are tried without numba before anything is compiled."""

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

    def with_others(self, other: Witnesses, executions: npt.NDArray[np.int64]) -> Witnesses:
        """These, but for some executions those of another."""
        found = [self.of(x) for x in range(len(self.entity_offsets) - 1)]
        for x in executions.tolist():
            found[x] = other.of(x)
        entities, messages = ([shown[kind] for shown in found] for kind in (0, 1))
        return Witnesses(*_in_one(entities), *_in_one(messages))


def _in_one(parts: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], Values]:
    return offsets_of(list(map(len, parts))), np.array([one for part in parts for one in part], np.int32)


@dataclass(frozen=True, slots=True)
class CompiledFormula:
    """A formula that can judge executions. It can be pickled; what is compiled stays with the process."""

    formula: Formula
    sought: bool = False

    def run(self, source: ExecutionSource, jit: bool | None = None) -> tuple[Values, Witnesses]:
        """The value of the formula on every execution (E), as in `precedes.core.verdict`, and what shows the
        violations.

        `jit`: whether to compile; None: by how many steps this process needs to judge by the formula.
        ValueError for logs of unknown interleaving, which no trace has.
        """
        known = source.columns(("interleaved",))
        if not known.interleaved.all():
            raise ValueError(
                "where only SL and RL are known, the reference evaluator judges, not the compiler"
            )
        values, witnesses = self._judged(self.formula, source, jit)
        apart, changed = senderless(source), without_sends(self.formula)
        if len(apart) and changed != self.formula:
            of_others, shown = self._judged(changed, source, jit)
            values[apart] = of_others[apart]
            witnesses = witnesses.with_others(shown, apart)
        return values, witnesses

    def _judged(
        self, formula: Formula, source: ExecutionSource, jit: bool | None
    ) -> tuple[Values, Witnesses]:
        program = _program(formula, facts_of(source, formula), self.sought)
        if self.sought and jit is not False and program.is_quick_to_try(source):
            values, witnesses = program.run(source, False, FIRST_STEPS)
            if not np.any((values > TRUE) & (values & Reason.NOT_DECIDED != 0)):
                return values, witnesses
        return program.run(source, program.is_worth_compiling(source) if jit is None else jit)

    def steps(self, source: ExecutionSource) -> Steps:
        """About how many steps it takes to judge each execution (E): its events, where one instance may be enough."""
        if self.sought or _ends_early(self.formula):
            columns = source.columns(())
            return np.diff(columns.event_offsets[columns.entity_offsets]).astype(np.float64)
        return steps(_program(self.formula, facts_of(source, self.formula), self.sought).generated, source)

    def reads(self, *, complete: bool) -> frozenset[str]:
        """The columns that judging by the formula may read."""
        read: set[str] = set()
        for logged in (False, True):
            facts = Facts(complete=complete, logged=logged, ordered=True, direct=True)
            read |= {"order_doubt", *_program(self.formula, facts, self.sought).generated.reads}
        return frozenset(read)


def senderless(source: ExecutionSource) -> npt.NDArray[np.int64]:
    """The executions in which it is not known who sent some message: what depends on sends is unknown there."""
    return np.flatnonzero(source.columns(("order_doubt",)).order_doubt & int(Reason.SEND_NOT_LOGGED))


def facts_of(source: ExecutionSource, formula: Formula | None = None) -> Facts:
    """What is known of all executions of a source, for a formula or for any."""
    columns = source.columns(("send_logged", "sender", "history_doubt", "to_groups"))
    logged = bool(np.all(columns.send_logged | (columns.sender < 0)))
    clocked = formula is None or not _asks_for_clocks(formula)
    return Facts(
        complete=columns.complete,
        logged=logged,
        ordered=not columns.history_doubt.any(),
        direct=len(columns.to_groups) == 0,
        clocked=clocked or bool(source.columns(("clock_recorded",)).clock_recorded.any()),
    )


@lru_cache(maxsize=256)
def _asks_for_clocks(formula: Formula) -> bool:
    return any(isinstance(node, RecordedClock) for node in walk(formula))


def compile_formula(formula: Formula, *, sought: bool = False) -> CompiledFormula:
    """The closed formula, ready to judge executions. Nothing is generated before the first ones. `sought`: it is only
    asked whether it may be true, and where that takes too long to find out, it may.
    """
    return CompiledFormula(formula, sought)


@dataclass(slots=True)
class _Program:
    """The generated functions for one formula and kind of batch."""

    generated: Generated
    steps: float = 0
    _plain: Callable[..., None] | None = None
    _compiled: Callable[..., None] | None = None

    def is_worth_compiling(self, source: ExecutionSource) -> bool:
        """Whether to compile, now that so many more executions are to be judged."""
        if self._compiled is None:
            self.steps += float(steps(self.generated, source).sum())
        return self._compiled is not None or self.steps >= PLAIN_FORMULA_STEPS

    def is_quick_to_try(self, source: ExecutionSource) -> bool:
        """Whether the first steps in each execution take less time as plain Python than to compile."""
        if self._compiled is not None:
            return False
        before = float(steps(self.generated, source, loops=False).sum())
        return before + FIRST_STEPS * source.executions < PLAIN_FORMULA_STEPS

    def run(
        self, source: ExecutionSource, compiled: bool, most_steps: int | None = None
    ) -> tuple[Values, Witnesses]:
        """Judge the executions of a source. What is sought is given up after `most_steps` in one of them."""
        generated, executions = self.generated, source.executions
        entities, messages, cycles = generated.shown
        read = arguments(generated, source, compiled, most_steps or SEEKING_STEPS)
        columns: Columns = read[0]
        outputs: list[npt.NDArray[Any]] = [
            np.zeros(executions, np.int32),
            np.zeros(executions, np.int64),
            np.zeros(executions, np.int64),
            np.zeros(executions * entities, np.int32),
            np.zeros(executions * messages + cycles * int(columns.message_offsets[-1]), np.int32),
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
def _program(formula: Formula, facts: Facts, sought: bool) -> _Program:
    return _Program(generate(formula, facts, sought=sought))


def _ends_early(formula: Formula) -> bool:
    """Whether something that exists decides the formula, or a part of it."""
    if isinstance(formula, And | Or):
        return any(map(_ends_early, formula.parts))
    return isinstance(formula, Exists)


# ---- arguments -------------------------------------------------------------------------------------------


def arguments(
    generated: Generated, source: ExecutionSource, compiled: bool, most_steps: int = SEEKING_STEPS
) -> list[Any]:
    """What a generated function reads of a source: its columns, local numbers by name, what messages carry, and scratch
    columns. `compiled`: machine code reads it.
    """
    columns = source.columns(generated.reads)
    sizes = _sizes(columns)
    return [
        columns,
        *(read_only(source.numbers(sort, name)) for _, sort, name in generated.named),
        *map(read_only, _carried(source, generated, compiled)),
        *(
            np.full(sizes[size], most_steps if size == "seeking" else 0, np.int32)
            for size in generated.scratch
        ),
    ]


def _carried(
    source: ExecutionSource, generated: Generated, compiled: bool
) -> Iterator[npt.NDArray[np.int64]]:
    """What messages carry, and the codes of texts that a formula names."""
    parts: dict[tuple[Attribute, ...], Parts] = {}
    members: dict[tuple[Attribute, ...], Members] = {}
    for column in generated.carried:
        if column.kind == "values":
            yield values_of(source, column.attributes[0])
            continue
        if column.kind == "made":
            yield made_values(source, column.attributes[0])
            continue
        of = column.attributes
        if of not in parts:
            parts[of] = parts_of(source, of, compiled)
        if column.kind not in ("member_starts", "members"):
            yield getattr(parts[of], column.kind)
            continue
        if of not in members:
            members[of] = members_of(parts[of], source, compiled)
        yield getattr(members[of], column.kind)
    if generated.texts:
        yield codes_of(source, generated.texts)


def as_lists(arguments: list[Any]) -> list[Any]:
    """The same as lists, which are read several times faster than arrays, one element at a time."""
    columns, *others = arguments
    return [listed(columns), *(column.tolist() for column in others)]


def _sizes(columns: Columns) -> dict[str, int]:
    """How long scratch columns must be for the largest executions."""
    entities = np.diff(columns.entity_offsets)
    messages = np.diff(columns.message_offsets)
    events = np.diff(columns.event_offsets[columns.entity_offsets])

    def most(lengths: npt.NDArray[np.int64]) -> int:
        return int(lengths.max(initial=0)) + 1

    return {
        "seeking": 2,
        "entities": most(entities),
        "messages": most(messages),
        "entity_messages": most(entities * messages),
        "events": most(events + messages),
        "event_entities": most(events * entities),
        "event_entity_pairs": most((events + entities) * 2 * entities),
        "message_pairs": most(messages * messages),
    }
