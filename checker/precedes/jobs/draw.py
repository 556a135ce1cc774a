"""`precedes draw` of a trace: an execution to be drawn, with a violation that is to be seen in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from precedes.core.coloring import COLORED_BY
from precedes.core.counts import counted
from precedes.core.diagnostics import usage
from precedes.core.execution import EventKind, Execution
from precedes.core.formula import Attribute, Requirement
from precedes.core.suggestions import did_you_mean
from precedes.core.transposition import batch_of, execution_of
from precedes.core.traversal import attributes_in
from precedes.core.verdict import FALSE
from precedes.core.witness import Witness
from precedes.engines.columnar.offenders import Offender
from precedes.engines.reference import explain
from precedes.engines.reference.cut import cut
from precedes.engines.scan import local, partials
from precedes.engines.scan.partials import Report, Violation
from precedes.jobs import infer as inference
from precedes.jobs.verify import Question, verify
from precedes.language.library import Library
from precedes.language.quoting import shown
from precedes.logic.contents import counts_in
from precedes.logic.plan import Listing, plan
from precedes.traces import Notices, batch_named, execution_names, expand
from precedes.traces.formats.text_stream import rereadable_input

_NAMED: Final = 5
"""Executions that a message names."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be seen: of the `execution` with this name, the `violation` with this number, counted from 1, of a
    requirement. Without an execution it is that of the violation, as `verify` numbers them.
    """

    execution: str | None = None
    violation: int | None = None
    requirement: Requirement | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """An execution, and of the violation the requirement, the part of the execution that shows it, and its witness."""

    execution: Execution
    requirement: Requirement | None = None
    cut: Execution | None = None
    witness: Witness | None = None


def drawn(question: Question, wanted: Wanted, library: Library) -> Drawn:
    """Find what is wanted in the traces of a question. PrecedesError if it is not there."""
    # They are read for the names of the executions, for what is violated, and for the one to be drawn.
    with rereadable_input():
        return _found(question, wanted, library)


def _found(question: Question, wanted: Wanted, library: Library) -> Drawn:
    if wanted.requirement is None and wanted.execution is not None and wanted.violation is not None:
        wanted = replace(wanted, requirement=_weakest(question, wanted.execution, library))
    if wanted.requirement is not None and wanted.execution is None:
        return _among_all(question, wanted.requirement, wanted.violation or 1, library)
    attributes = _attributes(wanted.requirement, library)
    return of_execution(_named(question, wanted.execution, attributes), wanted)


def of_execution(execution: Execution, wanted: Wanted) -> Drawn:
    """The same of an execution that is in memory."""
    if wanted.requirement is None:
        return Drawn(execution)
    number = wanted.violation or 1
    report = _report(execution, wanted.requirement, number)
    one = next(islice(_violations(execution, report), number - 1, None), None)
    if one is None and wanted.violation is not None:
        missing = f"execution {shown(execution.name)} has no violation {number} of {wanted.requirement.name}"
        raise usage(missing, _doubt(report))
    return Drawn(execution) if one is None else replace(one, execution=execution)


def _among_all(question: Question, requirement: Requirement, number: int, library: Library) -> Drawn:
    asked = replace(question, max_violations=number)
    report, _ = verify(asked, lambda _executions, _events: None, asked.planned([requirement]))
    if len(report.violations) < number:
        found = counted(len(report.violations), "violation")
        raise usage(
            f"there is no violation {number} of {requirement.name} in the trace: it has {found}",
            _doubt(report),
        )
    one = report.violations[number - 1]
    witness = one.explanation.witnesses[0] if one.explanation.witnesses else None
    whole = _named(question, one.execution, _attributes(requirement, library))
    return Drawn(whole, one.requirement, one.explanation.execution, witness)


def _report(execution: Execution, requirement: Requirement, most: int) -> Report:
    """What violates a requirement in an execution, so many times at most for each of its parts."""
    asked = replace(plan([requirement]), listing=Listing(most, everywhere=False))
    return partials.report(local.judged([batch_of([execution])], asked, limit=len(asked.names)), asked)


def _doubt(report: Report) -> str | None:
    """Why there may be more: something is unknown, or was not searched to the end."""
    for unknown in report.unknowns:
        return f"{unknown.predicate} is unknown: {'; '.join(unknown.why)}"
    cut_short = any(one.offenders is not None and not one.offenders.exact for one in report.violations)
    return "there may be more, but it takes too long to find them" if cut_short else None


def _violations(execution: Execution, report: Report) -> Iterator[Drawn]:
    """Each violation by itself, part by part of the requirement."""
    for violation in report.violations:
        listed = violation.offenders.first if violation.offenders is not None else ()
        told = [one for offender in listed if (one := _shown(execution, violation, offender)) is not None]
        yield from told or [_smallest(execution, violation)]


def _smallest(execution: Execution, violation: Violation) -> Drawn:
    explanation = violation.explanation
    witness = explanation.witnesses[0] if explanation.witnesses else None
    return Drawn(execution, violation.requirement, explanation.execution, witness)


def _shown(execution: Execution, violation: Violation, offender: Offender) -> Drawn | None:
    """An offender as the reference evaluator sees it on its own messages and entities; None where these alone do not
    show it.
    """
    if counts_in(violation.requirement.formula) or not offender.messages:
        return None
    part = cut(execution, Witness((), offender.messages, offender.entities, violation.predicate))
    for some in (_among(part, offender.entities), part):
        explanation = explain(violation.requirement, some)
        if explanation.value == FALSE and explanation.witnesses:
            return Drawn(execution, violation.requirement, explanation.execution, explanation.witnesses[0])
    return None


def _among(execution: Execution, entities: Collection[str]) -> Execution:
    """An execution without the deliveries of others, so that nothing of theirs is shown first."""
    histories = tuple(
        history
        if history.entity in entities
        else replace(history, events=tuple(e for e in history.events if e.kind is EventKind.SEND))
        for history in execution.histories
    )
    return replace(execution, histories=histories, marks={})


def _weakest(question: Question, name: str, library: Library) -> Requirement:
    """The weakest name of the library that an execution violates."""
    names = inference.askable(library)
    asked = inference.planned(names, library)
    execution = _named(question, name, asked.attributes)
    partial = local.judged([batch_of([execution])], asked, inference.SHOWN)
    found = inference.inferred(partials.report(partial, asked), names, library)
    if not found.broken:
        raise usage(f"execution {shown(name)} violates no name of the library", "leave out --violation")
    weakest = next(iter(found.broken))
    return asked.leaves.get(weakest) or asked.composites[weakest]


def _attributes(requirement: Requirement | None, library: Library) -> tuple[Attribute, ...]:
    """Those that a requirement asks for, and those by which messages may have colors."""
    asked = () if requirement is None else attributes_in(requirement.formula)
    colors = (attribute for name in COLORED_BY if (attribute := library.attribute(name)) is not None)
    return tuple(dict.fromkeys((*asked, *colors)))


def _named(question: Question, name: str | None, attributes: tuple[Attribute, ...]) -> Execution:
    """An execution by its name, or the only one."""
    notices = Notices()
    sources = expand(question.traces, notices, question.log)
    options = replace(question.options(), attributes=attributes)
    if name is None:
        names = execution_names(sources, notices)
        if len(names) != 1:
            hint = "name one with --execution, or say with --expect what is violated" if names else None
            raise usage(f"the trace has {counted(len(names), 'execution')}", hint)
        name = names[0]
    batch = batch_named(name, sources, options, notices)
    if batch is not None:
        return execution_of(batch, 0)
    names = execution_names(sources, notices)
    listed = ", ".join(map(shown, names[:_NAMED])) + (", ..." if len(names) > _NAMED else "")
    raise usage(f"the trace has no execution {shown(name)}", did_you_mean(name, names) or f"it has {listed}")
