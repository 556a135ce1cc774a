"""Mistakes of a model that show when it runs: a handler that raises an error or returns something invalid."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any, Final

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.protocol.model import Here, Protocol

_LONG: Final = 200


def mistake(protocol: Protocol[Any], code: str, message: str, hint: str | None = None) -> PrecedesError:
    """An error that names the protocol."""
    return PrecedesError((Diagnostic(code, f"{protocol.name}: {message}", hint=hint),))


def raised(
    protocol: Protocol[Any], handler: str, at: Here, arguments: tuple[Any, ...], error: Exception | SystemExit
) -> PrecedesError:
    """M005: a handler raised something."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    given = "".join(f"\n        {short(argument)}" for argument in (at, *arguments))
    return mistake(
        protocol,
        "M005",
        f"{handler} of {protocol.name_of(at.entity)} raised {type(error).__name__}: {error} "
        f"({Path(where.filename).name}, line {where.lineno})",
        f"it was called with{given}",
    )


def no_outcome(protocol: Protocol[Any], outcome: object) -> PrecedesError:
    """M006: a handler returned something else than an outcome."""
    return mistake(
        protocol,
        "M006",
        f"a handler returned {short(outcome)}",
        "a handler returns Step(...), Choose(...) or None",
    )


def unhashable(protocol: Protocol[Any], what: str, value: object, error: TypeError) -> PrecedesError:
    """M007: a state or a packet cannot be hashed."""
    return mistake(
        protocol,
        "M007",
        f"{what} cannot be hashed ({error}): {short(value)}",
        "states and packets are frozen values: frozen dataclasses, tuples, frozensets, numbers",
    )


def nowhere(protocol: Protocol[Any], receiver: int, entities: int) -> PrecedesError:
    """M006: a handler transmitted to an entity that there is not."""
    return mistake(
        protocol,
        "M006",
        f"a handler transmitted to entity {receiver}",
        f"there are {entities}: 0 to {entities - 1}",
    )


def due_without_time(protocol: Protocol[Any], timer: str) -> PrecedesError:
    """M009: a timer is due at a time that does not exist."""
    return mistake(
        protocol,
        "M009",
        f"timer {timer} is due at a time, in a network without time",
        "omit `due`, or use the network Timed(...)",
    )


def endless(protocol: Protocol[Any], number: int, seed: int, most_steps: int) -> PrecedesError:
    """M011: an execution takes too many steps."""
    return mistake(
        protocol,
        "M011",
        f"execution {number} of seed {seed} takes more than {most_steps:,} steps",
        "entities that go on forever never end a run; allow more steps if this one only takes long",
    )


def short(value: object) -> str:
    """A value as text that is not too long."""
    return shortened(repr(value))


def shortened(text: str) -> str:
    """A text that is not too long."""
    return text if len(text) <= _LONG else text[: _LONG - 4] + " ..."
