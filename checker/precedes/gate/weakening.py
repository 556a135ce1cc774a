"""Whether less is required than before: the old requirement and the new one, compared by the solver.

A requirement is weaker when an execution satisfies it that the old one forbids. It is compared as it was meant then,
with the definitions that stood in the project's own files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from precedes.diagnostics import PrecedesError
from precedes.formula import Implies, Requirement, conjunction
from precedes.gate.baseline import REQUIRING, Baseline, Kept
from precedes.gate.checks import events_of, marks_of
from precedes.gate.items import Item, Stated
from precedes.language.compiling import compile_text
from precedes.language.library import Library, standard_library
from precedes.language.requirements import requirement

SECONDS = 30.0
"""For one comparison."""


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
                said = f"{kept.subject} is not required any more, and nothing is in its place"
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
    new = conjunction(*(part.formula for part in parts))
    if old.formula == new:
        return None
    from precedes.engines.reference import explain
    from precedes.engines.solver import Counterexample, Options, Proved, as_scenario, prove

    named = " and ".join(part.name for part in parts)
    answer = prove(
        Requirement(f"({named}) implies {old.name}", Implies(new, old.formula), ()), Options(timeout=SECONDS)
    )
    match answer:
        case Proved():
            return None
        case Counterexample(execution, _):
            said = f"{kept.subject} demands less than it did: this execution was forbidden and is allowed now"
            if instead[0].subject != kept.subject:
                said = f"{kept.subject} is not required any more: this execution was forbidden and is allowed now"
            scenario = as_scenario(execution, "weakened")
            witness = next(iter(explain(old, execution).witnesses), None)
            return Item(
                "G202",
                kept.check,
                kept.subject,
                "failed",
                said,
                place,
                scenario,
                events_of(execution),
                scenario,
                marks=marks_of(execution, witness),
            )
        case _:
            said = f"{kept.subject} may demand less than it did: {answer}"
            return Item("G202", kept.check, kept.subject, "undecided", said, place)
