"""One run of the gate: makes the checks of the configuration, runs the cheap ones first, and collects their
items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.machine import available_cores
from precedes.core.outcome import Outcome
from precedes.core.suggestions import did_you_mean
from precedes.gate.cache import Cache
from precedes.gate.checks import behaviors, models, specs, traces
from precedes.gate.checks.check import Check
from precedes.gate.config import Configuration, Conformance
from precedes.gate.entry import Entry
from precedes.gate.findings import Item, Judged, Place, Summary
from precedes.gate.rules import rules
from precedes.gate.run.baseline import LOWERED, RAISED, Baseline, Comparison, compare
from precedes.gate.run.leniency import COMPARING, lenient, severity_against
from precedes.gate.run.weakening import weakened
from precedes.gate.run.workers import Workers
from precedes.gate.scope import WEAKER
from precedes.gate.surveys import Table, surveys

Tell = Callable[[str], None]

_NOT_COMPARED: Final = Comparison(frozenset(), (), frozenset(), ())
_OF_CONFIGURATION: Final = frozenset({"M001", "M004", "U001"})
"""Mistakes of a model that the configuration makes: it names no model, or what the model has not."""


@dataclass(frozen=True, slots=True)
class _CarriedOut:
    """What became of checks: their items, how many ran and how many were not repeated, and why others did not run."""

    items: tuple[Item, ...]
    checks: int
    reused: int
    mistakes: tuple[Diagnostic, ...]


def checks_of(
    configuration: Configuration, path: Path, jobs: int
) -> tuple[tuple[Check, ...], tuple[Diagnostic, ...]]:
    """The checks that a configuration asks for, cheap ones first, and why models have none. PrecedesError with
    everything that is not there."""
    root = path.parent
    made: list[Check] = []
    mistakes: list[Diagnostic] = []

    def add(found: Callable[[], Iterator[Check]]) -> None:
        try:
            made.extend(found())
        except PrecedesError as error:
            mistakes.extend(error.diagnostics)

    for number, spec in enumerate(configuration.check):
        add(partial(specs.checks, root, Entry(path, "check", number), spec))
    for number, trace in enumerate(configuration.verify):
        add(partial(traces.checks, root, Entry(path, "verify", number), trace))
    tables: dict[Entry, Table] = {
        **{Entry(path, "explore", number): table for number, table in enumerate(configuration.explore)},
        **{Entry(path, "simulate", number): table for number, table in enumerate(configuration.simulate)},
        **{Entry(path, "conform", number): table for number, table in enumerate(configuration.conform)},
    }
    surveyed, unread = surveys(root, tables, jobs, configuration.hang_limit)
    mistakes += [mistake for mistake in unread if mistake.code in _OF_CONFIGURATION]
    for (entry, table), survey in zip(tables.items(), surveyed, strict=True):
        if isinstance(table, Conformance):
            add(partial(behaviors.checks, root, entry, table, survey))
        else:
            add(partial(models.checks, root, entry, table, survey))
    if mistakes:
        raise PrecedesError(tuple(mistakes))
    return _told_apart(sorted(made, key=lambda check: check.cost)), unread


def _told_apart(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Each once, and those of one title by numbers."""
    titled: dict[str, list[Check]] = {}
    for check in checks:
        same = titled.setdefault(check.title, [])
        if check not in same:
            same.append(check)
    return tuple(
        replace(check, number=number) for same in titled.values() for number, check in enumerate(same, 1)
    )


def run(
    configuration: Configuration,
    path: Path,
    before: Baseline | None,
    accept: Sequence[str],
    cache: Cache,
    tell: Tell,
) -> Summary:
    """Carry out every check, compare, and sum up. PrecedesError with the mistakes of the configuration.

    Where a check cannot run, nothing is compared: what it would have found would count as removed.
    """
    jobs = configuration.jobs or available_cores()
    checks, unread = checks_of(configuration, path, jobs)
    found = _carried_out(checks, Workers(jobs, configuration.hang_limit), cache, tell)
    items, mistakes = found.items, tuple(dict.fromkeys((*unread, *found.mistakes)))
    if mistakes:
        judged = tuple(_judged(item, configuration, before, _NOT_COMPARED, set()) for item in items)
        outcome = _outcome(judged, configuration)
        return Summary(judged, found.checks, found.reused, (), False, outcome, mistakes=mistakes)
    place = Place(path.name)
    if all(item.rule == "G202" for item in items):
        said = "there are only definitions, and no statements about them, so nothing was checked"
        items = (*items, Item("G301", "gate", "statements", "undecided", said, place))
    scopes = {check.name: check.scope for check in checks}
    comparison = _NOT_COMPARED
    spent: frozenset[str] = frozenset()
    if before is not None:
        tell("comparing with the baseline")
        comparison = compare(before, items, scopes, configuration.unknown, place)
        less = (*comparison.items, *weakened(before, items), *lenient(before, configuration, place))
        items = (*items, *less)
        spent = frozenset(before.accept)
    _know_severities(configuration, path, before, items)
    if before is not None:
        _know_accepted(configuration.accept, accept, path, before, items)
    accepted = ({*configuration.accept} - spent) | {*accept}
    judged = tuple(
        _judged(_reminded(item, spent - accepted), configuration, before, comparison, accepted)
        for item in items
    )
    outcome = _outcome(judged, configuration)
    return Summary(judged, found.checks, found.reused, comparison.fixed, before is not None, outcome, scopes)


def _know_severities(
    configuration: Configuration, path: Path, before: Baseline | None, items: Sequence[Item]
) -> None:
    """PrecedesError for a severity of what is neither a rule nor stated here: it would change nothing."""
    known = {item.subject for item in items} | {"states", *LOWERED, *RAISED, *WEAKER}
    known |= {kept.subject for kept in (() if before is None else before.items)}
    known |= {name for rule in rules().values() for name in (rule.code, rule.name)}
    for name in configuration.severity:
        if name not in known:
            said = f"the severity of {name} has no effect: it is neither a rule nor required here"
            hint = did_you_mean(name, sorted(known)) or "`precedes explain` lists the rules"
            raise Entry(path).mistake("C002", said, "severity", name, hint)


def _know_accepted(
    stated: Sequence[str], asked: Sequence[str], path: Path, before: Baseline, items: Sequence[Item]
) -> None:
    """PrecedesError for a name that no finding can have: to accept it would accept nothing. `stated` stand in the
    configuration, `asked` in the arguments."""
    checks = {item.check for item in items} | {kept.check for kept in before.items} | {*before.scopes}
    subjects = {item.subject for item in items} | {kept.subject for kept in before.items}
    compared = {"all of it", "states", *LOWERED, *RAISED, *WEAKER}
    severities = {f"severity of {name}" for name in (*subjects, *rules())} | {"unknown"}
    known = {*checks, *subjects, *compared, *severities, *before.accept, *(item.name for item in items)}
    known |= {kept.name for kept in before.items} | {f"gate: {name}" for name in severities}
    known |= {f"{check}: {name}" for check in checks for name in compared}
    for scope in before.scopes.values():
        files = scope.get("files", ())
        known |= {*files} if isinstance(files, tuple) else set()
    for name in (*stated, *asked):
        if name not in known:
            said = f"to accept {name} has no effect: neither the baseline nor this run has it"
            hint = did_you_mean(name, sorted(known)) or "`precedes gate -v` prints the names"
            if name in stated:
                raise Entry(path).mistake("C002", said, "accept", name, hint)
            raise usage(f"--accept: {said}", hint)


def _carried_out(checks: Sequence[Check], workers: Workers, cache: Cache, tell: Tell) -> _CarriedOut:
    keys = [check.key() for check in checks]
    known = [cache.get(key, check.name) for key, check in zip(keys, checks, strict=True)]
    missing = [number for number, items in enumerate(known) if items is None]
    mistakes: list[Diagnostic] = []
    stopped = 0
    for place, result in workers.results([checks[number] for number in missing], tell):
        number = missing[place]
        mistakes += result.mistakes
        stopped += bool(result.mistakes)
        known[number] = result.items
        # A file that changed while it was read is not what the result is about.
        if result.items and result.covered and checks[number].key() == keys[number]:
            cache.put(keys[number], result.items)
    cache.prune()
    items = tuple(item for items in known for item in items or ())
    return _CarriedOut(items, len(checks) - stopped, len(checks) - len(missing), tuple(mistakes))


def _judged(
    item: Item,
    configuration: Configuration,
    before: Baseline | None,
    comparison: Comparison,
    accepted: set[str],
) -> Judged:
    severity = severity_against(before, configuration.severity, rules()[item.rule], item.subject)
    standing = ""
    if item.result == "failed":
        fingerprint = item.fingerprint
        standing = "standing" * (fingerprint in comparison.standing) or "new" * (
            fingerprint in comparison.new
        )
    taken = item.rule.startswith(COMPARING) and bool(_names(item) & accepted)
    return Judged(item, severity, standing, taken, strict=configuration.unknown == "violated")


def _names(item: Item) -> set[str]:
    """What it is accepted by."""
    return {item.name, item.subject, item.check}


def _reminded(item: Item, spent: frozenset[str] | set[str]) -> Item:
    """With a word on why a name in the configuration does not accept it."""
    if not item.rule.startswith(COMPARING) or not _names(item) & spent:
        return item
    said = "it was accepted when the baseline was written; a name is not accepted twice"
    return msgspec.structs.replace(item, detail="\n".join(part for part in (item.detail, said) if part))


def _outcome(judged: Sequence[Judged], configuration: Configuration) -> Outcome:
    """Violated before undecided. A run without items checked nothing, and that definitions are there and that
    something became of the baseline is no check. Whether less is required is not left open, whatever unknown means."""
    if any(one.counts for one in judged):
        return Outcome.OTHERWISE
    open_ = any(
        one.item.result == "undecided"
        and one.severity == "error"
        and not one.accepted
        and (configuration.unknown == "undecided" or one.item.rule == "G202")
        for one in judged
    )
    checked = any(
        one.item.result != "undecided" and not one.item.rule.startswith(COMPARING) for one in judged
    )
    return Outcome.AS_STATED if checked and not open_ else Outcome.UNDECIDED
