"""How `precedes infer` is printed: as text for people, as JSON for programs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from precedes.core.printable import json_text
from precedes.jobs.drift import Drift, as_asked
from precedes.jobs.infer import Inferred
from precedes.jobs.verify import Question
from precedes.reports.drift import as_values
from precedes.reports.verify import helped, remarks, size_of
from precedes.traces import Notice

_WIDTH: Final = 100
"""Columns in which lists of names are wrapped."""
JSON_SCHEMA = 1
"""The version of the JSON form. It grows by keys; a key never changes its meaning under one number."""


def as_json(
    found: Inferred, notices: Sequence[Notice], seconds: float, question: Question, drift: Drift | None = None
) -> str:
    """One JSON object, with a line break at its end; with `drift` also how it differs from a baseline. It can be the
    baseline of a later one, for which it says how it was asked.
    """
    report = found.report
    document: dict[str, Any] = {
        "schema": JSON_SCHEMA,
        "verdict": found.verdict.value,
        "executions": report.executions,
        "events": report.events,
        "messages": report.messages,
        "asked": as_asked(question, found.per),
        "kept": {name: list(follow) for name, follow in found.kept.items()},
        "broken": {
            name: {"violated": found.violated(name), "with": list(others)}
            for name, others in found.broken.items()
        },
        "unknown": {
            name: {"unknown": found.unknown(name), "reason": why} for name, why in found.open.items()
        },
        "not_violated_as_recorded": {name: list(follow) for name, follow in found.fitting.items()},
        "violated_as_recorded": {
            name: {"violated": found.violated_as_recorded(name), "with": list(others)}
            for name, others in found.lacking.items()
        },
        "nothing_to_judge": list(found.untested),
        "vacuous": report.vacuous,
        "notices": [{"code": notice.code, "message": notice.render()} for notice in notices],
        "timings": {"seconds": round(seconds, 3)},
    }
    if drift is not None:
        document["against"] = as_values(drift)
    return json_text(document)


def as_text(found: Inferred, notices: Sequence[Notice], seconds: float, question: Question) -> str:
    """What is kept, what is broken and how often, what is unknown and why, what there was nothing to judge of; then
    the commands that hold the trace to what it keeps, and that show what it breaks.
    """
    report = found.report
    lines = [f"notice {notice.render()}" for notice in notices]
    lines += [f"notice {text}" for text in remarks(report)]
    if not report.checked:
        what = "the trace has no execution" if not report.executions else "there was no message"
        return (
            "\n".join([*lines, f"undecided: {what}, so nothing can be inferred ({size_of(report, seconds)})"])
            + "\n"
        )
    if found.kept:
        lines += ["satisfied in every execution", *_names(found, found.kept)]
        lines += _following("and therefore", found.kept)
    else:
        lines.append("nothing is satisfied for certain")
    if found.fitting:
        lines += ["", "not violated by the recorded rows; a missing row may violate it"]
        lines += _names(found, found.fitting)
        lines += _following("and therefore", found.fitting)
    if found.broken:
        lines += ["", "violated", *_names(found, found.broken, Inferred.violated)]
        lines += _following("and therefore", found.broken)
    if found.lacking:
        lines += ["", "violated as recorded, but a row may be missing"]
        lines += _names(found, found.lacking, Inferred.violated_as_recorded)
        lines += _following("and therefore", found.lacking)
    if found.open:
        lines += ["", "unknown", *_unknown(found)]
    if found.untested:
        parts = [name for name in found.untested if name in report.leaves]
        none = "vacuous: in no execution could these have been violated, so there was nothing to check"
        lines += ["", none, *_names(found, parts)]
        lines += _following("and names that consist of these", {"": found.untested}, parts)
    lines.append("")
    if found.kept:
        lines.append(f"to require this: {_command(question, tuple(found.kept))}")
    if found.broken:
        lines.append(f"to see a violation: {_command(question, (next(iter(found.broken)),))}")
    lines.append(f"inferred from {size_of(report, seconds)}")
    return "\n".join(lines) + "\n"


def _command(question: Question, required: Sequence[str]) -> str:
    """One line that a shell takes as it is."""
    return shlex.join(("precedes", "verify", *question.words(required)))


def _names(
    found: Inferred, names: Iterable[str], how: Callable[[Inferred, str], int] | None = None
) -> Iterator[str]:
    """A line for each name: in how many executions it is violated or unknown, and why; what it says."""
    groups = (found.kept, found.fitting, found.broken, found.lacking, found.open, found.untested)
    width = max((len(name) for group in groups for name in group), default=0)
    number = len(f"{found.report.executions:,}")
    for name in names:
        count = f"{how(found, name):>{number},} of {found.report.executions:,}  " if how else ""
        why = f" ({helped(found.open[name])})" if found.open.get(name) else ""
        yield f"  {name:<{width}}  {count}{found.titles[name]}{why}".rstrip()


def _unknown(found: Inferred) -> Iterator[str]:
    """A line for each name that is unknown, but one for all names that lack the same in every execution."""
    lacking: dict[str, list[str]] = {}
    for name, why in found.open.items():
        if found.unknown(name) == found.report.executions:
            lacking.setdefault(why, []).append(name)
    shared = {why: names for why, names in lacking.items() if len(names) > 1}
    together = {name for names in shared.values() for name in names}
    yield from _names(found, [name for name in found.open if name not in together], Inferred.unknown)
    for why, names in shared.items():
        text = f"{helped(why)}: {', '.join(names)}"
        yield from wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _following(words: str, groups: Mapping[str, tuple[str, ...]], told: Sequence[str] = ()) -> list[str]:
    """Each name once, in the order in which they are met, but for those that lead or are `told` already."""
    names = dict.fromkeys(
        name for group in groups.values() for name in group if name not in groups and name not in told
    )
    if not names:
        return []
    text = f"{words}: {', '.join(names)}"
    return wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
