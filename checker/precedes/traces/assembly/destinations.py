"""Assumptions about what rows do not say: the destinations of a send without `dest`, and the sender of a
message without a send.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from precedes.core.columns import NOBODY, Bool, Int32
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.traces import notices as notice
from precedes.traces.assembly.encoding import ABSENT
from precedes.traces.assembly.histories import Events, TableNames
from precedes.traces.notices import MOST_NAMES, Addressing, Notices
from precedes.traces.options import TraceOptions

TO_ALL: Final = "sends have no `dest`, so they go to every entity, including the sender"
NOT_SENT: Final = (
    "deliveries have no send, so nobody sent them: log the sends, or name `sender` (? if unknown)"
)

_SEND: Final = EVENT_CODES[EventKind.SEND]
_DELIVER: Final = EVENT_CODES[EventKind.DELIVER]


def to_all(names: TableNames, events: Events) -> Bool:
    """Which events are sends without destinations."""
    found: Bool = (events.kind == _SEND) & ~names.dest.present[events.row]
    return found


def not_sent(events: Events, sender: Int32) -> Bool:
    """Which events deliver a message without a sender; `sender` is that of a batch."""
    found: Bool = events.kind == _DELIVER
    unsent = sender == NOBODY
    if not unsent.any():
        return np.zeros_like(found)
    found[found] = unsent[events.message[found]]
    return found


def tell_addressing(
    names: TableNames, events: Events, sender: Int32, options: TraceOptions, notices: Notices
) -> None:
    """Tell what was guessed of events, and who was met and meant in them."""
    guessed = int(to_all(names, events).sum())
    notices.count(notice.SENT_TO_ALL, TO_ALL, guessed)
    unsent = not_sent(events, sender)
    if names.senderless is not None:
        unsent &= ~np.isin(names.entities.executions[events.entity], names.senderless)
    notices.count(notice.NOT_SENT, NOT_SENT, int(unsent.sum()))
    chosen = bool(guessed < np.count_nonzero(events.kind == _SEND))
    notices.heard(_addressing(names, events, options, chosen=chosen))


def _addressing(names: TableNames, events: Events, options: TraceOptions, *, chosen: bool) -> Addressing:
    if len(names.entity_names) > MOST_NAMES:
        return Addressing(None, frozenset(), chosen)
    met = np.zeros(len(names.entities.codes), np.bool_)
    met[events.entity] = True
    met[events.sender[events.sender != ABSENT]] = True
    here = np.zeros(len(names.entity_names), np.bool_)
    here[names.entities.codes[met]] = True
    silent = np.zeros(len(names.entity_names), np.bool_)
    silent[names.entities.codes[~met]] = True
    named = frozenset(options.cluster)
    return Addressing(
        frozenset(names.entity_names[here].tolist()) | named,
        frozenset(names.entity_names[silent].tolist()) - named,
        chosen,
    )
