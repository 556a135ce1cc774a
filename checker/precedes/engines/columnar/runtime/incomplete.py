"""What generated code calls about incomplete executions: what is so in every completion, in none, or in some.

`precedes.engines.reference.incomplete_atoms` has the meaning; see `runtime` for what such code may be, and for the
parameters in common. Unknown has the reason `INCOMPLETE`. Entities, messages and events that were not recorded are
-1.
"""

from __future__ import annotations

from typing import NamedTuple

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.runtime.events import Past, certainly_before
from precedes.engines.columnar.runtime.logs import Here
from precedes.native.codes import INCOMPLETE

SENDS = 0
DELIVERS = 1
ARRIVES = 2
"""How an event is meant."""


class Receipt(NamedTuple):
    """Two messages at an entity: their recorded places, the first message, and the delivery of the second there."""

    before: int
    after: int
    first: int
    delivery: int


class Meant(NamedTuple):
    """An event of a message; `kind` is `SENDS`, `DELIVERS` or `ARRIVES`."""

    event: int
    kind: int
    message: int


def ordered_by_receipt(receipt: Receipt, here: int, past: Past) -> int:
    """Whether the first message is delivered at an entity before the second one.

    A message that is not delivered there cannot come first if its send comes after that. `here` is why the order of the
    log is not known.
    """
    before, after, first, delivery = receipt
    if before >= 0 and after >= 0 and before != after:
        return here if here > 0 else (0 if before < after else -1)
    if before >= 0 and after >= 0:
        return -1
    if after < 0 or first < 0 or past.cycle > 0 or past.doubt > 0:
        return INCOMPLETE
    send = past.send_event[first]
    if send >= 0 and (send == delivery or certainly_before(delivery, send, past)):
        return -1
    return INCOMPLETE


def ordered_by_sending(both: int, first: int, second: int, here: Here, columns: Columns, doubt: int) -> int:
    """Whether one message is sent before another in a log that has both, or may have (`both`).

    `doubt` is why the order of the log is not known.
    """
    if both == -1:
        return -1
    if first < 0 or second < 0:
        return both | INCOMPLETE
    one = here.first_message + first
    other = here.first_message + second
    if (
        columns.sender[one] >= 0
        and columns.sender[other] >= 0
        and columns.sender[one] != columns.sender[other]
    ):
        return -1
    if not (columns.send_logged[one] and columns.send_logged[other]):
        return both | INCOMPLETE
    if doubt > 0:
        return both | doubt
    return both if columns.send_position[one] < columns.send_position[other] else -1


def happens_before_openly(first: Meant, second: Meant, same: bool, own_send: bool, past: Past) -> int:
    """`first ~> second`. `same`: they are one event; `own_send`: the second is the send of what the first is about."""
    if past.doubt > 0:
        return -1 if same else past.doubt
    if past.cycle > 0:
        return past.cycle
    if first.event >= 0 and second.event >= 0 and certainly_before(first.event, second.event, past):
        return 0
    if same:
        return -1
    after = first.event
    if after < 0:
        # What was not recorded comes after its send, if it is a delivery, and after nothing else.
        if first.kind != DELIVERS:
            return INCOMPLETE
        if own_send:
            return -1
        after = past.send_event[first.message] if first.message >= 0 else -1
        if after < 0:
            return INCOMPLETE
    if second.event >= 0:
        if after == second.event or certainly_before(second.event, after, past):
            return -1
        return INCOMPLETE
    if second.kind != SENDS or second.message < 0:
        return INCOMPLETE
    for entity in range(past.n):
        delivery = past.delivery_event[entity * past.m + second.message]
        if delivery >= 0 and (delivery == after or certainly_before(delivery, after, past)):
            return -1
    return INCOMPLETE


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
    return 0 if true and sure else INCOMPLETE
