"""Judges the invariants of an exploration: once for each entity or pair, or for whole states, in any state or in
quiescent ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from precedes.core.execution import EventKind
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration.distinct_rows import Code, DistinctRows
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.exploration.kept_search import Kept, named, part
from precedes.protocol.exploration.seen_histories import SeenHistories
from precedes.protocol.exploration.tally import Tally
from precedes.protocol.invariants import Invariant, OfEntity, OfPair, OfState, OfStep, Situation
from precedes.protocol.model import Message

Int64: TypeAlias = npt.NDArray[np.int64]
Rows: TypeAlias = npt.NDArray[np.int32]
"""States, one in a row."""

_Kind = TypeVar("_Kind", bound=OfEntity | OfPair | OfState)


class _Invariants(Generic[_Kind]):
    """The invariants of one kind, and of what they have been judged: in any state, and in quiescent ones."""

    def __init__(self, invariants: tuple[_Kind, ...]) -> None:
        self.all = invariants
        self._asked = {
            quiescent: tuple(i for i in invariants if i.quiescent is quiescent) for quiescent in (False, True)
        }
        self._judged: dict[bool, DistinctRows] = {}

    def begin(self, width: int, code: Code) -> None:
        """Judge what is told apart by so many numbers."""
        self._judged = {quiescent: DistinctRows(width, code) for quiescent in (False, True)}

    def kept(self) -> Kept:
        """What has been judged."""
        return {
            "quiescent" if quiescent else "always": rows.rows[: rows.count]
            for quiescent, rows in self._judged.items()
        }

    def take_up(self, kept: Kept) -> None:
        """Know what has been judged."""
        for quiescent, rows in self._judged.items():
            rows.take_up(kept["quiescent" if quiescent else "always"])

    def asked(self, quiescent: bool) -> tuple[_Kind, ...]:
        """Those of one mode."""
        return self._asked[quiescent]

    def new(self, what: npt.NDArray[np.int32], *, quiescent: bool) -> npt.NDArray[np.intp]:
        """The places of what has not been judged before; from now on it has."""
        return self._judged[quiescent].add(what)


class InvariantJudge:
    """Judges invariants, and counts in a tally what came of it. Those of steps are judged where the steps are made."""

    def __init__(self, invariants: tuple[Invariant, ...], tally: Tally) -> None:
        self.all = invariants
        self._tally = tally
        self.of_entity = _Invariants(tuple(i for i in invariants if isinstance(i, OfEntity)))
        self.of_pair = _Invariants(tuple(i for i in invariants if isinstance(i, OfPair)))
        self.of_state = _Invariants(tuple(i for i in invariants if isinstance(i, OfState)))
        self.of_step = tuple(i for i in invariants if isinstance(i, OfStep))
        self._seen: SeenHistories | None = None

    @property
    def ask_on_the_way(self) -> bool:
        """Whether anything but of single entities is asked where something is in flight."""
        return bool(self.of_pair.asked(False) or self.of_state.asked(False))

    def begin(self, seen: SeenHistories) -> None:
        """Judge states made of the local states of a table, which have these histories."""
        self._seen = seen
        self.of_entity.begin(1, seen.table.code)
        self.of_pair.begin(2, seen.table.code)

    @property
    def seen(self) -> SeenHistories:
        """The histories of the exploration that is judged."""
        assert self._seen is not None
        return self._seen

    def reached(self, rows: Rows, numbers: Int64) -> None:
        """Judge what is asked of every state."""
        self._each_entity(rows, numbers, quiescent=False)
        self._each_pair(rows, numbers, quiescent=False)

    def expanded(self, rows: Rows, numbers: Int64, quiescent: npt.NDArray[np.bool_]) -> None:
        """Judge what is asked of states of which it is known whether something is in flight."""
        calm = np.flatnonzero(quiescent)
        self._each_entity(rows[calm], numbers[calm], quiescent=True)
        self._each_pair(rows[calm], numbers[calm], quiescent=True)
        self._whole(rows, numbers, quiescent)

    def kept(self) -> Kept:
        """What was judged."""
        return named("entity", self.of_entity.kept()) | named("pair", self.of_pair.kept())

    def take_up(self, kept: Kept) -> None:
        """Know what was judged."""
        self.of_entity.take_up(part(kept, "entity"))
        self.of_pair.take_up(part(kept, "pair"))

    def _inners(self, rows: Rows) -> npt.NDArray[np.int32]:
        """The inner states of some states; -1 where a state has no such component, or the entity has stopped."""
        arrays = self.seen.table.matrices.arrays
        components = rows[:, :-1]
        inners = arrays["locals"][arrays["components"][np.maximum(components, 0), c.LOCAL], c.INNER]
        absent = (components < 0) | (arrays["inners"][inners, c.STOPPED] != 0)
        found: npt.NDArray[np.int32] = np.where(absent, np.int32(-1), inners)
        return found

    def _each_entity(self, rows: Rows, numbers: Int64, *, quiescent: bool) -> None:
        asked = self.of_entity.asked(quiescent)
        if not asked or not len(rows):
            return
        table, inners = self.seen.table, self._inners(rows)
        new = self.of_entity.new(inners.reshape(-1, 1), quiescent=quiescent)
        for place in new.tolist():
            inner = int(inners.flat[place])
            if inner < 0:
                continue
            here, state = table.called_in(inner)
            for invariant in asked:
                judged = invariant.check(table.protocol, here, state)
                self._tally.count(invariant.name, judged, int(numbers[place // inners.shape[1]]))

    def _each_pair(self, rows: Rows, numbers: Int64, *, quiescent: bool) -> None:
        asked = self.of_pair.asked(quiescent)
        if not asked or not len(rows):
            return
        inners = self._inners(rows)
        pairs = list(permutations(range(inners.shape[1]), 2))
        both = inners[:, pairs].reshape(-1, 2)
        for place in self.of_pair.new(both, quiescent=quiescent).tolist():
            one, other = both[place].tolist()
            if one < 0 or other < 0:
                continue
            (here, state), (there, of_other) = (
                self.seen.table.called_in(one),
                self.seen.table.called_in(other),
            )
            for invariant in asked:
                judged = invariant.check(self.seen.table.protocol, here, state, there, of_other)
                self._tally.count(invariant.name, judged, int(numbers[place // len(pairs)]))

    def _whole(self, rows: Rows, numbers: Int64, quiescent: npt.NDArray[np.bool_]) -> None:
        if not self.of_state.asked(False):
            calm = np.flatnonzero(quiescent)
            rows, numbers, quiescent = rows[calm], numbers[calm], quiescent[calm]
        if not self.of_state.all or not len(rows):
            return
        protocol = self.seen.table.protocol
        situations = situations_of(self.seen, rows)
        for situation, number, is_quiescent in zip(
            situations, numbers.tolist(), quiescent.tolist(), strict=True
        ):
            for invariant in self.of_state.all if is_quiescent else self.of_state.asked(False):
                self._tally.count(invariant.name, invariant.check(protocol, situation), number)


def situations_of(histories: SeenHistories, rows: Rows) -> Iterator[Situation]:
    """Whole states as values. What is local is looked at once, in however many of them it is."""
    table = histories.table
    components = rows[:, :-1]
    logs = histories.of(table.matrices.arrays["components"][components, c.LOCAL])
    inner = {each: table.inner_of(each) for each in np.unique(components).tolist()}
    states = {each: None if one.stopped else table.states.values[one.state] for each, one in inner.items()}
    inboxes = {each: table.inbox_of(each) for each in inner}
    known = {log: histories[log] for log in np.unique(logs).tolist()}
    sent = {log: _messages(entries, EventKind.SEND) for log, entries in known.items()}
    delivered = {log: _messages(entries, EventKind.DELIVER) for log, entries in known.items()}
    for row, seen in zip(components.tolist(), logs.tolist(), strict=True):
        yield Situation(
            tuple([states[each] for each in row]),
            tuple(
                [
                    (sender, entity, packet)
                    for entity, each in enumerate(row)
                    for sender, packet in inboxes[each]
                ]
            ),
            tuple([sent[log] for log in seen]),
            tuple([delivered[log] for log in seen]),
        )


def _messages(log: tuple[Entry, ...], kind: EventKind) -> tuple[Message, ...]:
    """The messages of the events of one kind."""
    return tuple([each.message for each in log if each.kind is kind and each.message is not None])
