"""Calls of a model's handlers, whose exceptions are mistakes of the model."""

from __future__ import annotations

import os
from typing import Any, NoReturn

from precedes.core.diagnostics import PrecedesError
from precedes.protocol.model import Here, Protocol
from precedes.protocol.validation import errors


def called(protocol: Protocol[Any], handler: str, at: Here, *arguments: Any) -> Any:
    """What a handler returns; PrecedesError M005 where it raises."""
    try:
        return getattr(protocol, handler)(at, *arguments)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a model raises is told as its mistake
        raise_as_mistake(protocol, handler, at, arguments, error)


def raise_as_mistake(
    protocol: Protocol[Any],
    handler: str,
    at: Here,
    arguments: tuple[Any, ...],
    error: Exception | SystemExit,
) -> NoReturn:
    """Raise what a handler raised as PrecedesError M005, if it is none yet."""
    if isinstance(error, PrecedesError) or os.environ.get("PRECEDES_DEBUG"):
        raise error
    raise errors.raised(protocol, handler, at, arguments, error) from None
