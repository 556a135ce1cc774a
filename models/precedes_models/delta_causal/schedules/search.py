"""Looking for a schedule on which the Δ-causal protocol breaks what its paper claims of it, in continuous time.

An explorer sees the ticks that it is given, and a Δ of so many ticks. Z3 chooses the send times, the delays, the
destinations, the clocks and Δ itself, without a bound on any; bounded are entities and messages. What it finds is made
plain (few destinations, small times) and carried out by the model, step by step, before it is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from typing import Any

from precedes.core.diagnostics import usage
from precedes.core.execution import Execution
from precedes.core.verdict import FALSE
from precedes.engines.reference import evaluate
from precedes.engines.solver.answers import Deadline, OutOfTime
from precedes.engines.solver.logic import (
    OutOfMemory,
    Solver,
    Watch,
)
from precedes.engines.solver.minimization import Minimization, satisfiable
from precedes.engines.solver.search import Mismatch
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import Protocol
from precedes_models.delta_causal.protocol import DeltaCausal
from precedes_models.delta_causal.schedules.encoding import Encoding
from precedes_models.delta_causal.schedules.replay import Flight, Schedule, carried_out


class Claim(Enum):
    """What is asked for a breach of."""

    THEOREM_3 = "causal_order"
    """What is delivered to a process is delivered in causal order."""
    THEOREM_4 = "deadline"
    """What arrives in time is delivered in time, by the receiver's clock."""

    def __str__(self) -> str:
        return "Theorem 3" if self is Claim.THEOREM_3 else "Theorem 4"


@dataclass(frozen=True, slots=True)
class ScheduleViolation:
    """A schedule that breaks a claim, of the fewest messages and then the fewest entities, and the execution that the
    model made of it."""

    claim: Claim
    schedule: Schedule
    protocol: DeltaCausal
    execution: Execution

    def __str__(self) -> str:
        count = len(self.schedule.sends)
        return f"{self.claim} fails with {count} message{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class NoViolation:
    """Every schedule of up to so many entities and messages keeps the claim, whatever Δ and the times are."""

    claim: Claim
    entities: int
    messages: int
    sizes: tuple[tuple[int, int, float], ...]
    """Entities, messages and the seconds that it took, for each size."""

    def __str__(self) -> str:
        return (
            f"no schedule of up to {self.entities} entities and {self.messages} messages breaks {self.claim}, whatever "
            "Δ and the times are; larger ones were not searched"
        )


@dataclass(frozen=True, slots=True)
class Undecided:
    """Z3 did not find out within the limits; up to `done` there is none."""

    claim: Claim
    done: tuple[tuple[int, int], ...]
    reason: str

    def __str__(self) -> str:
        return f"{self.claim} was not decided: {self.reason} was met"


SchedulesAnswer = ScheduleViolation | NoViolation | Undecided


def find_schedule(
    protocol: Protocol[Any],
    claim: Claim,
    *,
    entities: int = 3,
    messages: int = 3,
    apart: bool = False,
    timeout: float = 60.0,
    memory: int = 2048,
    progress: Callable[[str], None] | None = None,
) -> SchedulesAnswer:
    """A schedule of the Δ-causal protocol that breaks a claim. PrecedesError U001 for another model, or parts of it.

    `protocol` is a model `delta-causal`. Its `delta` does not matter, for Z3 chooses one. Of `epsilon` it matters
    whether it is 0: then all clocks agree. `apart`:
    every message takes some time, and a process sends later than whatever else happened at it; so nothing depends on
    two things that happen at one time. `timeout` is in seconds and for all sizes together.
    """
    if not isinstance(protocol, DeltaCausal):
        raise usage(f"only delta-causal has schedules, not {protocol.name}")
    if protocol.without:
        raise usage("schedules are of the whole protocol", "leave out the parameter `without`")
    deadline = Deadline(timeout)
    done: list[tuple[int, int, float]] = []
    # Symbols belong to Z3's one context; an error of it would be an error of this program.
    with Watch(memory) as watch:
        for size in _sizes(entities, messages):
            if progress is not None:
                progress(f"{size[1]} messages among {size[0]} entities")
            started = time.monotonic()
            try:
                found = _of_size(protocol, claim, size, apart, deadline, watch)
            except OutOfTime:
                return Undecided(claim, tuple(one[:2] for one in done), f"the limit of {timeout:g} s")
            except OutOfMemory:
                return Undecided(claim, tuple(one[:2] for one in done), f"the limit of {memory:,} MB")
            if found is not None:
                return found
            done.append((*size, time.monotonic() - started))
    return NoViolation(claim, entities, messages, tuple(done))


def _sizes(entities: int, messages: int) -> Iterator[tuple[int, int]]:
    for count in range(1, messages + 1):
        for among in range(1, entities + 1):
            yield among, count


def _of_size(
    protocol: DeltaCausal,
    claim: Claim,
    size: tuple[int, int],
    apart: bool,
    deadline: Deadline,
    watch: Watch,
) -> ScheduleViolation | None:
    encoding = Encoding(
        *size,
        max_cb=protocol.max_cb,
        clock_stamps=protocol.clock_stamps,
        receiver_marks=protocol.receiver_marks,
        skewed=protocol.epsilon > 0,
        apart=apart,
    )
    solver = Solver(propositional=False, watch=watch)
    for constraint in encoding.constraints():
        solver.add(constraint)
    solver.add(encoding.out_of_order() if claim is Claim.THEOREM_3 else encoding.too_late())
    if not satisfiable(solver, deadline):
        return None
    _minimize(encoding, Minimization(solver, deadline))
    schedule = read(encoding, solver)
    instance = replace(protocol, delta=schedule.delta, epsilon=schedule.epsilon)
    execution = carried_out(instance, schedule)
    # By differing clocks an execution, which has one time, does not show what is late.
    if claim is Claim.THEOREM_3 or not encoding.skewed:
        value = evaluate(requirement(claim.value, standard_library()).formula, execution)
        if value != FALSE:
            raise Mismatch(
                f"the solver says that this breaks {claim}, the reference evaluator {value}: {schedule!r}"
            )
    return ScheduleViolation(claim, schedule, instance, execution)


def _minimize(encoding: Encoding, minimization: Minimization) -> None:
    """Few destinations, then a short time, then small numbers; what is left by a fixed order of choices."""
    pairs = product(encoding.messages, encoding.entities)
    minimization.fewest([encoding.is_destination(message, entity) for message, entity in pairs])
    minimization.decide(encoding.choices())
    numbers = list(encoding.numbers())
    minimization.least(numbers)
    for symbol in numbers:
        minimization.least([symbol])


def read(encoding: Encoding, solver: Solver) -> Schedule:
    """The solution found last."""
    whole, holds = solver.whole, solver.holds
    senders = [
        next(e for e in encoding.entities if holds(encoding.is_sender(m, e))) for m in encoding.messages
    ]
    flights = tuple(
        Flight(
            message,
            entity,
            whole(encoding.arrived(message, entity)),
            whole(encoding.delivered_at(message, entity))
            if holds(encoding.is_delivered(message, entity))
            else None,
        )
        for message, entity in product(encoding.messages, encoding.entities)
        if holds(encoding.is_destination(message, entity))
    )
    ahead = tuple(whole(encoding.ahead(e)) if encoding.skewed else 0 for e in encoding.entities)
    sends = tuple((senders[m], whole(encoding.sent(m))) for m in encoding.messages)

    def mark(message: int, owner: int | None) -> tuple[int, int]:
        sender, sent = sends[message]
        return sender if owner is None else owner, sent + ahead[sender]

    tags = tuple(
        tuple(
            frozenset(mark(*one) for one in encoding.marks if holds(encoding.tagged(m, to, one)))
            for to in encoding.entities
        )
        for m in encoding.messages
    )
    orders = []
    for entity in encoding.entities:
        present = [event for event in encoding.occurrences if holds(encoding.present(entity, event))]
        before = {
            event: sum(other != event and holds(encoding.before(entity, other, event)) for other in present)
            for event in present
        }
        ordered = sorted(present, key=before.__getitem__)
        orders.append(tuple((event.message, event.is_send) for event in ordered))
    return Schedule(
        delta=whole(encoding.delta),
        epsilon=whole(encoding.epsilon) if encoding.skewed else 0,
        ahead=ahead,
        sends=sends,
        tags=tags,
        flights=flights,
        orders=tuple(orders),
    )
