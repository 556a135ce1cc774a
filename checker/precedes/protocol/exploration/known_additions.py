"""What steps add to the past, for those that accept a request or only deliver: found again without making the events.

To make and to hash an event takes as long as many a handler. Messages are passed on as they came in a request or a
packet, so that the address of a message says which it is.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from precedes.protocol.exploration.histories import Recording
from precedes.protocol.model import Action, Deliver, Message, Step, Transmit

MOST: Final = 1 << 16
"""So many are known. A model that makes its messages anew has no use of more."""

Clock: TypeAlias = tuple[int, ...] | None
Mark: TypeAlias = (
    tuple[bool, int, Clock, int] | tuple[bool, tuple[int, ...], tuple[Clock, ...] | None, int] | None
)
"""What the events of a step are known by: whether there is a send, the address of its message, the recorded clock and
the time; of several deliveries the addresses and the clocks. None: other events are among them."""
NO_EVENT: Final = (False, 0, None, 0)
"""The mark of a step that does nothing but change the state. Nothing has the address 0."""


class KnownAdditions:
    """The numbers of what was added to pasts, by the mark of the step. `rearranges`: what is delivered is not what
    actions say, and nothing is known.
    """

    def __init__(self, recording: Recording, *, rearranges: bool) -> None:
        self.additions: dict[Mark, int] = {}
        self._messages: list[object] = []
        """What has the messages of the marks: as long as one is there, nothing else has its address."""
        self._clocks, self._times, self._rearranges = recording.clocks, recording.times, rearranges

    def mark(self, now: int, step: Step[Any], request: Message | None) -> Mark:
        """The mark of a step at a tick. `request`: the message where it accepts one."""
        actions = step.actions
        if self._rearranges or type(actions) is not tuple:
            return None
        if request is None:
            if not actions:
                return NO_EVENT
            if len(actions) > 1:
                return self._of_deliveries(now, actions)
            if type(actions[0]) is not Deliver:
                return None
            message, clock = actions[0].message, actions[0].clock
        else:
            for action in actions:
                if type(action) is not Transmit:
                    return None
            message, clock = request, step.clock
        return request is not None, id(message), clock if self._clocks else None, now if self._times else 0

    def _of_deliveries(self, now: int, actions: tuple[Action, ...]) -> Mark:
        delivered = [action for action in actions if type(action) is Deliver]
        if len(delivered) < len(actions):
            return None
        clocks = tuple([each.clock for each in delivered]) if self._clocks else None
        return False, tuple([id(each.message) for each in delivered]), clocks, now if self._times else 0

    def note(self, mark: Mark, addition: int, request: Message | None, step: Step[Any]) -> None:
        """Know what a step added."""
        if len(self.additions) >= MOST:
            self.additions.clear()
            self._messages.clear()
        self.additions[mark] = addition
        self._messages.append(step.actions if request is None else request)
