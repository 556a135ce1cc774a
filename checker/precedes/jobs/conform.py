"""`precedes conform`: judges whether recorded executions are behaviors of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from precedes.core.counts import counted
from precedes.core.diagnostics import usage
from precedes.core.execution import Execution
from precedes.core.suggestions import did_you_mean
from precedes.core.verdict import Verdict
from precedes.protocol import Protocol
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.observation import IGNORABLE
from precedes.protocol.conformance.verdicts import Answer, Conforms, Deviates, Limits, Naming

LIMITS: Final = ("losses", "duplicates", "corruptions", "timeouts", "states")
"""The numbers in `Limits`, by the names of their options."""

Advance = Callable[[int], None]
"""Told how many executions have been judged."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One execution: its name, the answer, what the trace calls what the answer names, the instance of the model
    that has the run, or explains the most, and what was recorded.
    """

    execution: str
    answer: Answer
    naming: Naming
    protocol: Protocol[Any]
    recorded: Execution = field(repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """How to judge, the options of `precedes conform` under the same names."""

    limits: Limits = field(default_factory=Limits)
    entities: int = 0
    ignore: tuple[str, ...] = ()
    max_shown: int = 3


@dataclass(frozen=True, slots=True)
class Conformed:
    """How many executions conform, do not conform and are undecided, and the first of each."""

    protocols: tuple[Protocol[Any], ...]
    question: Question
    conforming: int
    deviating: int
    undecided: int
    shown: tuple[Judged, ...]

    def first(self, limit: int) -> Conformed:
        """The same with so many executions of each answer at most."""
        met = dict.fromkeys(Verdict, 0)
        kept: list[Judged] = []
        for judged in self.shown:
            met[judged.answer.verdict] += 1
            if met[judged.answer.verdict] <= limit:
                kept.append(judged)
        return replace(self, shown=tuple(kept))

    @property
    def executions(self) -> int:
        """How many were judged."""
        return self.conforming + self.deviating + self.undecided

    @property
    def verdict(self) -> Verdict:
        """Of all executions together: violated before unknown, and unknown where there is none."""
        if self.deviating:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.conforming and not self.undecided else Verdict.UNKNOWN


def conform(
    protocols: Sequence[Protocol[Any]],
    executions: Iterable[Execution],
    question: Question,
    advance: Advance = lambda _executions: None,
) -> Conformed:
    """Judge executions. Of several instances of a model one has to have the run. PrecedesError for mistakes of the
    model, and U001 for what cannot be ignored.
    """
    for word in question.ignore:
        if word not in IGNORABLE:
            hint = did_you_mean(word, IGNORABLE) or f"it is one of {', '.join(IGNORABLE)}"
            raise usage(f"{word} cannot be ignored", hint)
    ignored = frozenset(question.ignore)
    judges = [Judge(protocol, question.limits, question.entities, ignored) for protocol in protocols]
    counts = dict.fromkeys(Verdict, 0)
    shown: list[Judged] = []
    for number, execution in enumerate(executions, 1):
        judged = _judged(judges, execution)
        verdict = judged.answer.verdict
        if counts[verdict] < question.max_shown:
            shown.append(judged)
        counts[verdict] += 1
        advance(number)
    return Conformed(
        tuple(protocols),
        question,
        counts[Verdict.HOLDS],
        counts[Verdict.VIOLATED],
        counts[Verdict.UNKNOWN],
        tuple(shown),
    )


def _judged(judges: Sequence[Judge], execution: Execution) -> Judged:
    """By the first instance that has a run; else undecided before not, and by the one that explains the most."""
    found: list[Judged] = []
    for judge in judges:
        answer, naming = judge.judge(execution)
        judged = Judged(execution.name, answer, naming, judge.protocol, execution)
        if isinstance(answer, Conforms):
            return judged
        found.append(judged)
    return max(found, key=lambda one: _explained(one.answer))


def _explained(answer: Answer) -> float:
    return sum(answer.explained) if isinstance(answer, Deviates) else float("inf")


def limits_said(question: Question, names: Sequence[str]) -> str:
    """Limits in words: `2 losses and 200 time-outs`."""
    nouns = {
        "losses": ("loss", "losses"),
        "duplicates": ("duplicate", "duplicates"),
        "corruptions": ("corruption", "corruptions"),
        "timeouts": ("time-out", "time-outs"),
    }
    return " and ".join(counted(getattr(question.limits, name), *nouns[name]) for name in names)
