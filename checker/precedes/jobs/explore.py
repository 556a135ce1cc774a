"""`precedes explore`: explores every behavior of a model within bounds, and judges what was asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precedes.core.diagnostics import usage
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.language.library import Library
from precedes.language.requirements import REQUIRED
from precedes.language.scenario_printer import definitions
from precedes.protocol import Protocol
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration import properties
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration, Observer
from precedes.protocol.exploration.state_search import Order
from precedes.protocol.liveness import endless_behaviors
from precedes.protocol.validation import declarations
from precedes.protocol.validation.carried_values import with_attributes


@dataclass(frozen=True, slots=True)
class Explored:
    """A protocol, the bounds, and what came of exploring it. `definitions` are those, beyond the standard library, that
    a scenario with what was asked needs.
    """

    protocol: Protocol[Any]
    bounds: Bounds
    found: Exploration
    definitions: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """How to explore, the options of `precedes explore` under the same names. `where` says in messages where what is
    required comes from.
    """

    plain: bool = False
    quiescent: bool = False
    order: Order = "breadth"
    check_purity: bool = False
    first: bool = False
    live: bool = False
    resume: Path | None = None
    where: str = REQUIRED


def explored(
    protocol: Protocol[Any],
    bounds: Bounds,
    required: Sequence[str | Requirement],
    library: Library,
    search: Search,
    observer: Observer | None = None,
) -> Explored:
    """Explore one instance. Nothing required: what the paper claims and the invariants of the model; and, where the
    search is `live`, every property of behaviors without end.
    """
    declarations.check(protocol)
    library = with_attributes(protocol, library)
    named = tuple(one for one in endless_behaviors.PROPERTIES if one in required)
    live = None
    if search.live or named:
        live = named if required else endless_behaviors.PROPERTIES
    texts = [one for one in required if isinstance(one, str) and one not in named]
    requirements, invariants = properties.asked(protocol, texts, library, search.where)
    given = tuple(one for one in required if isinstance(one, Requirement))
    if given or named:
        requirements, invariants = (*(requirements or ()), *given), invariants or ()
    found = explore(
        protocol,
        bounds,
        requirements,
        invariants=invariants,
        plain=search.plain,
        quiescent=search.quiescent,
        order=search.order,
        check_purity=search.check_purity,
        first=search.first,
        live=live,
        resume=search.resume,
        observer=observer,
    )
    needed = definitions((each.name for each in requirements or ()), library)
    return Explored(protocol, bounds, found, needed)


def refuse_several(search: Search, protocols: Sequence[Protocol[Any]]) -> None:
    """PrecedesError U001 where one file would have the searches of several instances."""
    if search.resume is not None and len(protocols) > 1:
        differ = ", ".join(sorted(protocols[0].parameters()))
        raise usage(
            f"{protocols[0].name} has {len(protocols)} instances, and a file has one search",
            f"choose one of them by its parameters: {differ}",
        )


def verdict_of(all_explored: Sequence[Explored]) -> Verdict:
    """Of all instances together: violated before unknown, and unknown where nothing was explored."""
    verdicts = {each.found.verdict for each in all_explored}
    if Verdict.VIOLATED in verdicts:
        return Verdict.VIOLATED
    return Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.UNKNOWN
