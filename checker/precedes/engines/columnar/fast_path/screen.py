"""Who is fine, found in one pass over a laid-out row group, so that only of the others columns are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, assert_never

import numpy as np
import numpy.typing as npt

from precedes.core.execution import EVENT_CODES, EventKind
from precedes.engines.columnar.fast_path.coded_rows import rows_of
from precedes.engines.columnar.fast_path.group_reader import GroupReader, places
from precedes.engines.columnar.fast_path.row_group import RowGroup, group_of_rows
from precedes.engines.columnar.fast_path.screen_kernels import (
    CAUSAL,
    SCREENED,
    Question,
    Screened,
    fronts_of,
    screen,
    sets_of,
)
from precedes.engines.columnar.fast_path.view_screen import (
    ASKED,
    screen_views,
    view_sets,
)
from precedes.logic.plan import Both, Expression, Followed, Inverse, Plan, Value
from precedes.logic.prerequisites import NOTHING, Seen
from precedes.native.compiled_functions import machine_code
from precedes.traces import TraceOptions
from precedes.traces.layout.columnar_file import Coded, ColumnarFile, damaged


@dataclass(frozen=True, slots=True)
class Fine:
    """Executions on which everything asked for holds: how many, with how many events and messages; `vacuous` of
    them have no message. `seen`: what occurs in these or in the others of the row group.
    """

    executions: int
    events: int
    messages: int
    vacuous: int
    seen: Seen


def can_screen(plan: Plan) -> bool:
    """Whether what holds of all that `screen` looks at makes the whole plan hold."""
    asked = _definitions(plan)
    return bool(asked) and asked <= SCREENED | CAUSAL | set(ASKED) and all(map(_positive, plan.expressions))


def _definitions(plan: Plan) -> set[str | None]:
    """The definitions that are asked for, or imply what is; None where something else is, or something of parts."""
    steps = [plan.steps[number] for number in plan.needed(complete=True)]
    return {step.screened for step in steps}


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


def screened(
    file: ColumnarFile, number: int, options: TraceOptions, plan: Plan, *, bits: bool = True
) -> tuple[Fine, RowGroup]:
    """Who is fine of a regular row group without `named`, `listed` or `to_groups`, and the others.

    For complete executions and a plan that `can_screen`. `bits`: in the way for few messages, where that is possible.
    Raises PrecedesError for a damaged file (T005).
    """
    asked = _definitions(plan)
    of_views = {name for name in ASKED if name in asked}
    coded = file.coded(number, time=False, views=bool(of_views))
    size, rows = coded.executions, len(coded.event)
    found = Screened(np.empty(size + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.bool_))
    offsets, counts, fine = found
    causal = not CAUSAL.isdisjoint(asked)
    question = Question(EVENT_CODES[options.delivery], causal or not SCREENED.isdisjoint(asked), causal, bits)
    in_layout = machine_code(screen)(rows_of(coded), question, found, sets_of(rows), fronts_of(rows))
    if not in_layout:
        raise damaged(file.layout.source)
    surely = dict.fromkeys(asked - of_views, fine.copy())
    # Where no view is installed, what is asked of views is unknown.
    kept = np.zeros(size, np.int32)
    if of_views and coded.view is not None:
        machine_code(screen_views)(rows_of(coded), question.delivery, found, view_sets(), kept)
    for name in of_views:
        surely[name] = kept & ASKED[name] == ASKED[name]
        fine &= surely[name]
    others = np.flatnonzero(~fine)
    starts, stops = offsets[others], offsets[others + 1]
    left = coded if len(others) == size else _of(coded, starts, stops)
    reader = GroupReader(file, number, options, (starts, stops), coded.message)
    passed = Fine(
        size - len(others),
        rows - len(left.event),
        int(counts[fine].sum()),
        int(np.count_nonzero(counts[fine] == 0)),
        _seen(coded, counts[fine], options, plan),
    )
    group = group_of_rows(file, left, options, reader)
    return passed, group.satisfying({name: of[others] for name, of in surely.items()})


def _of(coded: Coded, starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]) -> Coded:
    """The rows of some executions."""
    chosen = places(starts, stops)
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


def _seen(coded: Coded, messages: npt.NDArray[np.int32], options: TraceOptions, plan: Plan) -> Seen:
    seen = NOTHING
    if plan.of_views and (coded.event == EVENT_CODES[EventKind.VIEW]).any():
        seen |= Seen.VIEW
    if (coded.event == EVENT_CODES[EventKind.SEND]).any():
        seen |= Seen.SENT
    if (messages > 1).any():
        seen |= Seen.TWO_MESSAGES
    delivered = coded.event == EVENT_CODES[options.delivery]
    if delivered.any():
        seen |= Seen.DELIVERED
    if Seen.TWO_DELIVERIES not in seen and _two_of_one_entity(coded, np.flatnonzero(delivered)):
        seen |= Seen.TWO_DELIVERIES
    return seen


def _two_of_one_entity(coded: Coded, rows: npt.NDArray[np.intp]) -> bool:
    """Whether some entity delivers two messages; the rows of an entity follow each other."""
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE + 1]
        alike = np.ones(max(len(some) - 1, 0), np.bool_)
        for column in (coded.execution, coded.entity):
            alike &= column[some[1:]] == column[some[:-1]]
        if (alike & (coded.message[some[1:]] != coded.message[some[:-1]])).any():
            return True
    return False


_AT_ONCE: Final = 10_000
"""Rows that are looked at together: in most files the first few tell."""
