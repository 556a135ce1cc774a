"""How an exploration is printed: a verdict for each property, and for each violation a shortest behavior.

That is shown as steps, as histories, as a space-time diagram, and as a scenario that `precedes check` confirms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, assert_never

from precedes.core.counts import counted
from precedes.core.faults import FAULTS
from precedes.core.mode import Mode
from precedes.core.printable import json_text
from precedes.core.verdict import FALSE, Verdict
from precedes.core.witness import Witness
from precedes.engines.reference import evaluate
from precedes.jobs.explore import Explored
from precedes.language.quoting import written
from precedes.language.scenario_printer import as_scenario
from precedes.protocol.exploration.histories import needed
from precedes.protocol.exploration.result import INTERRUPTED, Exploration, Finding, Sighting
from precedes.protocol.liveness.endless_behaviors import DELIVERY, owed_text
from precedes.reports.behavior import steps
from precedes.reports.figure import figure, sentence
from precedes.reports.lasso import drawn, told
from precedes.reports.space_time.text import diagram

JSON_SCHEMA: Final = 1


def as_text(explored: Sequence[Explored]) -> str:
    """The report for people."""
    return "\n".join(line for each in explored for line in _one(each)) + "\n"


def _one(explored: Explored) -> Iterator[str]:
    found = explored.found
    yield heading(explored)
    width = max((len(name) for name in found.exercised), default=0)
    modes = {name: where(found, name) for name in found.exercised}
    widest = max(map(len, modes.values()), default=0)
    for name, verdict in found.verdicts.items():
        said = f"  {name:<{width}}  {modes[name]:<{widest}}  {verdict.value:<9} {why(found, name, verdict)}"
        yield said.rstrip()
    if found.fair:
        yield ""
        yield from fairness(found)
    for finding in found.findings:
        yield ""
        yield from _finding(explored, finding)
    yield ""
    yield closing(found)
    yield ""


def heading(explored: Explored) -> str:
    """The model with its settings, and the bounds."""
    protocol, bounds = explored.protocol, explored.bounds
    settings = [
        f"{name}={_value(value)}" for name, value in protocol.parameters().items() if name != "as_written"
    ]
    which = ", ".join((*([] if protocol.form is None else [protocol.form]), *settings))
    name = f"{protocol.name} ({which})" if which else protocol.name
    said = f"{name}: {counted(bounds.entities, 'entity', 'entities')}"
    if bounds.script is not None:
        said += ", given sends"
    else:
        said += f", {counted(bounds.messages, 'message')} ({bounds.destinations.value})"
    for fault in FAULTS:
        if number := getattr(bounds, fault.count):
            said += f", {counted(number, *fault.nouns)}"
    return said


def _value(value: object) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(_value, value))) + "}"
    return str(getattr(value, "name", value))


def where(found: Exploration, name: str) -> str:
    """Where a property is asked, in a few words."""
    mode = found.modes[name]
    if name not in found.live:
        return mode.value
    match mode:
        case Mode.ALWAYS:
            return "always, in the end"
        case Mode.QUIESCENT:
            return "in the end"
        case Mode.MIXED:
            return "partly in the end"
        case _:
            assert_never(mode)


def fairness(found: Exploration) -> Iterator[str]:
    """Which steps are fair, with the reasons of the model."""
    for kind, reason in found.fair.items():
        yield f"  fair: {kind}: {reason}"


def why(found: Exploration, name: str, verdict: Verdict) -> str:
    """What a verdict rests on, in a few words."""
    met = found.exercised[name]
    if verdict is Verdict.VIOLATED:
        finding = next(finding for finding in found.findings if finding.property == name)
        said = f"after {counted(len(finding.behavior) - 1, 'move')}"
        if finding.loop is not None:
            stem = len(finding.behavior) - 1 - finding.loop
            loop = counted(finding.loop, "move")
            said = f"after {counted(stem, 'move')}"
            return f"{said}, in a loop of {loop}" if finding.loop else f"{said}, where it may stay"
        return said if finding.quiescent else f"{said}, with something in flight"
    if name in found.open:
        return "; ".join(found.open[name])
    if not met:
        return "never exercised" if found.complete else "not exercised so far"
    return f"exercised {_times(met)}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _finding(explored: Explored, finding: Finding) -> Iterator[str]:
    yield f"{finding.property} is violated"
    if finding.requirement is not None:
        said = sentence(finding.requirement, finding.execution, witness(finding))
        if said:
            yield f"  {said}"
    if finding.about:
        yield f"  {'; '.join(finding.about)}"
    if finding.loop is not None:
        yield f"  {told(finding)}"
    yield ""
    yield from (f"    {line}" for line in told_steps(explored, finding))
    yield ""
    yield from (f"    {line}" for line in figure(finding.execution, witness(finding)).splitlines())
    yield ""
    yield from (f"    {line}" for line in drawing(explored, finding).splitlines())
    yield ""
    yield from (f"    {line}" for line in scenario(explored, finding).splitlines())


def told_steps(explored: Explored, finding: Finding) -> Iterator[str]:
    """The moves of a behavior, those that go on for ever marked."""
    return steps(explored.protocol, finding.behavior, finding.loop or 0)


def drawing(explored: Explored, finding: Finding) -> str:
    """The behavior as a space-time diagram: of its packets, where it goes on for ever."""
    if not finding.loop:
        return diagram(finding.execution)
    lasso = drawn(explored.protocol, explored.bounds.entities, finding)
    return diagram(lasso.execution, loop=lasso.loop)


def witness(finding: Finding) -> Witness | None:
    """What shows the violation of a formula."""
    if finding.explanation is None or not finding.explanation.witnesses:
        return None
    return finding.explanation.witnesses[0]


def scenario(explored: Explored, finding: Finding) -> str:
    """The execution as a scenario. It states what `check` can confirm: a formula by itself; that what starves is not
    delivered; nothing for an invariant, which is no formula.
    """
    statements: tuple[str, ...]
    if finding.requirement is None and finding.loop:
        statements = (f"# {finding.property} is violated by a loop, and a scenario has none",)
    elif finding.requirement is None:
        statements = (
            f"# {finding.property} is violated: {'; '.join(finding.about) or 'no formula says so'}",
            *(f"expect not {written(m)} in RL[{written(e)}]" for m, e in finding.starving),
        )
    elif needed([finding.requirement.formula]).clocks:
        statements = (f"# {finding.property} is violated by the recorded clocks, which a scenario has not",)
    elif evaluate(finding.requirement.formula, finding.execution) != FALSE:
        statements = (
            f"# {finding.property} is violated while something is in flight; in a scenario nothing is",
        )
    else:
        name = finding.requirement.name
        if name == DELIVERY:
            name = owed_text(explored.bounds)
        statements = (f"expect not {name if ' among ' in name else f'({name})'}",)
    title = "".join(c if c.isalnum() else "_" for c in f"{explored.protocol.name}_{finding.property}")
    before = "" if finding.requirement is None else explored.definitions
    return before + as_scenario(finding.execution, title, statements)


def closing(found: Exploration) -> str:
    """The verdict of all together, and the size of the search."""
    size = f"{found.states:,} states, {found.transitions:,} transitions, depth {found.depth}"
    judged = f"{counted(found.executions, 'execution')} judged, {counted(found.quiescent, 'quiescent state')}"
    without = (
        "every interleaving, as no reduction is sound in the end" if found.fair else "every interleaving"
    )
    how = without if not found.reductions else f"reduced by {' and '.join(found.reductions)}"
    detail = f"({size}; {judged}; {how}; {found.seconds:.1f} s)"
    if found.stopped_by is not None:
        reached = f"explored {found.states:,} states to depth {found.depth}, not all: "
        outcome = "violated" if found.verdict is Verdict.VIOLATED else "undecided"
        met = "it was interrupted" if found.stopped_by == INTERRUPTED else f"{found.stopped_by} was met"
        kept = (
            ""
            if found.kept is None
            else f"; kept in {found.kept}: with a higher limit the same command goes on"
        )
        return f"{reached}{outcome}; {met}{kept} {detail}"
    if found.verdict is Verdict.HOLDS:
        return f"holds: everything, in every behavior within the bounds {detail}"
    if found.verdict is Verdict.VIOLATED:
        return f"violated {detail}"
    if not found.asked:
        return (
            "undecided: no order was asked for; give the model claims, or say with --require what must hold "
            + detail
        )
    return f"undecided: not every property could be decided {detail}"


def sighted(model: str, sighting: Sighting) -> str:
    """A violation in one line, told while the search goes on."""
    after = f"after {counted(sighting.moves, 'move')}, {sighting.states:,} states into the search"
    explanation = sighting.explanation
    said = ""
    if sighting.requirement is not None and explanation is not None and explanation.witnesses:
        said = sentence(sighting.requirement, explanation.execution, explanation.witnesses[0])
    return f"{model}: {sighting.property} is violated {after}{f': {said}' if said else ''}"


def unfinished(model: str, seen: Mapping[str, str], form: str) -> str:
    """The report of a search that was ended before it gave one: what it told of each violation."""
    if form == "json":
        document = {
            "schema": JSON_SCHEMA,
            "verdict": (Verdict.VIOLATED if seen else Verdict.UNKNOWN).value,
            "complete": False,
            "stopped_by": INTERRUPTED,
            "explorations": [
                {
                    "model": model,
                    "complete": False,
                    "stopped_by": INTERRUPTED,
                    "violations": [{"property": name, "about": [text]} for name, text in seen.items()],
                }
            ],
        }
        return json_text(document)
    outcome = "violated" if seen else "undecided"
    return (
        "".join(f"{text}\n" for text in seen.values())
        + f"{outcome}: the search was ended before its report\n"
    )


def as_json(explored: Sequence[Explored]) -> str:
    """One JSON object, with a line break at its end."""
    verdicts = [each.found.verdict for each in explored]
    whole = next((v for v in (Verdict.VIOLATED, Verdict.UNKNOWN) if v in verdicts), Verdict.HOLDS)
    document = {
        "schema": JSON_SCHEMA,
        "verdict": whole.value,
        "complete": all(each.found.complete for each in explored),
        "stopped_by": next((s for each in explored if (s := each.found.stopped_by) is not None), None),
        "explorations": [_document(each) for each in explored],
    }
    return json_text(document)


def _document(explored: Explored) -> dict[str, Any]:
    found = explored.found
    return {
        "model": explored.protocol.name,
        "parameters": {name: _value(value) for name, value in explored.protocol.parameters().items()},
        "entities": explored.bounds.entities,
        "messages": explored.bounds.messages,
        "verdict": found.verdict.value,
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "executions": found.executions,
        "quiescent": found.quiescent,
        "complete": found.complete,
        "stopped_by": found.stopped_by,
        "reductions": list(found.reductions),
        "fair": dict(found.fair),
        "asked": list(found.asked),
        "properties": {
            name: {
                "mode": found.modes[name].value,
                "live": name in found.live,
                "verdict": verdict.value,
                "exercised": found.exercised[name],
                "unknown": list(found.open.get(name, ())),
            }
            for name, verdict in found.verdicts.items()
        },
        "violations": [
            {
                "property": finding.property,
                "mode": found.modes[finding.property].value,
                "quiescent": finding.quiescent,
                "about": list(finding.about),
                "loop": finding.loop,
                "steps": list(told_steps(explored, finding)),
                "figure": figure(finding.execution, witness(finding)),
                "diagram": drawing(explored, finding),
                "scenario": scenario(explored, finding),
            }
            for finding in found.findings
        ],
        "timings": {"seconds": round(found.seconds, 3)},
    }
