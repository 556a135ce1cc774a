"""Whether less is required than before: the old requirement and the new one, compared by the solver.

A requirement is weaker when an execution satisfies it that the old one forbids. It is compared as it was meant then,
with the definitions that stood in the project's own files.
"""

from __future__ import annotations

from precedes.diagnostics import PrecedesError
from precedes.formula import Implies, Requirement
from precedes.gate.baseline import Baseline, Kept
from precedes.gate.checks import events_of
from precedes.gate.items import Item, Stated
from precedes.language.compiling import compile_text
from precedes.language.library import Library, standard_library
from precedes.language.requirements import requirement

SECONDS = 30.0
"""For one comparison."""


def weakened(before: Baseline, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """One item for each requirement that demands less than in the baseline, or may do so."""
    now = {item.name: item for item in items}
    found: list[Item] = []
    for kept in before.items:
        item = now.get(kept.name)
        if item is None or kept.stated is None or item.stated is None or kept.stated == item.stated:
            continue
        answer = _compared(kept, item)
        if answer is not None:
            found.append(answer)
    return tuple(found)


def meaning(stated: Stated) -> Requirement:
    """A requirement as it was meant where it was stated."""
    library: Library = standard_library()
    if stated.definitions:
        library = compile_text(stated.definitions, None, library).library
    return requirement(stated.text, library)


def _compared(kept: Kept, item: Item) -> Item | None:
    if kept.stated is None or item.stated is None:
        return None
    try:
        old, new = meaning(kept.stated), meaning(item.stated)
    except PrecedesError as error:
        said = f"{item.subject} cannot be compared with the baseline: {error.diagnostics[0].message}"
        return Item("G202", item.check, item.subject, "undecided", said, item.place)
    if old.formula == new.formula:
        return None
    from precedes.engines.solver import Counterexample, Options, Proved, as_scenario, prove

    question = Requirement(f"{new.name} implies {old.name}", Implies(new.formula, old.formula), ())
    answer = prove(question, Options(timeout=SECONDS))
    match answer:
        case Proved():
            return None
        case Counterexample(execution, _):
            said = f"{item.subject} demands less than it did: this execution was forbidden and is allowed now"
            scenario = as_scenario(execution, "weakened")
            return Item(
                "G202",
                item.check,
                item.subject,
                "failed",
                said,
                item.place,
                scenario,
                events_of(execution),
                scenario,
            )
        case _:
            said = f"{item.subject} may demand less than it did: {answer}"
            return Item("G202", item.check, item.subject, "undecided", said, item.place)
