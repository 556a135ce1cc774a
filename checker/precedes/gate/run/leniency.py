"""How much each finding counts, and whether findings count less than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from precedes.gate.config import Configuration, Severity, Unknown
from precedes.gate.findings import Item, Place
from precedes.gate.rules import Rule, rules
from precedes.gate.run.baseline import Baseline

SEVERITIES: Final[tuple[Severity, ...]] = ("off", "note", "warning", "error")
"""From what counts least to what counts most."""
UNKNOWNS: Final[tuple[Unknown, ...]] = ("accepted", "undecided", "violated")
"""From what lets most pass to what lets least."""
COMPARING: Final = "G2"
"""How the codes of rules begin that concern the baseline."""


def severity_of(told: Mapping[str, Severity], rule: Rule, subject: str) -> Severity:
    """How much a finding counts: as is told of its subject, else of its rule, else as the rule has it."""
    return told.get(subject, told.get(rule.code, told.get(rule.name, rule.severity)))


def severity_against(
    before: Baseline | None, told: Mapping[str, Severity], rule: Rule, subject: str
) -> Severity:
    """The same. What is told of a comparison with the baseline counts only as far as the baseline was told so, too:
    otherwise one line would allow the next."""
    now = severity_of(told, rule, subject)
    if before is None or not rule.code.startswith(COMPARING):
        return now
    return max(now, severity_of(before.severity, rule, subject), key=SEVERITIES.index)


def lenient(before: Baseline, configuration: Configuration, place: Place) -> Iterator[Item]:
    """One item for everything that counts less than in the baseline."""
    now = configuration.severity
    pairs = [(kept.rule, kept.subject) for kept in before.items] + [(code, "") for code in rules()]
    lowered: dict[str, str] = {}
    for code, subject in pairs:
        rule = rules()[code]
        was, is_ = severity_of(before.severity, rule, subject), severity_of(now, rule, subject)
        if SEVERITIES.index(is_) < SEVERITIES.index(was):
            name = subject if subject in now or subject in before.severity else code
            lowered.setdefault(name, f"{name} counts as {is_}; the baseline has {was}")
    for name, said in lowered.items():
        yield Item("G206", "gate", f"severity of {name}", "failed", said, place)
    if UNKNOWNS.index(configuration.unknown) < UNKNOWNS.index(before.unknown):
        said = f"an unknown verdict counts as {configuration.unknown}; the baseline has {before.unknown}"
        yield Item("G206", "gate", "unknown", "failed", said, place)
