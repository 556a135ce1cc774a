"""`precedes conform` as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from precedes.jobs.conform import Conformed, Judged
from precedes.protocol.conformance.verdicts import Conforms, Deviates, Undecided
from precedes.reports.conform import as_lines, closing, counted_answers, first_said, heading
from precedes.reports.page.contents import Case, Line, Page, Section
from precedes.reports.places import Place
from precedes.reports.space_time.marks import Marks
from precedes.traces import Notice

MOST_CASES: Final = 500
"""Executions of each answer that a page has: each is kept with a run of the model."""


def conform_page(found: Conformed, notices: Sequence[Notice]) -> Page:
    """How many executions conform, and of those that do not the first event that no run has, with the run before it."""
    counts = [
        Line(word, verdict.value, (number,)) for word, verdict, number in counted_answers(found) if number
    ]
    sections = [Section(heading(found), counts, ("executions",))]
    undecided = list(_undecided(found))
    if undecided:
        sections.append(Section("Why something is undecided", undecided))
    return Page(
        "precedes conform",
        found.verdict,
        closing(found),
        [notice.render() for notice in notices],
        sections,
        [case for judged in found.shown for case in _cases(found, judged)],
        found.deviating,
    )


def _undecided(found: Conformed) -> Iterator[Line]:
    for judged in found.shown:
        match judged.answer:
            case Undecided(reason):
                yield Line(judged.execution, "unknown", (), reason)
            case Conforms() | Deviates():
                pass
            case _:
                assert_never(judged.answer)


def _cases(found: Conformed, judged: Judged) -> Iterator[Case]:
    match judged.answer:
        case Deviates() as answer:
            told = first_said(judged, answer)
            yield Case(
                judged.protocol.name,
                judged.execution,
                told,
                # The first line is what is told.
                detail="\n".join(list(as_lines(found, judged, answer))[1:]),
                execution=judged.recorded,
                marks=Marks(_place(judged, answer), told=told),
            )
        case Conforms() | Undecided():
            pass
        case _:
            assert_never(judged.answer)


def _place(judged: Judged, answer: Deviates) -> frozenset[Place]:
    """The event that no run has, where it is about a message."""
    event, naming = answer.event, judged.naming
    if event is None or event.message is None:
        return frozenset()
    name = dict(naming.messages).get(event.message, event.message.name)
    return frozenset({(naming.entities[answer.entity], event.kind, name)})
