"""Protocols that run: what a model is, the networks under it, and who explores and simulates it.

A model is written against these names:

    from precedes.protocol import Deliver, Here, Message, Protocol, Reliable, Step, Transmit

`run` and `Simulator` simulate executions as values; what they need is loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from precedes.core.frozen_values import made_by_slots, replace
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.invariants import Invariant, OfEntity, OfPair, OfState, OfStep, Situation
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

if TYPE_CHECKING:
    from precedes.protocol.simulation.simulator import Run, Simulator, run

__all__ = [
    "Action",
    "Arrive",
    "Choose",
    "Conditions",
    "Deliver",
    "Destinations",
    "Discard",
    "Here",
    "Invariant",
    "Message",
    "Network",
    "OfEntity",
    "OfPair",
    "OfState",
    "OfStep",
    "Outcome",
    "Protocol",
    "Reliable",
    "Run",
    "Simulator",
    "SingleChannel",
    "Situation",
    "Step",
    "Timed",
    "Timer",
    "Transmit",
    "View",
    "made_by_slots",
    "replace",
    "run",
]

_SIMULATION = ("Run", "Simulator", "run")


def __getattr__(name: str) -> Any:
    if name not in _SIMULATION:
        raise AttributeError(f"module 'precedes.protocol' has no attribute {name!r}")
    return getattr(import_module("precedes.protocol.simulation.simulator"), name)
