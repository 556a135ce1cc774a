"""What can be wrong when nothing more can happen: messages that starve, and entities whose requests were
never accepted.
"""

from __future__ import annotations

from precedes.protocol.exploration.state_space import State
from precedes.protocol.exploration.transition_table import TransitionTable
from precedes.protocol.model import Message


def starving(table: TransitionTable, state: State) -> tuple[list[tuple[str, str]], list[str]]:
    """Messages that wait at an entity where nothing can happen any more, and packets that it refuses."""
    protocol = table.protocol
    messages: list[tuple[str, str]] = []
    packets: list[str] = []
    for component in state[:-1]:
        inner = table.inner_of(component)
        if inner.stopped:
            continue
        at = protocol.name_of(table.placements.values[inner.placement].entity)
        waiting = protocol.waiting(table.states.values[inner.state])
        messages += [(m.name, at) for m in sorted(waiting, key=_place)]
        refused = len(table.inbox_of(component))
        if refused:
            packets.append(f"{refused} packet{'' if refused == 1 else 's'} that {at} refuses")
    return messages, packets


def unheard(table: TransitionTable, *, exchanged: bool) -> list[str]:
    """The entities that were asked to send and accepted that in no state. Where they are `exchanged`, what one of them
    accepts the others do.
    """
    if exchanged and table.heard:
        return []
    return [table.protocol.name_of(entity) for entity in sorted(table.wanting - table.heard)]


def _place(message: Message) -> tuple[int, int]:
    return message.sender, message.number
