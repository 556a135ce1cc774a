"""One run: who takes part, which fault comes when, and how its end is seen."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, assert_never

from precedes.record import Entity, Recorder

PRODUCERS: Final = ("p1", "p2")
CONSUMERS: Final = ("c1", "c2")
GROUP: Final = "g"
VICTIM: Final = CONSUMERS[0]
"""The consumer that meets the fault. Where connections are cut, the first producer's is cut, too."""
WHEN: Final = 8
"""The delivery, or the send, at which it comes."""
PAUSE: Final = 0.005
"""Seconds between two sends of a producer."""
SLOWNESS: Final = 0.02
SILENCE: Final = 1.2
"""Seconds without a delivery after which nothing more is expected."""
PATIENCE: Final = 30.0


class Fault(Enum):
    """What goes wrong; the value is what the table calls it."""

    NONE = "none"
    DEATH = "a consumer dies before it acknowledges"
    CUT = "connections are cut"
    RETURN = "a consumer gives a message back"
    SLOW = "a consumer is slow"


class Act(Enum):
    """What a consumer does with a delivery."""

    TAKE = "acknowledge"
    DIE = "stop before that, and start again"
    LOSE = "acknowledge, and lose the connection"
    GIVE_BACK = "do not acknowledge, but give back"


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to use a broker, with the profile that says what it promises."""

    name: str
    profile: str
    faults: tuple[Fault, ...] = (Fault.NONE, Fault.DEATH, Fault.CUT, Fault.SLOW)
    shared: bool = False
    """The consumers are a group: each message is for one of them."""
    size: int = 65_536
    """Bytes of a body where a buffer is to fill."""


@dataclass(slots=True)
class Run:
    """One execution, recorded."""

    recorder: Recorder
    mode: Mode
    fault: Fault
    messages: int
    name: str = field(default_factory=lambda: f"precedes-{secrets.token_hex(6)}")
    """Of the queue, the subject or the stream."""
    over: threading.Event = field(default_factory=threading.Event)
    _delivered: Counter[str] = field(default_factory=Counter)
    _last: float = field(default_factory=time.monotonic)

    @property
    def to(self) -> list[str]:
        """Whom messages are for."""
        return [f"group:{GROUP}"] if self.mode.shared else list(CONSUMERS)

    def entity(self, name: str) -> Entity:
        """A producer or a consumer."""
        return self.recorder.entity(name, groups=[GROUP] if self.mode.shared and name in CONSUMERS else ())

    def body(self, producer: str, count: int) -> bytes:
        """A body that names its message."""
        return f"{producer}-{count}:".encode().ljust(self.mode.size if self.fault is Fault.SLOW else 0, b".")

    def cuts(self, producer: str, count: int) -> bool:
        """The producer's connection is cut before this send."""
        return self.fault is Fault.CUT and producer == PRODUCERS[0] and count == WHEN

    def delivered(self, consumer: str) -> Act:
        """Count a delivery. Returns what the consumer does with it."""
        self._last = time.monotonic()
        self._delivered[consumer] += 1
        if consumer != VICTIM or self._delivered[consumer] != WHEN:
            return Act.TAKE
        match self.fault:
            case Fault.DEATH:
                return Act.DIE
            case Fault.CUT:
                return Act.LOSE
            case Fault.RETURN:
                return Act.GIVE_BACK
            case Fault.NONE | Fault.SLOW:
                return Act.TAKE
            case _:
                assert_never(self.fault)

    def pause_of(self, consumer: str) -> float:
        """Seconds of work for a message."""
        return SLOWNESS if self.fault is Fault.SLOW and consumer == VICTIM else 0.0

    def wait(self) -> None:
        """Until nothing has come for a while."""
        until = time.monotonic() + PATIENCE
        self._last = max(self._last, time.monotonic() - SILENCE / 2)
        while time.monotonic() < min(until, self._last + SILENCE):
            time.sleep(0.02)
        self.over.set()


def named(body: bytes) -> str:
    """The name in a body."""
    return body.partition(b":")[0].decode()


def in_threads(run: Run, consume: Callable[[str], None], produce: Callable[[str], None]) -> None:
    """Consumers first, then producers; the run is over when nothing more comes."""
    consumers = [threading.Thread(target=consume, args=(name,), name=name) for name in CONSUMERS]
    producers = [threading.Thread(target=produce, args=(name,), name=name) for name in PRODUCERS]
    for thread in consumers:
        thread.start()
    time.sleep(0.3)
    for thread in producers:
        thread.start()
    for thread in producers:
        thread.join()
    run.wait()
    for thread in consumers:
        thread.join()
