"""Explores every behavior of a protocol, within bounds: which states it reaches, and what it violates."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final

from precedes.core.diagnostics import usage
from precedes.core.formula import Requirement
from precedes.core.garbage_collection import paused
from precedes.language.library import Library, standard_library
from precedes.language.requirements import requirement
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration import symmetry_reduction
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.kept_search import question
from precedes.protocol.exploration.reductions import Reduction, usable
from precedes.protocol.exploration.result import Exploration, Finding, Observer
from precedes.protocol.exploration.state_search import Order, Search
from precedes.protocol.exploration.state_space import refuse_what_cannot_happen
from precedes.protocol.invariants import Invariant
from precedes.protocol.liveness.endless_behaviors import DELIVERY, LIVELOCK, Searched, owed
from precedes.protocol.model import Protocol
from precedes.protocol.validation import declarations

SHORTENING: Final = 20.0
"""Seconds for finding shorter behaviors after a reduced search."""


def claims(protocol: Protocol[Any], library: Library | None = None) -> tuple[Requirement, ...]:
    """What the protocol's paper claims."""
    known = standard_library() if library is None else library
    file = getattr(sys.modules.get(type(protocol).__module__), "__file__", None)
    where = f"{PurePath(file).name if file else type(protocol).__name__}: claims"
    return tuple(requirement(claim, known, where) for claim in protocol.claims)


def explore(
    protocol: Protocol[Any],
    bounds: Bounds,
    requirements: Sequence[Requirement] | None = None,
    *,
    invariants: Sequence[Invariant] | None = None,
    plain: bool = False,
    quiescent: bool = False,
    order: Order = "breadth",
    check_purity: bool = False,
    first: bool = False,
    live: Collection[str] | None = None,
    resume: Path | None = None,
    observer: Observer | None = None,
) -> Exploration:
    """Explore every behavior of a protocol up to bounds.

    `requirements` None: what the paper claims; `invariants` None: the protocol's. `plain` leaves the reductions out.
    `quiescent`: what concerns several entities at once is judged only where nothing is in flight, whatever mode it
    says, which takes far fewer states on a single channel. `first`: the search ends soon after a violation is found.
    `live`: what is asked of quiescent states is also asked of behaviors that never end, and of the properties of any
    model (`endless_behaviors.PROPERTIES`) those that are named. `resume`: a search that met a limit is kept in this
    file, and goes on from it where it is there. PrecedesError for a mistake of the model, and where the file has
    another search.
    """
    declarations.check(protocol)
    _refuse_of_order(order, bounds, first=first, live=live is not None, keeps=resume is not None)
    refuse_what_cannot_happen(protocol, bounds)
    asked = claims(protocol) if requirements is None else tuple(requirements)
    if live is not None and not {DELIVERY, LIVELOCK}.isdisjoint(live):
        asked = (*asked, owed(bounds, standard_library()))
    checked = protocol.invariants if invariants is None else tuple(invariants)
    rearranges = type(protocol).receipt_log is not Protocol.receipt_log
    inherits = order == "breadth" and not (first or rearranges)
    judge = Judge(asked, checked, quiescent=quiescent, inherits=inherits)
    every = plain or live is not None
    reductions = frozenset[Reduction]() if every else usable(protocol, bounds, judge)
    if check_purity and Reduction.SYMMETRY in reductions:
        checked = symmetry_reduction.compared(protocol, bounds.entities, checked)
        judge = Judge(asked, checked, quiescent=quiescent, inherits=inherits)
    watching = Observer() if observer is None else observer
    search = Search(
        protocol, bounds, judge, reductions, check_purity=check_purity, first=first, observer=watching
    )
    if order == "breadth":
        search.walker = lambda: Search(
            protocol,
            bounds,
            Judge(asked, checked, quiescent=quiescent),
            frozenset(),
            check_purity=check_purity,
            observer=watching,
        )
    if resume is not None:
        options = {"plain": plain, "quiescent": quiescent, "live": None if live is None else sorted(live)}
        search.keep_in(resume, question(protocol, bounds, asked, checked, options))
    with paused():
        found = search.run(order)
        if order == "breadth" and Reduction.ONE_BY_ONE in reductions and not first:
            found = replace(found, findings=_shortest(protocol, bounds, judge, found, watching))
        if live is not None:
            found = Searched(search.space, search.states, judge, live).in_the_end(found)
    return found


def _refuse_of_order(order: Order, bounds: Bounds, *, first: bool, live: bool, keeps: bool) -> None:
    """PrecedesError U001 for what a search in this order cannot do."""
    if order == "depth" and bounds.depth is not None:
        raise usage(
            "a search depth first cannot stop at a depth", "leave out the depth, or search breadth first"
        )
    if order == "depth" and live:
        raise usage(
            "a search depth first does not find the shortest lasso", "search breadth first for what is live"
        )
    if keeps and (order == "depth" or first):
        raise usage(
            "only a search breadth first that goes to the end can be resumed",
            "leave out `order`, `first` or `resume`",
        )


def _shortest(
    protocol: Protocol[Any], bounds: Bounds, judge: Judge, found: Exploration, observer: Observer
) -> tuple[Finding, ...]:
    """The findings with shortest behaviors, where these are found with about as much effort again.

    One entity after the other, a violation may be seen only after more has come in than it needs.
    """
    if not found.findings:
        return ()
    names = {finding.property for finding in found.findings}
    leaves = [leaf for name, leaf in judge.formulas.leaves.items() if name in names]
    asked = [invariant for invariant in judge.invariants.all if invariant.name in names]
    again = Judge(leaves, asked)
    limits = replace(
        bounds,
        depth=max(len(finding.behavior) for finding in found.findings) - 1,
        seconds=min(SHORTENING, bounds.seconds or SHORTENING),
    )
    reductions = usable(protocol, bounds, again) - {
        Reduction.ONE_BY_ONE,
        Reduction.BY_ITSELF,
        Reduction.SILENTLY,
    }
    shorter = Search(protocol, limits, again, reductions, check_purity=False, observer=observer, wanted=names)
    best = {finding.property: finding for finding in found.findings}
    for finding in shorter.run("breadth").findings:
        if finding.property in best and len(finding.behavior) < len(best[finding.property].behavior):
            best[finding.property] = finding
    return tuple(sorted(best.values(), key=lambda finding: len(finding.behavior)))
