"""The failure line of 1994, §4.1: up to which PDU the receipt logs are selectively correct, and with each
other.

Indexes count from 1, as in the paper; `|| p` in a log stands before the PDU at its index.

*Direct failure point* (§4.1, first definition): RL_i[f] is one where E_i failed to receive what it should
have received f-th. Which that is, the order of the single channel says (§2.4): here the union of all SL and
RL orders, and what follows from it. So the direct failure point of E_i is the first PDU in RL_i that comes,
in that order, after some PDU addressed to E_i that RL_i lacks.

*The steps as written* are `as_written`. On the paper's own Figure 6 they yield its line, if E_h counts as
unmarked in step (6): it contains z = RL_h[g_h] itself, so its g_h moves on by one, to q, which E_2 has. One
PDU more that E_2 was not sent and they are stuck, for E_h is marked by then: step (5) names the same PDU
again and no unmarked log has it. They end if step (6) marks E_j whether or not its log has p. If E_h counts
as marked, they are stuck in Figure 6 already. Besides, `g_j := l_j + 1` leaves the PDU at l_j in front of
E_j's line though it is behind that of E_h; Figure 6 does not show this, since step (1) has put the line of
E_2 at its last PDU already.

*The reading* is `failure_line`: for an unmarked E_j, step (5) takes, in RL_h from its failure point on, the
first PDU that RL_j has too, and step (6) puts the failure point of E_j there, at l_j. An E_j without such a
PDU keeps its place.

In both, steps (1) and (2) are as printed: a log in which nothing failed has its last PDU for failure point,
and a direct failure point that is the last PDU already moves no other log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from precedes.engines.reference.recorded import Recorded


@dataclass(frozen=True, slots=True)
class Stuck:
    """The printed steps cannot go on: E_h is `entity`, no log of an unmarked entity has the PDU that step (5)
    names."""

    entity: str
    message: str
    unmarked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Failure:
    """The direct failure point of an entity: its index, and the PDU that should have been received there."""

    index: int
    lost: str


def failure_line(recorded: Recorded) -> Mapping[str, int]:
    """The failure line by the reading above: per entity, how many deliveries stand before its `||`."""
    logs = _logs(recorded)
    line = {entity: len(log) for entity, log in logs.items()}  # step (1)
    failures = direct_failures(recorded)
    while failed := _next_failure(failures, line):  # step (2)
        here, failure = failed
        line[here] = failure.index  # step (3)
        marked = {here} | _mark_receivers(failure.lost, logs, line)  # step (4)
        behind = logs[here][failure.index - 1 :]
        for entity, log in logs.items():
            shared = next((message for message in behind if message in log), None)  # step (5), as read
            if entity not in marked and shared is not None:
                line[entity] = min(line[entity], log.index(shared) + 1)  # step (6), as read
    return {entity: max(index - 1, 0) for entity, index in line.items()}


def as_written(recorded: Recorded) -> Mapping[str, int] | Stuck:
    """The failure line by the steps as written, or where they get stuck. Of several E_j in step (6) the
    first is taken."""
    logs = _logs(recorded)
    line = {entity: len(log) for entity, log in logs.items()}  # step (1)
    failures = direct_failures(recorded)
    while failed := _next_failure(failures, line):  # step (2)
        here, failure = failed
        line[here] = failure.index  # step (3)
        point = {here: failure.index}
        marked = _mark_receivers(failure.lost, logs, line)  # step (4)
        while unmarked := [entity for entity in logs if entity not in marked]:  # step (5)
            message = logs[here][min(point[here], len(logs[here])) - 1]
            entity = next((entity for entity in unmarked if message in logs[entity]), None)
            if entity is None:
                return Stuck(here, message, tuple(unmarked))
            point[entity] = logs[entity].index(message) + 2  # step (6)
            line[entity] = min(line[entity], point[entity])
            marked.add(entity)
    return {entity: max(index - 1, 0) for entity, index in line.items()}


def direct_failures(recorded: Recorded) -> Mapping[str, _Failure]:
    """The direct failure points, for the entities that have one within their log."""
    after = _channel_order(recorded)
    failures: dict[str, _Failure] = {}
    for entity, log in _logs(recorded).items():
        lost = [
            message
            for message in recorded.messages
            if message not in log and entity in (recorded.destinations(message) or ())
        ]
        for index, received in enumerate(log, start=1):
            missing = [message for message in lost if received in after[message]]
            if missing:
                earliest = next((m for m in missing if not any(m in after[n] for n in missing)), missing[0])
                failures[entity] = _Failure(index, earliest)
                break
    return failures


def _logs(recorded: Recorded) -> Mapping[str, tuple[str, ...]]:
    return {entity: recorded.execution.delivered(entity) for entity in recorded.execution.entities}


def _next_failure(failures: Mapping[str, _Failure], line: Mapping[str, int]) -> tuple[str, _Failure] | None:
    """Step (2): an E_h whose direct failure point g_h is before f_h."""
    return next(
        ((entity, failure) for entity, failure in failures.items() if failure.index < line[entity]), None
    )


def _mark_receivers(lost: str, logs: Mapping[str, Sequence[str]], line: dict[str, int]) -> set[str]:
    """Step (4): a log that has the lost PDU fails there."""
    receivers = {entity for entity, log in logs.items() if lost in log}
    for entity in receivers:
        line[entity] = min(line[entity], logs[entity].index(lost) + 1)
    return receivers


def _channel_order(recorded: Recorded) -> Mapping[str, set[str]]:
    """What comes after each message in the union of all SL and RL orders, transitively."""
    execution = recorded.execution
    following: dict[str, set[str]] = {message: set() for message in recorded.messages}
    for entity in execution.entities:
        for log in (execution.sent(entity), execution.delivered(entity)):
            for first, second in pairwise(log):
                following[first].add(second)
    after: dict[str, set[str]] = {}
    for message in recorded.messages:
        after[message] = set()
        waiting = list(following[message])
        while waiting:
            reached = waiting.pop()
            if reached not in after[message]:
                after[message].add(reached)
                waiting += following[reached]
    return after
