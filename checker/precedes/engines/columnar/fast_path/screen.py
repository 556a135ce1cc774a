"""What is asked of many executions, decided in passes over a laid-out row group, so that columns are made only of the
others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, assert_never

import numpy as np

from precedes.core.columns import Bool, Int32, Int64
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.core.formula import Attribute, Carrier
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.columnar.connectives import joined
from precedes.engines.columnar.fast_path.attribute_screen import (
    IN_FLIGHT,
    POSITIONED,
    CarriedRoom,
    carried_room,
    count_recorded,
    screen_flights,
    screen_positions,
)
from precedes.engines.columnar.fast_path.coded_rows import rows_of
from precedes.engines.columnar.fast_path.group_attributes import Recorded, recorded_in
from precedes.engines.columnar.fast_path.group_reader import GroupReader, numbers_of_views, places
from precedes.engines.columnar.fast_path.row_group import TIMES, RowGroup, group_of_rows
from precedes.engines.columnar.fast_path.screen_kernels import (
    CAUSAL,
    SCREENED,
    Question,
    Screened,
    fronts_of,
    screen,
    sets_of,
)
from precedes.engines.columnar.fast_path.view_screen import ASKED, Answers, screen_views, view_sets
from precedes.logic.plan import Asked, Both, Expression, Followed, Inverse, Plan, Step, Value
from precedes.logic.prerequisites import NOTHING, Seen
from precedes.logic.recognition import POSITION
from precedes.native.codes import DEFERRED
from precedes.native.compiled_functions import machine_code, read_only
from precedes.traces import Notices, TraceOptions
from precedes.traces.assembly.attributes import tell_without
from precedes.traces.layout.columnar_file import Coded, ColumnarFile, damaged

Shown = tuple[int | None, int | None]
"""How many executions are wanted that violate something, and of which something is unknown; None: all of them."""

ALL: Final[Shown] = (None, None)

_OF_MESSAGES: Final = SCREENED | CAUSAL | {*POSITIONED, IN_FLIGHT}
"""What is so of the messages of a part if it is so of all messages."""


@dataclass(frozen=True, slots=True)
class Decided:
    """Executions that are decided and not looked at any more: how many, with how many events and messages; `vacuous` of
    them have no message. `counts` has of each name of the plan how many satisfy it, violate it, and are unknown.
    `seen`: what occurs in these or in the others of the row group.
    """

    executions: int
    events: int
    messages: int
    vacuous: int
    counts: tuple[tuple[int, int, int], ...]
    seen: Seen


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group that is screened: its rows, what they record, where its executions are, and of how many messages of
    each execution a value of an attribute is recorded.
    """

    coded: Coded
    recorded: Recorded
    found: Screened
    counts: Mapping[Attribute, Int32]

    def room(self) -> CarriedRoom:
        """Room for what messages of one execution carry."""
        return carried_room(int(self.found.message_counts.max(initial=0)))

    def has_parts(self, per: tuple[Attribute, ...]) -> Bool:
        """The executions that have a part by the values of these attributes, as far as that is seen, or no message."""
        messages = self.found.message_counts
        # A message with one value may lack another one.
        least = np.minimum(messages, 1) if len(per) == 1 else messages
        has: Bool = np.logical_and.reduce([self.counts[each] >= least for each in per])
        return has


def can_screen(plan: Plan) -> bool:
    """Whether everything that the plan asks for may be decided by a screen."""
    steps = [plan.steps[number] for number in plan.needed(complete=True)]
    return (
        bool(steps)
        and all(map(_is_screened, steps))
        and all(map(_positive, plan.expressions))
        and not plan.mentioned
        and all(each.carrier is Carrier.MESSAGE for each in plan.attributes)
    )


def _is_screened(step: Step) -> bool:
    asked = step.screened
    return asked is not None and asked.definition in (
        _OF_MESSAGES if asked.per else _OF_MESSAGES | ASKED.keys()
    )


def _positive(expression: Expression) -> bool:
    match expression:
        case Value():
            return True
        case Both(parts):
            return all(map(_positive, parts))
        case Followed(part, _):
            return _positive(part)
        case Inverse():
            return False
        case _:
            assert_never(expression)


class Screen:
    """Decides what a plan that `can_screen` asks of complete executions.

    `reads` are the columns that judging the others may read. `bits`: in the way for few messages, where that is
    possible.
    """

    def __init__(
        self, plan: Plan, options: TraceOptions, reads: frozenset[str] = frozenset(), *, bits: bool = True
    ) -> None:
        self._plan = plan
        self._options = options
        self._timed = not TIMES.isdisjoint(reads)
        self._bits = bits
        self._steps = {number: plan.steps[number] for number in plan.needed(complete=True)}
        self._asked = {step.screened for step in self._steps.values() if step.screened is not None}
        self._names = {asked.definition for asked in self._asked}
        self._delivery = EVENT_CODES[options.delivery]

    def decided(
        self, file: ColumnarFile, number: int, notices: Notices, shown: Shown = ALL
    ) -> tuple[Decided, RowGroup]:
        """What is decided of a regular row group without `named`, `listed` or `to_groups`, and the others.

        Among the others are executions that are decided and do not satisfy everything: the first ones that violate
        something, and the first ones of which something is unknown, as many as are `shown`. Raises PrecedesError for a
        damaged file (T005), and for values that cannot be read.
        """
        group = self._read(file, number)
        self._tell(group, notices)
        known = self._known(file, number, group)
        fine = _satisfied(known)
        rest = np.flatnonzero(~fine)
        values = {k: _of_step(step, known, rest) for k, step in self._steps.items()}
        sure = np.logical_and.reduce([of != DEFERRED for of in values.values()])
        names = np.stack([joined(one, values.__getitem__, complete=True) for one in self._plan.expressions])
        left = ~sure
        for some, most in zip(((names == FALSE), (names > TRUE)), shown, strict=True):
            left[np.flatnonzero(sure & some.any(axis=0))[:most]] = True
        others = rest[left]
        surely = {asked: of[others] == TRUE for asked, of in known.items()}
        return (
            self._counted(group, others, len(fine) - len(rest), names[:, ~left]),
            self._others(file, number, group, others).satisfying(surely),
        )

    def _read(self, file: ColumnarFile, number: int) -> _Group:
        coded = file.coded(number, time=False, views=not self._names.isdisjoint(ASKED))
        recorded = recorded_in(file, number, self._options)
        size, length = coded.executions, len(coded.event)
        found = Screened(np.empty(size + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.bool_))
        causal = not self._names.isdisjoint(CAUSAL)
        ordered = causal or not self._names.isdisjoint(SCREENED)
        question = Question(self._delivery, ordered, causal, self._bits)
        rows = rows_of(coded)
        if not machine_code(screen)(rows, question, found, sets_of(length), fronts_of(length)):
            raise damaged(file.layout.source)
        counts: dict[Attribute, Int32] = {}
        met = np.empty(int(found.message_counts.max(initial=0)), np.int64)
        for each in self._options.attributes:
            counts[each] = np.zeros(size, np.int32)
            if each in recorded.columns:
                column = read_only(recorded.columns[each])
                machine_code(count_recorded)(rows, column, found, met, counts[each])
        return _Group(coded, recorded, found, counts)

    def _tell(self, group: _Group, notices: Notices) -> None:
        messages = int(group.found.message_counts.sum())
        for each, counts in group.counts.items():
            tell_without(each, messages - int(counts.sum()), self._options, notices)

    def _known(self, file: ColumnarFile, number: int, group: _Group) -> dict[Asked, Int32]:
        """The values of everything that is asked, `DEFERRED` where they are not known."""
        nothing = np.full(group.coded.executions, DEFERRED, np.int32)
        fine = np.where(group.found.fine, np.int32(TRUE), nothing)
        whole = dict.fromkeys(SCREENED | CAUSAL, fine) | self._positioned(group)
        if group.coded.view is not None:
            whole |= self._viewed(file, number, group)
        known = {asked: whole.get(asked.definition, nothing) for asked in self._asked}
        for asked in self._asked:
            if asked.definition == IN_FLIGHT:
                known[asked] = self._in_flight(group, asked.per)
            elif asked.per:
                # What holds of all messages holds of those of a part; what does not may hold there.
                kept = (known[asked] == TRUE) & group.has_parts(asked.per)
                known[asked] = np.where(kept, np.int32(TRUE), nothing)
        return known

    def _positioned(self, group: _Group) -> dict[str, Int32]:
        """The values of what is asked of positions."""
        recorded = group.recorded.columns.get(POSITION)
        if recorded is None or self._names.isdisjoint(POSITIONED):
            return {}
        values = np.full((group.coded.executions, len(POSITIONED)), TRUE, np.int32)
        values[:, [name in self._names for name in POSITIONED]] = DEFERRED
        rows = rows_of(group.coded), read_only(recorded)
        machine_code(screen_positions)(*rows, self._delivery, group.found, group.room(), values)
        return {name: of for name, of in zip(POSITIONED, values.T, strict=True) if name in self._names}

    def _in_flight(self, group: _Group, per: tuple[Attribute, ...]) -> Int32:
        """The values of what is asked of messages in flight."""
        values = np.full(group.coded.executions, DEFERRED, np.int32)
        recorded = [group.recorded.columns.get(each) for each in per] or [np.zeros(0, np.int64)]
        if len(recorded) > 1 or recorded[0] is None:
            return values
        rows = rows_of(group.coded), read_only(recorded[0])
        machine_code(screen_flights)(*rows, self._delivery, group.found, group.room(), values)
        return np.where(group.has_parts(per), values, np.int32(DEFERRED))

    def _viewed(self, file: ColumnarFile, number: int, group: _Group) -> dict[str, Int32]:
        """The values of what is asked of views."""
        size = group.coded.executions
        asked = "local_monotonicity" in self._names
        numbers = numbers_of_views(file.view_ids(number)) if asked else np.zeros(0, np.int64)
        answers = Answers(*(np.empty(size, np.int32) for _ in Answers._fields))
        rows = rows_of(group.coded), read_only(numbers)
        machine_code(screen_views)(*rows, self._delivery, group.found, view_sets(), answers)
        values: dict[str, Int32] = {}
        for name in self._names & ASKED.keys():
            found = np.full(size, DEFERRED, np.int32)
            found[answers.satisfied & ASKED[name] != 0] = TRUE
            found[answers.violated & ASKED[name] != 0] = FALSE
            found[answers.unnumbered & ASKED[name] != 0] = Reason.NO_VIEW_NUMBER
            values[name] = found
        return values

    def _counted(self, group: _Group, others: Int64, fine: int, names: Int32) -> Decided:
        """What is decided: all executions but the others. `fine` ones satisfy everything; the rest has these values of
        names.
        """
        messages, offsets = group.found.message_counts, group.found.row_offsets
        counts = [
            np.count_nonzero(of, axis=1).tolist() for of in (names == TRUE, names == FALSE, names > TRUE)
        ]
        return Decided(
            len(messages) - len(others),
            int(offsets[-1] - (offsets[others + 1] - offsets[others]).sum()),
            int(messages.sum() - messages[others].sum()),
            int(np.count_nonzero(messages == 0) - np.count_nonzero(messages[others] == 0)),
            tuple(
                (holds + fine, violated, unknown) for holds, violated, unknown in zip(*counts, strict=True)
            ),
            _seen(group.coded, messages, self._options, self._plan),
        )

    def _others(self, file: ColumnarFile, number: int, group: _Group, others: Int64) -> RowGroup:
        coded, recorded, offsets = group.coded, group.recorded, group.found.row_offsets
        spans = offsets[others], offsets[others + 1]
        reader = GroupReader(file, number, self._options, spans, coded.message)
        times = file.times(number) if self._timed and len(others) else None
        if len(others) < coded.executions:
            chosen = places(*spans)
            coded, recorded = _of(coded, chosen, *spans), recorded.of_rows(chosen)
            times = None if times is None else times[chosen]
        coded = replace(coded, time=times)
        return group_of_rows(file, coded, self._options, reader).carrying(recorded, coded)


def _satisfied(known: Mapping[Asked, Int32]) -> Bool:
    """The executions of which all that is asked is known to hold."""
    different = list({id(values): values for values in known.values()}.values())
    # `TRUE` has no bit set, and whatever else has some.
    satisfied: Bool = np.bitwise_or.reduce(different) == TRUE
    return satisfied


def _of_step(step: Step, known: Mapping[Asked, Int32], rest: Int64) -> Int32:
    """The values of a step on some executions, of those of what is known."""
    assert step.screened is not None, "can_screen"
    values = known[step.screened][rest]
    return values if step.is_screened else np.where(values == TRUE, values, np.int32(DEFERRED))


def _of(coded: Coded, chosen: Int64, starts: Int64, stops: Int64) -> Coded:
    """The rows of some executions, which are `chosen`."""
    return replace(
        coded,
        executions=len(starts),
        execution=np.repeat(np.arange(len(starts), dtype=np.int32), stops - starts),
        entity=coded.entity[chosen],
        event=coded.event[chosen],
        message=coded.message[chosen],
        dest=coded.dest[chosen],
        view=None if coded.view is None else coded.view[chosen],
        members=None if coded.members is None else coded.members[chosen],
    )


def _seen(coded: Coded, messages: Int32, options: TraceOptions, plan: Plan) -> Seen:
    seen = NOTHING
    if plan.of_views and (coded.event == EVENT_CODES[EventKind.VIEW]).any():
        seen |= Seen.VIEW
    if (coded.event == EVENT_CODES[EventKind.SEND]).any():
        seen |= Seen.SENT
    if (messages > 1).any():
        seen |= Seen.TWO_MESSAGES
    delivery = EVENT_CODES[options.delivery]
    if (coded.event == delivery).any():
        seen |= Seen.DELIVERED
    if _two_of_one_entity(coded, delivery):
        seen |= Seen.TWO_DELIVERIES
    return seen


def _two_of_one_entity(coded: Coded, delivery: int) -> bool:
    """Whether some entity delivers two messages; the rows of an entity follow each other."""
    last = np.zeros(0, np.int64)
    for start in range(0, len(coded.event), _AT_ONCE):
        rows = np.flatnonzero(coded.event[start : start + _AT_ONCE] == delivery) + start
        some = np.concatenate([last, rows])
        alike = np.ones(max(len(some) - 1, 0), np.bool_)
        for column in (coded.execution, coded.entity):
            alike &= column[some[1:]] == column[some[:-1]]
        if (alike & (coded.message[some[1:]] != coded.message[some[:-1]])).any():
            return True
        last = some[-1:]
    return False


_AT_ONCE: Final = 10_000
"""Rows that are looked at together: in most files the first few tell."""
