"""Links between processes: what is handed over comes out once and in order, although UDP promises nothing of it.

Faults that a run injects happen before, so that the faults of an execution are those that were asked for and counted,
and no others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from precedes.protocol.processes.wire import Letter

AGAIN: Final = 0.2
"""Seconds after which what was not acknowledged is sent again: far more than loopback takes."""


@dataclass(slots=True)
class _Outgoing:
    """To one process: the number of the next letter, and those that are not acknowledged, with the time of sending."""

    next: int = 0
    waiting: dict[int, tuple[float, Letter]] = field(default_factory=dict)


@dataclass(slots=True)
class _Incoming:
    """From one process: the number that comes next, and what has come before its turn."""

    next: int = 0
    early: dict[int, Letter] = field(default_factory=dict)
    owes: bool = False
    """Whether an acknowledgement is due."""


class Links:
    """The links of one process in one execution.

    Args:
        put: Sends a datagram: to which process, its number, and the letter, or None for an acknowledgement.
        take: Takes a letter that has come, in order.
    """

    def __init__(
        self, put: Callable[[int, int, Letter | None], None], take: Callable[[Letter], None]
    ) -> None:
        self._put = put
        self._take = take
        self._outgoing: dict[int, _Outgoing] = {}
        self._incoming: dict[int, _Incoming] = {}
        self.sent = 0
        self.taken = 0
        self.resent = 0

    def hand(self, to: int, letter: Letter, now: float) -> None:
        """Hand a letter over, at a time in seconds."""
        link = self._outgoing.setdefault(to, _Outgoing())
        number, link.next = link.next, link.next + 1
        link.waiting[number] = now, letter
        self.sent += 1
        self._put(to, number, letter)

    def came(self, source: int, number: int, letter: Letter | None) -> None:
        """A datagram has come."""
        if letter is None:
            waiting = self._outgoing.setdefault(source, _Outgoing()).waiting
            for acknowledged in [each for each in waiting if each < number]:
                del waiting[acknowledged]
            return
        link = self._incoming.setdefault(source, _Incoming())
        link.owes = True
        if number < link.next:
            return
        link.early[number] = letter
        while link.next in link.early:
            first = link.early.pop(link.next)
            link.next += 1
            self.taken += 1
            self._take(first)

    @property
    def has_handed_over(self) -> bool:
        """Whether all that was sent has come to where it went."""
        return not any(link.waiting for link in self._outgoing.values())

    def give_up(self, to: int, taken: int) -> int:
        """Send nothing more to a process that was killed after it had taken so many letters; how many it did not."""
        link = self._outgoing.pop(to, None)
        left = 0 if link is None else link.next - taken
        self.sent -= left
        return left

    def keep(self, now: float) -> None:
        """Acknowledge what has come, and send again what was not acknowledged for long."""
        for source, link in self._incoming.items():
            if link.owes:
                link.owes = False
                self._put(source, link.next, None)
        for to, outgoing in self._outgoing.items():
            for number, (since, letter) in outgoing.waiting.items():
                if now - since > AGAIN:
                    outgoing.waiting[number] = now, letter
                    self.resent += 1
                    self._put(to, number, letter)
