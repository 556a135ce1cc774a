"""The properties asked of a model: requirements in the language, and invariants of the model by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from precedes.core.formula import Requirement
from precedes.language.library import Library
from precedes.language.requirements import REQUIRED, requirement
from precedes.protocol.invariants import Invariant
from precedes.protocol.model import Protocol

Asked: TypeAlias = tuple[tuple[Requirement, ...] | None, tuple[Invariant, ...] | None]


def asked(protocol: Protocol[Any], texts: Sequence[str], library: Library, where: str = REQUIRED) -> Asked:
    """What the texts name; None twice where there are none, and the model's own claims and invariants are meant.

    An invariant's name is taken as it stands, before anything is read as a formula. `where` says in messages where the
    texts come from. PrecedesError for a text that is neither.
    """
    if not texts:
        return None, None
    known = {invariant.name: invariant for invariant in (*protocol.invariants, *protocol.further)}
    return (
        tuple(requirement(text, library, where) for text in texts if text not in known),
        tuple(known[text] for text in dict.fromkeys(texts) if text in known),
    )
