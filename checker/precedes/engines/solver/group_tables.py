"""Groups in executions of one size: who is in them, and which messages are addressed to them by name.

As many groups as `GROUPS` are looked at, and as many as a formula names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from precedes.engines.solver.features import Features
from precedes.engines.solver.logic import Proposition, Symbol, boolean, both, every, implied, negated, some

GROUPS: Final = 2


def group_count(wanted: Features) -> int:
    """How many groups there are at most."""
    return max(GROUPS, len(wanted.group_names)) if wanted.groups else 0


class GroupTables:
    """The groups of all executions with so many entities and messages. Groups are numbers from 0."""

    def __init__(self, wanted: Features, entities: range, messages: range) -> None:
        self._named_only = wanted.sub_logs or wanted.failure_line
        self._entities = entities
        self.groups = range(group_count(wanted))
        self.exist = [boolean(f"group {g}") for g in self.groups]
        self.members = [[boolean(f"{e} in group {g}") for e in entities] for g in self.groups]
        self.addressed = [[boolean(f"message {m} to group {g}") for g in self.groups] for m in messages]

    def chosen(self, message: int, entity: int) -> Proposition:
        """The message is addressed to a group that the entity is in."""
        return some(both(self.addressed[message][g], self.members[g][entity]) for g in self.groups)

    def constraints(
        self, sent: Sequence[Proposition], dest: Sequence[Sequence[Symbol]]
    ) -> Iterator[Proposition]:
        """Groups that are there have the first numbers; nobody is in any other, and nothing is addressed to it.

        Where a formula asks for what an entity sent to another, or for the failure line, which asks it, members of a
        group that a message is addressed to are destinations by name, too: for others it would be unknown.
        """
        for group, following in pairwise(self.exist):
            yield implied(following, group)
        for there, members in zip(self.exist, self.members, strict=True):
            yield from (implied(member, there) for member in members)
        for m, groups in enumerate(self.addressed):
            for there, addressed in zip(self.exist, groups, strict=True):
                yield implied(addressed, both(there, sent[m]))
            if self._named_only:
                yield from (implied(self.chosen(m, e), dest[m][e]) for e in self._entities)

    def oddities(self) -> list[Proposition]:
        """What an engineer would wonder at: groups that need not be there, groups with no members."""
        return [
            *self.exist,
            *(
                both(there, every(map(negated, members)))
                for there, members in zip(self.exist, self.members, strict=True)
            ),
        ]

    def choices(self) -> Iterator[Proposition]:
        """What is to be decided, with the value that is preferred."""
        yield from self.exist
        yield from (symbol for table in (self.members, self.addressed) for row in table for symbol in row)
