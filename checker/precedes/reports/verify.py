"""How the report of `precedes verify` is printed: as text for people, as JSON for programs. The same for
every engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from precedes.core.counts import counted
from precedes.core.printable import json_text
from precedes.core.verdict import Reason, Verdict, reasons
from precedes.core.witness import Explanation, Witness
from precedes.engines.scan.partials import Count, Report, Unknown
from precedes.language.quoting import shown
from precedes.logic.prerequisites import in_words
from precedes.reports import offenders
from precedes.reports.figure import figure, sentence
from precedes.traces import Notice

JSON_SCHEMA = 1
"""The version of the JSON form. It grows by keys; a key never changes its meaning under one number."""

_LISTED: Final = 3
"""Executions that are named where the same is unknown in more of them."""

_NO_DELTA: Final = reasons(Reason.NO_DELTA)
_MISSING: Final = reasons(Reason.INCOMPLETE)
_UNSENT: Final = reasons(Reason.SEND_NOT_LOGGED)


def as_json(report: Report, notices: Sequence[Notice], seconds: float) -> str:
    """One JSON object, with a line break at its end. Only `timings` differs between two runs over the same
    trace.
    """
    document: dict[str, Any] = {
        "schema": JSON_SCHEMA,
        "verdict": report.verdict.value,
        "executions": report.executions,
        "events": report.events,
        "messages": report.messages,
        "predicates": {
            name: _as_counts(count)
            | ({"as_recorded": _as_counts(report.as_recorded[name])} if name in report.as_recorded else {})
            for name, count in report.counts.items()
        },
        "violations": [
            {
                "execution": violation.execution,
                "predicate": violation.predicate,
                "bindings": dict(violation.explanation.witnesses[0].bindings)
                if violation.explanation.witnesses
                else {},
                "explanation": sentence(
                    violation.requirement, violation.cut, _witness(violation.explanation)
                ),
                "figure": figure(violation.cut, _witness(violation.explanation)),
                **(
                    {}
                    if violation.offenders is None
                    else {"offenders": offenders.values(violation.offenders)}
                ),
            }
            for violation in report.violations
        ],
        "unknown": [
            {"execution": unknown.execution, "predicate": unknown.predicate, "reasons": list(unknown.why)}
            | _if_no_row_is_missing(unknown)
            | _sends_not_logged(unknown)
            for unknown in report.unknowns
        ],
        "vacuous": report.vacuous,
        "unmet": list(report.unmet),
        "nothing_to_judge": list(report.untested),
        "notices": [{"code": notice.code, "message": notice.render()} for notice in notices],
        "timings": {"seconds": round(seconds, 3)},
    }
    return json_text(document)


def _as_counts(count: Count) -> dict[str, int]:
    return {"holds": count.holds, "violated": count.violated, "unknown": count.unknown}


def _if_no_row_is_missing(unknown: Unknown) -> dict[str, Any]:
    if unknown.as_recorded is None:
        return {}
    seen = unknown.violation
    shows = "" if seen is None else sentence(seen.requirement, seen.cut, _witness(seen.explanation))
    return {"as_recorded": unknown.as_recorded.value, "explanation": shows}


def _sends_not_logged(unknown: Unknown) -> dict[str, Any]:
    unsent = unknown.unsent
    return {} if unsent is None else {"unsent": {"count": unsent.count, "first": list(unsent.first)}}


def _witness(explanation: Explanation) -> Witness | None:
    return explanation.witnesses[0] if explanation.witnesses else None


def as_text(report: Report, notices: Sequence[Notice], seconds: float) -> str:
    """A table of the predicates, the first violations with their figures, why unknown is unknown, and one
    closing line.
    """
    lines = [f"notice {notice.render()}" for notice in notices]
    lines += [f"notice {text}" for text in remarks(report)]
    lines += [f"notice {why} ({', '.join(names)})" for why, names in idle(report).items()]
    width = max((len(name) for name in report.counts), default=0)
    for name, count in report.counts.items():
        said = _counted(count, tested=name not in report.untested, as_recorded=report.as_recorded.get(name))
        lines.append(f"{name:<{width}}  {said}")
    for violation in report.violations:
        witness = _witness(violation.explanation)
        lines += ["", f"execution {shown(violation.execution)} violates {violation.predicate}"]
        explained = sentence(violation.requirement, violation.cut, witness)
        lines += [f"  {explained}"] if explained else []
        lines += [f"    {line}" for line in figure(violation.cut, witness).splitlines()]
        if violation.offenders is not None:
            lines += [f"  {line}" for line in offenders.lines(violation.offenders)]
    if report.violations:
        in_all = sum(count.violated for name, count in report.counts.items() if name in report.leaves)
        if in_all > len(report.violations):
            lines += ["", f"{len(report.violations)} of {in_all} violations shown (--max-violations)"]
    first = {shown(unknown.execution): unknown for unknown in reversed(report.unknowns)}
    for (executions, told), predicates in _alike(report.unknowns).items():
        where = "" if len(executions) == 1 else f" in execution {executions[0]}"
        lines += [
            "",
            f"{_listed(executions)}: {', '.join(predicates)} {'is' if len(predicates) == 1 else 'are'} unknown",
            *(f"  {because(why, first[executions[0]], where)}" for why in told),
        ]
    lines += ["", closing(report, seconds)]
    return "\n".join(lines) + "\n"


def whys(unknown: Unknown) -> tuple[str, ...]:
    """Why a verdict is unknown: the reasons; of an incomplete execution, what would be said if no row is missing."""
    if unknown.as_recorded is Verdict.HOLDS:
        told = "not violated by the recorded rows; a missing row may violate it"
    elif unknown.violation is not None:
        seen = unknown.violation
        shows = sentence(seen.requirement, seen.cut, _witness(seen.explanation))
        told = "violated as recorded, but a row may be missing" + (f": {shows}" if shows else "")
    else:
        return unknown.why
    return (told, *(why for why in unknown.why if why not in _MISSING))


def _alike(unknowns: Sequence[Unknown]) -> dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]]:
    """What is unknown in the same executions for the same reasons."""
    executions: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for unknown in unknowns:
        executions.setdefault((unknown.predicate, whys(unknown)), []).append(shown(unknown.execution))
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (predicate, told), of in executions.items():
        groups.setdefault((tuple(of), told), []).append(predicate)
    return groups


def _listed(executions: Sequence[str]) -> str:
    if len(executions) == 1:
        return f"execution {executions[0]}"
    more = ", ..." if len(executions) > _LISTED else ""
    return f"executions {', '.join(executions[:_LISTED])}{more}"


def helped(why: str) -> str:
    """A reason, and what would take it away where an option does."""
    return f"{why}: say how long a message may take, as in --delta 100ms" if why in _NO_DELTA else why


def because(why: str, unknown: Unknown, where: str = "") -> str:
    """One of the reasons for an unknown verdict, with what would take it away, or the messages that it is about."""
    unsent = unknown.unsent
    if unsent is None or why not in _UNSENT:
        return helped(why)
    named = ", ".join(map(shown, unsent.first))
    more = unsent.count - len(unsent.first)
    return f"{why}: {named}{f' and {more:,} more' if more else ''}{where}"


def remarks(report: Report) -> list[str]:
    """What a reader has to know before the verdicts: what does not occur, and in how many executions nothing does."""
    remarks = [
        f"{shown(name)} is named in a requirement but occurs in no execution: nothing about it was checked"
        for name in report.unmet
    ]
    if report.vacuous and report.messages:
        of = "1 execution has" if report.vacuous == 1 else f"{report.vacuous:,} executions have"
        remarks.append(f"{of} no message: names hold vacuously there")
    return remarks


def idle(report: Report) -> dict[str, list[str]]:
    """What holds vacuously, by the sentences that say why; nothing where nothing at all was checked."""
    said: dict[str, list[str]] = {}
    for name in report.untested if report.checked else ():
        if name in report.leaves:
            said.setdefault(vacuous(report, name), []).append(name)
    return said


def vacuous(report: Report, name: str) -> str:
    """Why a name holds vacuously."""
    one = report.executions == 1
    if missing := in_words(report.untested[name]):
        where = (
            "the execution does not contain"
            if one
            else f"none of the {report.executions:,} executions contains"
        )
        return f"vacuous: {where} {missing}, so there was nothing to check"
    where = "the execution" if one else f"the {report.executions:,} executions"
    return f"vacuous: nothing in {where} could have violated it, so there was nothing to check"


def _counted(count: Count, *, tested: bool, as_recorded: Count | None) -> str:
    if not tested:
        return f"{Verdict.UNKNOWN.value:<9} {count.holds:,} vacuous"
    parts = [
        f"{number:,} {word}"
        for number, word in ((count.holds, "hold"), (count.violated, "violated"), (count.unknown, "unknown"))
        if number
    ]
    if as_recorded is not None and count.unknown:
        parts[-1] += f" ({_held(as_recorded.holds - count.holds)} as recorded)"
    return f"{count.verdict.value:<9} {', '.join(parts) or 'no execution'}"


def _held(number: int) -> str:
    return f"{number:,} hold" if number > 1 else f"{'1' if number else 'none'} holds"


def size_of(report: Report, seconds: float) -> str:
    """`20 executions, 3,600 events, 0.4 s`."""
    size = (counted(report.executions, "execution"), counted(report.events, "event"))
    return f"{', '.join(size)}, {seconds:.1f} s"


def closing(report: Report, seconds: float) -> str:
    """The verdict of all that was required together, and the size of the trace."""
    size = size_of(report, seconds)
    if not report.executions:
        return f"undecided: the trace has no execution, so nothing was checked ({size})"
    if report.verdict is Verdict.VIOLATED:
        return f"violated ({size})"
    if not report.checked:
        return f"undecided: there was no message, so nothing was checked ({size})"
    if report.verdict is Verdict.HOLDS:
        return f"holds: everything that was required ({size})"
    return f"undecided: some requirements could not be judged ({size})"
