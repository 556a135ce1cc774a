"""The numbers that machine code computes with: verdicts, reasons, kinds of events."""

from __future__ import annotations

from typing import Final

from precedes.core import execution, verdict
from precedes.core.columns import MISSING_TIME, NOT_RECORDED
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.core.verdict import Reason

TRUE: Final = verdict.TRUE
FALSE: Final = verdict.FALSE

INCOMPLETE: Final = int(Reason.INCOMPLETE)
SEND_NOT_LOGGED: Final = int(Reason.SEND_NOT_LOGGED)
CYCLE: Final = int(Reason.CYCLE)
NO_TIME: Final = int(Reason.NO_TIME)
NO_DELTA: Final = int(Reason.NO_DELTA)
EPSILON: Final = int(Reason.EPSILON)
CLOCKS: Final = int(Reason.CLOCKS)
NO_ATTRIBUTE: Final = int(Reason.NO_ATTRIBUTE)
NO_ACKNOWLEDGEMENT: Final = int(Reason.NO_ACKNOWLEDGEMENT)
GROUP_CHOOSES: Final = int(Reason.GROUP_CHOOSES)
NO_VIEWS: Final = int(Reason.NO_VIEWS)
NO_VIEW_NUMBER: Final = int(Reason.NO_VIEW_NUMBER)

SEND: Final = EVENT_CODES[EventKind.SEND]
ARRIVE: Final = EVENT_CODES[EventKind.ARRIVE]
LOCAL: Final = EVENT_CODES[EventKind.LOCAL]
ACK: Final = EVENT_CODES[EventKind.ACK]
NACK: Final = EVENT_CODES[EventKind.NACK]
VIEW: Final = EVENT_CODES[EventKind.VIEW]
KINDS: Final = len(EVENT_CODES)
FIRST_WITHOUT_MESSAGE: Final = execution.FIRST_WITHOUT_MESSAGE
LAST_WITHOUT_MESSAGE: Final = execution.LAST_WITHOUT_MESSAGE

NO_TIME_GIVEN: Final = int(MISSING_TIME)
NO_VALUE: Final = int(NOT_RECORDED)

DEFERRED: Final = -2
"""A kernel's value for an execution that it leaves to the compiled formula."""
