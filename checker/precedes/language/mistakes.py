"""Collecting what is wrong in one text, each mistake with the line that it stands in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from precedes.diagnostics import Diagnostic, PrecedesError, Span

CODES: Final = {
    "P001": "a character that has no meaning",
    "P002": "a quotation that is never closed",
    "P003": "a log that is never closed",
    "P004": "something that cannot stand where it does",
    "P005": "no statement begins like this",
    "P006": "nested too deep",
    "P007": "comparisons in a chain",
    "P008": "a term where a formula is needed, or the other way round",
    "P009": "no such sort",
    "P010": "something that a search has no bound for",
    "P011": "the head of a log that names none",
    "P012": "no such unit",
    "P013": "a number that is too long",
    "P014": "a log where a variable is needed",
    "P015": "a wrong number of indices",
    "N001": "no such predicate or service",
    "N002": "no such name",
    "N003": "no such function",
    "N004": "a wrong number of arguments",
    "N005": "a sort that does not fit; both places are named",
    "N006": "a sort that nothing shows",
    "N007": "a definition by itself",
    "N008": "a name defined twice",
    "N009": "a variable bound twice",
    "N010": "a place in a cluster where there is none",
    "N011": "no such entity, in a formula",
    "N012": "arithmetic that is not linear",
    "N013": "a formula that is too large once its definitions are written out",
    "N014": "a relation that speaks of whole logs only",
    "N015": "a collection that does not stand after `in`",
    "S001": "no cluster, or two",
    "S002": "an entity twice in a cluster",
    "S003": "no such entity, in a scenario",
    "S004": "destinations as single digits in a large cluster",
    "S005": "a log twice, or a history beside logs",
    "S006": "a message with two senders",
    "S007": "a message sent twice",
    "S008": "an event in SL or RL that only a history has",
    "S009": "an event after a crash, or a recovery without one",
    "S010": "a failure point that marks nothing, or a second one",
    "S011": "destinations that a message was not sent to",
    "S012": "a sender that is not the one",
    "S013": "delta or epsilon twice",
    "S014": "an execution that cannot have happened",
    "S015": "a statement outside a scenario",
    "S016": "a time that 64 bits of nanoseconds cannot hold",
    "S017": "a message in a history, and not whether it is sent or delivered",
}
"""Every code of the language, and what it is about: P parsing, N names and sorts, S scenarios."""


class Mistakes:
    """The mistakes found so far in one text. Passes append and go on, so that all are told at once."""

    def __init__(self, path: str | None, lines: Sequence[str], found: list[Diagnostic] | None = None) -> None:
        self.path = path
        self.lines = lines
        self.found: list[Diagnostic] = [] if found is None else found

    def tell(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Append one mistake."""
        assert code in CODES, code
        line = self.lines[span.line - 1] if 0 < span.line <= len(self.lines) else None
        self.found.append(Diagnostic(code, message, self.path, span if span.line else None, line, hint))

    def elsewhere(self, path: str | None, lines: Sequence[str]) -> Mistakes:
        """For another text, into the same list."""
        return Mistakes(path, lines, self.found)

    def check(self) -> None:
        """PrecedesError with every mistake, in the order of the text, if there are any."""
        if self.found:
            raise PrecedesError(in_order(self.found))


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each diagnostic once, by line and column."""
    return tuple(
        sorted(dict.fromkeys(diagnostics), key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
    )


def place(span: Span) -> str:
    """`line 2, column 14`."""
    return f"line {span.line}, column {span.column}"
