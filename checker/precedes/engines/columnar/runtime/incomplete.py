"""What generated code calls about incomplete executions: what is so in every completion, in none, or in some.

`precedes.engines.reference.incomplete_atoms` has the meaning; see `runtime` for what such code may be, and for the
parameters in common. Unknown is 2, the reason `INCOMPLETE`. Entities, messages and events that were not recorded are
-1.
"""

from __future__ import annotations

from precedes.engines.columnar.runtime.events import certainly_before
from precedes.engines.columnar.runtime.logs import Column

# How an event is meant: a send, a delivery or an arrival.
SENDS = 0
DELIVERS = 1


def ordered_by_receipt(
    before: int,
    after: int,
    first: int,
    delivery: int,
    here: int,
    doubt: int,
    cycle: int,
    n: int,
    m: int,
    count: int,
    send_event: Column,
    event_owner: Column,
    delivery_event: Column,
    vector: Column,
) -> int:
    """Whether the message `first` is delivered at an entity before another one.

    `before` and `after` are their recorded places, `delivery` is the delivery of the other there. A message that is not
    delivered there cannot come first if its send comes after that. `here` and `doubt` are why the order of the log, or
    happens-before, is not known.
    """
    if before >= 0 and after >= 0 and before != after:
        return here if here > 0 else (0 if before < after else -1)
    if before >= 0 and after >= 0:
        return -1
    if after < 0 or first < 0 or cycle > 0 or doubt > 0:
        return 2
    send = send_event[first]
    if send >= 0 and (
        send == delivery or certainly_before(delivery, send, n, m, count, event_owner, delivery_event, vector)
    ):
        return -1
    return 2


def ordered_by_sending(
    both: int,
    first: int,
    second: int,
    first_message: int,
    sender: Column,
    send_logged: Column,
    send_position: Column,
    doubt: int,
) -> int:
    """Whether one message is sent before another in a log that has both, or may have (`both`).

    `doubt` is why the order of the log is not known.
    """
    if both == -1:
        return -1
    if first < 0 or second < 0:
        return both | 2
    one = first_message + first
    other = first_message + second
    if sender[one] >= 0 and sender[other] >= 0 and sender[one] != sender[other]:
        return -1
    if not (send_logged[one] and send_logged[other]):
        return both | 2
    if doubt > 0:
        return both | doubt
    return both if send_position[one] < send_position[other] else -1


def happens_before_openly(
    first: int,
    first_kind: int,
    first_message: int,
    second: int,
    second_kind: int,
    second_message: int,
    same: bool,
    own_send: bool,
    doubt: int,
    cycle: int,
    n: int,
    m: int,
    count: int,
    send_event: Column,
    event_owner: Column,
    delivery_event: Column,
    vector: Column,
) -> int:
    """`first ~> second`. `same`: they are one event; `own_send`: the second is the send of what the first is about."""
    if doubt > 0:
        return -1 if same else doubt
    if cycle > 0:
        return cycle
    both = first >= 0 and second >= 0
    if both and certainly_before(first, second, n, m, count, event_owner, delivery_event, vector):
        return 0
    if same:
        return -1
    after = first
    if after < 0:
        # What was not recorded comes after its send, if it is a delivery, and after nothing else.
        if first_kind != DELIVERS:
            return 2
        if own_send:
            return -1
        after = send_event[first_message] if first_message >= 0 else -1
        if after < 0:
            return 2
    if second >= 0:
        if after == second or certainly_before(
            second, after, n, m, count, event_owner, delivery_event, vector
        ):
            return -1
        return 2
    if second_kind != SENDS or second_message < 0:
        return 2
    for entity in range(n):
        delivery = delivery_event[entity * m + second_message]
        if delivery >= 0 and (
            delivery == after
            or certainly_before(delivery, after, n, m, count, event_owner, delivery_event, vector)
        ):
            return -1
    return 2


# ---- numbers ----


def compared_openly(relation: int, difference: int, rises: bool, falls: bool, sure: bool) -> int:
    """`number relation 0` for a number that is `difference`, or more where it `rises`, or less where it `falls`.

    The relations are 0 for `<`, 1 for `<=` and 2 for `=`; `sure`: the number is there in every completion.
    """
    if relation == 0:
        true = not rises and difference < 0
        false = not falls and difference >= 0
    elif relation == 1:
        true = not rises and difference <= 0
        false = not falls and difference > 0
    else:
        true = not rises and not falls and difference == 0
        false = (not rises and difference < 0) or (not falls and difference > 0)
    if false:
        return -1
    return 0 if true and sure else 2
