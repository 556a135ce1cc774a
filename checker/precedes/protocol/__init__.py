"""Protocols that run: what a model is, the networks under it, and who explores and simulates it.

A model is written against these names:

    from precedes.protocol import Deliver, Here, Message, Protocol, Reliable, Step, Transmit
"""

from precedes.protocol.invariants import OfEntity, OfPair, OfState, OfStep, Situation
from precedes.protocol.model import (
    Action,
    Arrive,
    Choose,
    Deliver,
    Discard,
    Here,
    Message,
    Outcome,
    Protocol,
    Step,
    Timer,
    Transmit,
    View,
)
from precedes.protocol.network import Network, Reliable, SingleChannel, Timed

__all__ = [
    "Action",
    "Arrive",
    "Choose",
    "Deliver",
    "Discard",
    "Here",
    "Message",
    "Network",
    "OfEntity",
    "OfPair",
    "OfState",
    "OfStep",
    "Outcome",
    "Protocol",
    "Reliable",
    "SingleChannel",
    "Situation",
    "Step",
    "Timed",
    "Timer",
    "Transmit",
    "View",
]
