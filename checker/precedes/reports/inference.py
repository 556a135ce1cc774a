"""How `precedes infer` is printed: as text for people, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from precedes.inference import Inferred
from precedes.reports.verification import remarks, size_of
from precedes.traces import Notice

JSON_SCHEMA = 1
"""The version of the JSON form. It grows by keys; a key never changes its meaning under one number."""
WIDTH = 100
"""Columns in which lists of names are wrapped."""


def as_json(found: Inferred, notices: Sequence[Notice], seconds: float) -> str:
    """One JSON object, with a line break at its end."""
    report = found.report
    document: dict[str, Any] = {
        "schema": JSON_SCHEMA,
        "verdict": found.verdict.value,
        "executions": report.executions,
        "events": report.events,
        "messages": report.messages,
        "kept": {name: list(follow) for name, follow in found.kept.items()},
        "broken": {
            name: {"violated": found.count(name).violated, "with": list(others)}
            for name, others in found.broken.items()
        },
        "unknown": {
            name: {"unknown": found.count(name).unknown, "reason": why} for name, why in found.open.items()
        },
        "vacuous": report.vacuous,
        "notices": [{"code": notice.code, "message": notice.render()} for notice in notices],
        "timings": {"seconds": round(seconds, 3)},
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_text(found: Inferred, notices: Sequence[Notice], seconds: float) -> str:
    """What is kept, what is broken and how often, what is unknown and why; then what to require."""
    report = found.report
    lines = [f"notice {notice.render()}" for notice in notices]
    lines += [f"notice {text}" for text in remarks(report)]
    if not report.messages:
        what = "the trace has no execution" if not report.executions else "no message was met"
        return (
            "\n".join([*lines, f"undecided: {what}, nothing can be inferred ({size_of(report, seconds)})"])
            + "\n"
        )
    lines += ["keeps, in every execution", *_names(found, found.kept)]
    lines += _following("and with these", found.kept)
    if found.broken:
        lines += ["", "breaks", *_names(found, found.broken, "violated")]
        lines += _following("and with these", found.broken)
    if found.open:
        lines += ["", "unknown", *_names(found, found.open, "unknown")]
    lines.append("")
    if found.kept:
        asked = " ".join(f"--require {name}" for name in found.kept)
        lines += wrap(f"to hold it to that: {asked}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    if found.broken:
        lines.append(f"to see where: precedes verify ... --require {next(iter(found.broken))}")
    lines.append(f"inferred from {size_of(report, seconds)}")
    return "\n".join(lines) + "\n"


def _names(found: Inferred, names: Mapping[str, object], how: str = "") -> Iterator[str]:
    """A line for each name: in how many executions it is violated or unknown, and why; what it says."""
    width = max((len(name) for name in (*found.kept, *found.broken, *found.open)), default=0)
    number = len(f"{found.report.executions:,}")
    for name in names:
        count = (
            f"{getattr(found.count(name), how):>{number},} of {found.report.executions:,}  " if how else ""
        )
        why = f" ({found.open[name]})" if found.open.get(name) else ""
        yield f"  {name:<{width}}  {count}{found.titles[name]}{why}".rstrip()


def _following(words: str, groups: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Each name once, in the order in which they are met."""
    names = dict.fromkeys(name for group in groups.values() for name in group if name not in groups)
    if not names:
        return []
    text = f"{words}: {', '.join(names)}"
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
