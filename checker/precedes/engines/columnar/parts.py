"""The parts of executions in columns: the messages that have the same values of some attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.core.columns import NOT_RECORDED, offsets_of
from precedes.core.formula import Attribute, AttributeSort
from precedes.engines.columnar.execution_source import ExecutionSource
from precedes.native.compiled_functions import Int64Out, machine_code, read_only

Int64 = npt.NDArray[np.int64]

NO_TEXT: Final = -1
"""The code of a text that no message carries."""

ROOM: Final = 4
"""So many times as many groups as messages there may be before they are numbered anew."""


def values_of(source: ExecutionSource, attribute: Attribute) -> Int64:
    """The values (M) of an attribute; nowhere recorded where it was not read."""
    found = source.attributes.of(attribute)
    return np.full(int(_offsets(source)[-1]), NOT_RECORDED, np.int64) if found is None else found


def made_values(source: ExecutionSource, attribute: Attribute) -> Int64:
    """The values (D) of an attribute of deliveries; nowhere recorded where it was not read."""
    made, found = source.columns(("made_event",)).made_event, source.attributes.of(attribute)
    return np.full(len(made), NOT_RECORDED, np.int64) if found is None else found[made]


def named_values(
    source: ExecutionSource, message: int, attributes: tuple[Attribute, ...]
) -> tuple[tuple[str, str | int], ...]:
    """The recorded values of attributes of a message, which is given by its number in the source, by their names."""
    numbers = [(attribute, int(values_of(source, attribute)[message])) for attribute in attributes]
    return tuple(
        (one.name, str(source.attributes.texts[number]) if one.sort is AttributeSort.TEXT else number)
        for one, number in numbers
        if number != NOT_RECORDED
    )


def codes_of(source: ExecutionSource, texts: Sequence[str]) -> Int64:
    """The codes of texts in a source."""
    codes = np.full(len(texts), NO_TEXT, np.int64)
    for place, text in enumerate(texts):
        found = np.flatnonzero(source.attributes.texts == text)
        codes[place] = found[0] if len(found) else NO_TEXT
    return codes


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of E executions, P in all.

    part           M      number of the part within its execution, from 0; -1 for a message that is in none
    starts         E + 1  into the parts, which are in the order of their first messages
    firsts         P      the first message of each part, by its local number
    """

    part: Int64
    starts: Int64
    firsts: Int64

    def among(self, executions: npt.NDArray[np.bool_], message_offsets: Int64) -> Parts:
        """The parts of some executions (E); the others have none."""
        counts = np.diff(self.starts)
        of_messages = np.repeat(executions, np.diff(message_offsets))
        return Parts(
            np.where(of_messages, self.part, -1),
            offsets_of(np.where(executions, counts, 0)),
            self.firsts[np.repeat(executions, counts)],
        )


@dataclass(frozen=True, slots=True)
class Members:
    """The messages of each of P parts.

    member_starts  P + 1  into the members
    members               local messages of each part, ascending
    local          M      number of the message among the members of its part; anything for one that is in none
    """

    member_starts: Int64
    members: Int64
    local: Int64


def parts_of(source: ExecutionSource, attributes: tuple[Attribute, ...], compiled: bool) -> Parts:
    """The parts that the values of some attributes make. `compiled`: by machine code."""
    groups, most = _groups(source, attributes)
    part, firsts = np.empty(len(groups), np.int64), np.empty(len(groups), np.int64)
    starts = np.empty(source.executions + 1, np.int64)
    groups_met = Met(np.full(most, -1, np.int64), np.empty(most, np.int64))
    found = Numbered(part, starts, firsts)
    _run(compiled, number_parts, _offsets(source), read_only(groups), groups_met, found)
    return Parts(part, starts, firsts[: starts[-1]])


def members_of(parts: Parts, source: ExecutionSource, compiled: bool) -> Members:
    """The messages of each part. `compiled`: by machine code."""
    local, members = np.empty(len(parts.part), np.int64), np.empty(len(parts.part), np.int64)
    starts = np.empty(len(parts.firsts) + 1, np.int64)
    columns = _offsets(source), read_only(parts.part), read_only(parts.starts)
    _run(compiled, list_members, *columns, starts, members, local)
    return Members(starts, members[: starts[-1]], local)


def _offsets(source: ExecutionSource) -> Int64:
    return source.columns(()).message_offsets


def _run(compiled: bool, function: Callable[..., None], *columns: Any) -> None:
    (machine_code(function) if compiled else function)(*columns)


def _groups(source: ExecutionSource, attributes: tuple[Attribute, ...]) -> tuple[Int64, int]:
    """A number (M) for the values of the attributes, less than 0 where one was not recorded; and what they are less
    than.
    """
    messages, texts = int(_offsets(source)[-1]), len(source.attributes.texts)
    columns = [values_of(source, attribute) for attribute in attributes]
    if len(attributes) == 1 and attributes[0].sort is AttributeSort.TEXT and texts <= ROOM * messages:
        # What was not recorded is negative, too.
        return columns[0], texts
    known = np.flatnonzero(np.logical_and.reduce([column != NOT_RECORDED for column in columns]))
    numbers, most = np.zeros(len(known), np.int64), 1
    for attribute, column in zip(attributes, columns, strict=True):
        values, size = column[known], texts
        if attribute.sort is not AttributeSort.TEXT or texts > ROOM * messages:
            values, size = _dense(values)
        numbers, most = numbers * size + values, most * size
        if most > ROOM * messages:
            numbers, most = _dense(numbers)
    groups = np.full(messages, -1, np.int64)
    groups[known] = numbers
    return groups, most


def _dense(values: Int64) -> tuple[Int64, int]:
    """Small numbers for the values, the same for equal ones; and what they are less than."""
    if len(values) == 0:
        return values, 0
    least, span = int(values.min()), int(values.max()) - int(values.min()) + 1
    if span <= ROOM * len(values):
        return values - least, span
    different, numbers = np.unique(values, return_inverse=True)
    return numbers.astype(np.int64), len(different)


class Met(NamedTuple):
    """Of each group the execution in which it was met last, and its part there."""

    execution: Int64Out
    part: Int64Out


class Numbered(NamedTuple):
    """The columns of `Parts`, to be written; `firsts` has room for one part for each message."""

    part: Int64Out
    starts: Int64Out
    firsts: Int64Out


def number_parts(offsets: Int64, groups: Int64, groups_met: Met, found: Numbered) -> None:
    """Number the parts of each execution."""
    met, number = groups_met
    part, starts, firsts = found
    count = 0
    executions = len(offsets) - 1
    for x in range(executions):
        starts[x] = count
        for m in range(offsets[x], offsets[x + 1]):
            group = groups[m]
            part[m] = -1
            if group >= 0:
                if met[group] != x:
                    met[group] = x
                    number[group] = count - starts[x]
                    firsts[count] = m - offsets[x]
                    count += 1
                part[m] = number[group]
    starts[executions] = count


def list_members(
    offsets: Int64, part: Int64, starts: Int64, member_starts: Int64Out, members: Int64Out, local: Int64Out
) -> None:
    """List the members of each part, and number them within it."""
    for place in range(len(member_starts)):
        member_starts[place] = 0
    executions = len(offsets) - 1
    for x in range(executions):
        if starts[x] == starts[x + 1]:
            continue
        for m in range(offsets[x], offsets[x + 1]):
            if part[m] >= 0:
                place = starts[x] + part[m] + 1
                local[m] = member_starts[place]
                member_starts[place] += 1
    for place in range(1, len(member_starts)):
        member_starts[place] += member_starts[place - 1]
    for x in range(executions):
        if starts[x] == starts[x + 1]:
            continue
        for m in range(offsets[x], offsets[x + 1]):
            if part[m] >= 0:
                members[member_starts[starts[x] + part[m]] + local[m]] = m - offsets[x]
