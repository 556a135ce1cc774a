"""Whether a requirement is weaker than before: the solver compares the old requirement with the new one.

A requirement is weaker if an execution satisfies it that the old one forbids. The old requirement keeps its
meaning: it is compared with the definitions that were in the project's files at that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never, cast

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import TRUTH, Implies, Requirement, conjunction
from precedes.core.mode import judged
from precedes.gate.evidence import events_of, marks_of
from precedes.gate.findings import Item, Stated
from precedes.gate.run.baseline import REQUIRING, Baseline, Kept
from precedes.language.library import Library, standard_library
from precedes.language.loader import compile_text
from precedes.language.requirements import requirement

SECONDS = 30.0
"""For one comparison."""
EXPLORED = frozenset({"G103", "G202"})
"""Rules of what is asked in an exploration, or may be: properties of models, and definitions."""


def weakened(before: Baseline, items: Sequence[Item]) -> tuple[Item, ...]:
    """One item for each requirement that demands less than in the baseline, or may do so, or is gone."""
    now: dict[str, list[Item]] = {}
    places = {item.check: item.place for item in items}
    for item in items:
        if item.stated is not None:
            now.setdefault(item.check, []).append(item)
    found: list[Item] = []
    for kept in before.items:
        stated = now.get(kept.check, [])
        same = [item for item in stated if item.name == kept.name]
        # What was required under this name; if there is none any more, all that the check requires now.
        instead = same or (
            [item for item in stated if item.rule == kept.rule] if kept.rule in REQUIRING else []
        )
        was = before.stated(kept)
        if was is None or was in [item.stated for item in instead]:
            continue
        if not instead:
            # What became of a definition, or of a whole check, is told by the comparison of these.
            if kept.rule in REQUIRING and kept.check in places:
                said = f"{kept.subject} is no longer required, and nothing replaces it"
                place = places[kept.check]
                found.append(Item("G202", kept.check, kept.subject, "failed", said, place))
            continue
        answer = _compared(kept, was, instead)
        if answer is not None:
            found.append(answer)
    return tuple(found)


def meaning(stated: Stated) -> Requirement:
    """A requirement as it was meant where it was stated."""
    library: Library = standard_library()
    if stated.definitions:
        library = compile_text(stated.definitions, None, library).library
    return requirement(stated.text, library)


def _compared(kept: Kept, was: Stated, instead: Sequence[Item]) -> Item | None:
    place = instead[0].place
    try:
        old = meaning(was)
        parts = [meaning(cast(Stated, item.stated)) for item in instead]
    except PrecedesError as error:
        said = f"{kept.subject} cannot be compared with the baseline: {error.diagnostics[0].message}"
        return Item("G202", kept.check, kept.subject, "undecided", said, place)
    named = " and ".join(part.name for part in parts)
    new = Requirement(named, conjunction(*(part.formula for part in parts)), ())
    # Only an exploration looks at what is asked where something is in flight.
    modes = (True, False) if kept.rule in EXPLORED else (True,)
    found = (_less(kept, old, new, instead, quiescent=quiescent) for quiescent in modes)
    return next((item for item in found if item is not None), None)


def _less(
    kept: Kept, old: Requirement, new: Requirement, instead: Sequence[Item], *, quiescent: bool
) -> Item | None:
    """What is demanded less of quiescent states, or of the others."""
    before, now = judged(old.formula, quiescent=quiescent), judged(new.formula, quiescent=quiescent)
    if before in (now, TRUTH):
        return None
    from precedes.engines.reference import explain
    from precedes.engines.solver import (
        Counterexample,
        NoCounterexample,
        Options,
        Proved,
        Undecided,
        as_scenario,
        prove,
    )

    where = "" if quiescent else " where something is in flight"
    asked = Requirement(f"({new.name}) implies {old.name}", Implies(now, before), ())
    answer = prove(asked, Options(timeout=SECONDS))
    match answer:
        case Proved():
            return None
        case Counterexample(execution, _):
            said = f"{kept.subject} demands less than it did"
            if instead[0].subject != kept.subject:
                said = f"{kept.subject} is no longer required"
            scenario = as_scenario(execution, "weakened")
            witness = next(iter(explain(replace(old, formula=before), execution).witnesses), None)
            return Item(
                "G202",
                kept.check,
                kept.subject,
                "failed",
                f"{said}: this execution was forbidden{where} and is allowed now",
                instead[0].place,
                scenario,
                events_of(execution),
                scenario,
                marks=marks_of(execution, witness),
            )
        case NoCounterexample() | Undecided():
            said = f"{kept.subject} may demand less than it did{where}: {answer}"
            return Item("G202", kept.check, kept.subject, "undecided", said, instead[0].place)
        case _:
            assert_never(answer)
