"""What a protocol model is: the states of one entity, and what the entity does when something happens to it.

Every handler is a pure function of frozen, hashable values: the same arguments give an equal outcome. The
explorer and the simulator rely on this: they store what a handler returns, and do not call it twice with the
same arguments, but to show a behavior.

A handler says what it does by actions. They determine what an entity logs: a send when a request is accepted,
everything else when an action says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import ClassVar, Final, Generic, TypeAlias, TypeVar

from precedes.core.frozen_values import made_by_slots
from precedes.protocol.invariants import Invariant
from precedes.protocol.network import Network

TICK: Final = 1000
"""Nanoseconds: written to a trace, a tick is a microsecond."""

ARRIVALS: Final = "arrivals"
TIMEOUTS: Final = "time-outs"
"""Kinds of steps that may be fair: see `Protocol.fair`."""

S = TypeVar("S", bound=Hashable)
"""The state of one entity: a frozen, hashable value."""


@dataclass(frozen=True, slots=True)
class Message:
    """What the user of a protocol asks to be sent: the `number`-th request (from 1) of entity `sender` (from 0)."""

    sender: int
    number: int
    destinations: frozenset[int]

    @property
    def name(self) -> str:
        """As in the papers' figures: a1, a2 are of the first entity, b1 of the second."""
        if self.sender < 26:
            return f"{chr(ord('a') + self.sender)}{self.number}"
        return f"m{self.sender + 1}_{self.number}"

    def renamed(self, names: tuple[int, ...]) -> Message:
        """The message after entity k has become `names[k]`."""
        return _renamed(self, names)


@lru_cache(maxsize=1 << 14)
def _renamed(message: Message, names: tuple[int, ...]) -> Message:
    # There are few messages, and each is renamed with every packet and state that has it.
    return Message(names[message.sender], message.number, frozenset(names[k] for k in message.destinations))


@dataclass(frozen=True, slots=True)
class Here:
    """Where a handler runs. `now` is what the entity's own clock shows, in ticks; 0 in a network without time."""

    entity: int
    entities: int
    now: int = 0

    @property
    def others(self) -> frozenset[int]:
        """Every entity but this one."""
        return frozenset(range(self.entities)) - {self.entity}


@made_by_slots
@dataclass(frozen=True, slots=True)
class Transmit:
    """Hand a packet to the network, for `to`, or for every entity, this one included, where that is None."""

    packet: Hashable
    to: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Arrive:
    """Log that a message arrived, whatever becomes of it."""

    message: Message


@made_by_slots
@dataclass(frozen=True, slots=True)
class Deliver:
    """Hand a message to the user of this entity. `clock` is its vector time at that event, where it has one."""

    message: Message
    clock: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Discard:
    """Throw a message away that will not be delivered."""

    message: Message


@dataclass(frozen=True, slots=True)
class View:
    """Install a view: from here on the cluster is `members`."""

    members: frozenset[int]


Action: TypeAlias = Transmit | Arrive | Deliver | Discard | View


@made_by_slots
@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """What a handler does: the state after it, and actions in their order.

    `clock` is the vector time of the send event, where a request was accepted and the protocol keeps one.
    """

    state: S
    actions: tuple[Action, ...] = ()
    clock: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Choose(Generic[S]):
    """One of several steps: each is explored; a simulation takes one at random by its weight (positive, any sum)."""

    options: tuple[tuple[float, Step[S]], ...]


Outcome: TypeAlias = Step[S] | Choose[S]


@dataclass(frozen=True, slots=True, order=True)
class Timer:
    """A timer that runs at an entity.

    With `due`, in ticks of the entity's clock, it expires then, before time goes on. Without, it is a time-out:
    it expires when nothing else can happen any more, that is when the network is empty; or early, where the
    bounds of an exploration allow early time-outs. `after` is how long that is in a simulation or a run, in ticks.
    """

    name: str
    due: int | None = None
    after: int = 0
    about: int | None = None
    """The entity that it waits for, if it waits for one."""
    patience: int = 0
    """Of several time-outs that could expire, only those with the least patience do: a protocol sets a time-out of more
    patience so long that it outlasts those of less, wherever they run."""


@dataclass(frozen=True)
class Protocol(ABC, Generic[S]):
    """A protocol: one instance is the protocol with its parameters, which are the fields of the dataclass.

    A subclass is a frozen dataclass of its own. Its docstring names the paper and, where `as_written` and the
    repaired form differ, the steps that differ and the scenarios that show why.
    """

    as_written: bool = False
    """As the paper is written; False: repaired. Without meaning where a protocol has one form."""

    name: ClassVar[str]
    """As users type it."""
    source: ClassVar[str] = ""
    """The paper and its section."""
    claims: ClassVar[tuple[str, ...]] = ()
    """What the paper claims, as requirements in the language: what `explore` checks where nothing else is asked."""
    invariants: ClassVar[tuple[Invariant, ...]] = ()
    """What must be so in every reachable state and step, by its name in the paper."""
    further: ClassVar[tuple[Invariant, ...]] = ()
    """Invariants that only some bounds or parameters exercise: `explore` checks one where it is asked for by name
    (`--require`)."""
    answers: ClassVar[bool] = True
    """Whether a handler other than `send` may transmit. False lets the explorer leave out more interleavings; one that
    transmits all the same is a mistake of the model (M013)."""
    destinations: ClassVar[str] = "multicast"
    """Which destination sets `explore` covers where it is not told, by their name in `Destinations`."""
    repaired: ClassVar[bool] = False
    """Whether it has two forms, as written and repaired. `as_written` chooses, and
    reports name the form."""
    symmetric: ClassVar[bool] = False
    """Whether renaming the entities of every state and packet gives a behavior again. See `renamed`. Handlers
    that are seen to do something else in other names are a mistake of the model (M014)."""

    fair: ClassVar[Mapping[str, str]] = {ARRIVALS: "the network delivers in the end what it does not lose"}
    """Which steps are weakly fair, with the reason, best in the paper's words: `arrivals`, `time-outs`. A fair step
    that can be taken from some time on, in every state, is taken in the end. Where it is asked what comes true in the
    end (`--live`), a behavior may leave out any other step for ever. Time always goes on; faults and requests are
    never fair."""

    attributes: ClassVar[Mapping[str, str]] = {}
    """What `carries` may give messages, by name, with the sort: text, number, time or duration. A requirement may ask
    for these."""

    @property
    @abstractmethod
    def network(self) -> Network:
        """The network that the paper assumes."""

    @property
    def form(self) -> str | None:
        """`as written` or `repaired`; None where there is one form."""
        if not self.repaired:
            return None
        return "as written" if self.as_written else "repaired"

    @property
    def lifetime(self) -> int | None:
        """Δ of its executions, in ticks: `delta`, where the protocol has such a parameter."""
        delta = getattr(self, "delta", None)
        return delta if isinstance(delta, int) else None

    @classmethod
    def instances(cls, *, as_written: bool) -> Sequence[Protocol[S]]:
        """What `explore` and `simulate` run where no parameter is given."""
        return (cls(as_written=as_written),)

    @abstractmethod
    def start(self, here: Here) -> S:
        """The state of an entity in the beginning."""

    @abstractmethod
    def send(self, here: Here, state: S, message: Message) -> Outcome[S] | None:
        """A request of the user; None: not now (a flow condition), the request stays."""

    @abstractmethod
    def arrive(self, here: Here, state: S, packet: Hashable, sender: int) -> Outcome[S] | None:
        """A packet comes in from the network; None: not now, it stays under way."""

    def timers(self, here: Here, state: S) -> tuple[Timer, ...]:
        """The timers that run."""
        return ()

    def expire(self, here: Here, state: S, timer: Timer) -> Outcome[S]:
        """A timer expires."""
        raise NotImplementedError(f"{type(self).__name__} has timers but does not say what they do")

    def crash(self, here: Here, state: S) -> S | None:
        """What an entity that stops still has when it recovers: stable memory. None: it cannot recover."""
        return None

    def recover(self, here: Here, state: S) -> Outcome[S]:
        """An entity that had stopped starts again, with what `crash` left it."""
        return Step(self.start(here))

    def carries(self, message: Message) -> Mapping[str, str | int]:
        """What a message carries, by the name of an attribute: a key, a session. The same message carries the same,
        and in a symmetric model the same after a renaming. A number is whole; times and durations are in ticks."""
        return {}

    def corrupted(self, packet: Hashable) -> tuple[Hashable, ...]:
        """What a packet may become on its way, in a network that corrupts."""
        return ()

    def waiting(self, state: S) -> frozenset[Message]:
        """Messages that arrived and are neither delivered nor discarded yet. Where nothing can happen any more,
        such a message starves, which is a violation."""
        return frozenset()

    def receipt_log(self, state: S) -> tuple[Message, ...] | None:
        """RL as it stands in the state, for a protocol that rearranges what it received.

        None: RL is what `Deliver` actions say, in their order.
        """
        return None

    def compared(self, state: S, entities: int) -> object:
        """What has the fields that a trace may record of a state (`conform --state`): the state itself, unless the
        model has something with better names. The fields of a mapping are its keys.
        """
        return state

    def renamed(self, state: S, names: tuple[int, ...]) -> S:
        """The state of an entity after entity k has become `names[k]`, for every k: in vectors, keys and messages."""
        raise NotImplementedError(
            f"{type(self).__name__} is symmetric but does not say how to rename a state"
        )

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Hashable:
        """A packet after entity k has become `names[k]`."""
        raise NotImplementedError(
            f"{type(self).__name__} is symmetric but does not say how to rename a packet"
        )

    def name_of(self, entity: int) -> str:
        """An entity's name in figures and traces."""
        return f"E{entity + 1}"

    def parameters(self) -> Mapping[str, object]:
        """What this instance was made with."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
