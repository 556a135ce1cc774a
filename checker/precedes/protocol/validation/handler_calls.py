"""Calls of a model's handlers, whose exceptions are mistakes of the model."""

from __future__ import annotations

import os
from typing import Any

from precedes.core.diagnostics import PrecedesError
from precedes.protocol.model import Here, Protocol
from precedes.protocol.validation import errors


def called(protocol: Protocol[Any], handler: str, at: Here, *arguments: Any) -> Any:
    """What a handler returns; PrecedesError M005 where it raises."""
    try:
        return getattr(protocol, handler)(at, *arguments)
    except PrecedesError:
        raise
    except (Exception, SystemExit) as error:
        if os.environ.get("PRECEDES_DEBUG"):
            raise
        raise errors.raised(protocol, handler, at, arguments, error) from None
