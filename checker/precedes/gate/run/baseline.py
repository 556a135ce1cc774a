"""What was found before, to compare with: a file in the repository that a reviewer reads in the change.

It holds no lines, times or names of executions, so that it changes only when something did. A text that several
requirements share, the definitions of a file, stands in it once.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.gate.config import Configuration, Severity, Unknown
from precedes.gate.findings import Item, Place, Stated
from precedes.gate.rules import rules
from precedes.gate.scope import Scope, Value, gone, instead, weaker

FORMAT: Literal[2] = 2
LOWERED = ("executions", "messages")
"""Facts of which less is a weaker check."""
RAISED = ("budget per million", "quiescent only")
"""Facts of which more is a weaker check."""
REQUIRING = frozenset({"G103", "G104", "G105"})
"""Rules of checks that have requirements: what became of these is for `weakening` to say."""


class KeptStated(Struct, frozen=True, omit_defaults=True):
    """What was required. `definitions` names the text of the definitions that go with it; empty where there is none."""

    text: str
    definitions: str = ""


class Kept(Struct, frozen=True, omit_defaults=True):
    """What a baseline knows of an item. `of` is the check, where the name does not show where that ends."""

    name: str
    rule: str
    result: Literal["passed", "failed", "undecided"]
    fingerprint: str
    proof: Literal["", "proved", "bounded"] = ""
    facts: dict[str, int] = {}
    stated: KeptStated | None = None
    of: str = ""

    @property
    def check(self) -> str:
        """As in the item."""
        return self.of or self.name.partition(": ")[0]

    @property
    def subject(self) -> str:
        """As in the item."""
        return self.name.removeprefix(f"{self.check}: ")


class Baseline(Struct, frozen=True):
    """All items of a run, in the order of their names; how far its checks went, and how much of what they find counts.
    `accept` names what was accepted when it was written, which is not accepted again."""

    format: Literal[2]
    unknown: Unknown
    severity: dict[str, Severity]
    accept: tuple[str, ...]
    scopes: dict[str, dict[str, Value]]
    definitions: dict[str, str]
    items: tuple[Kept, ...]

    def stated(self, kept: Kept) -> Stated | None:
        """What was required of an item, with its definitions."""
        found = kept.stated
        if found is None:
            return None
        return Stated(found.text, self.definitions[found.definitions] if found.definitions else "")


def baseline_of(items: Iterable[Item], scopes: Mapping[str, Scope], configuration: Configuration) -> Baseline:
    """The baseline that a run comes to."""
    definitions: dict[str, str] = {}

    def kept_stated(stated: Stated | None) -> KeptStated | None:
        if stated is None:
            return None
        name = hashlib.sha256(stated.definitions.encode()).hexdigest()[:12] if stated.definitions else ""
        if name:
            definitions[name] = stated.definitions
        return KeptStated(stated.text, name)

    kept = [
        Kept(
            item.name,
            item.rule,
            item.result,
            item.fingerprint,
            item.proof,
            item.facts,
            kept_stated(item.stated),
            item.check if ": " in item.check else "",
        )
        for item in items
    ]
    return Baseline(
        FORMAT,
        configuration.unknown,
        dict(sorted(configuration.severity.items())),
        tuple(sorted(configuration.accept)),
        {name: dict(scope) for name, scope in sorted(scopes.items())},
        dict(sorted(definitions.items())),
        tuple(sorted(kept, key=lambda item: item.name)),
    )


def write(baseline: Baseline, path: Path) -> None:
    """Write a baseline, one item a line in effect: indented, so that changes show as such."""
    text = msgspec.json.format(msgspec.json.encode(baseline), indent=1)
    path.write_bytes(text + b"\n")


def read(path: Path) -> Baseline:
    """Read a baseline; `-` is standard input. PrecedesError where it cannot be (C004)."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        found = msgspec.json.decode(data, type=Baseline)
    except OSError as error:
        message, hint = (
            f"cannot read the baseline: {error.strerror}",
            "`precedes gate --write-baseline` writes one",
        )
    except msgspec.DecodeError as error:
        message, hint = f"not a baseline: {error}", "write it again: `precedes gate --write-baseline`"
    else:
        unknown = {kept.rule for kept in found.items} - rules().keys()
        absent = {kept.stated.definitions for kept in found.items if kept.stated} - {*found.definitions, ""}
        if not unknown and not absent:
            return found
        what = f"a rule {min(unknown)}" if unknown else f"the definitions {min(absent)}"
        message, hint = f"not a baseline: it names {what}, which is not there", "write it again"
    raise PrecedesError((Diagnostic("C004", message, str(path), hint=hint),))


class Comparison(Struct, frozen=True):
    """A run against a baseline: fingerprints of what is violated now and was not, names of what was violated and
    passes, fingerprints of what is violated still; and what the comparison itself found."""

    new: frozenset[str]
    fixed: tuple[str, ...]
    standing: frozenset[str]
    items: tuple[Item, ...]


def compare(
    before: Baseline, items: Sequence[Item], scopes: Mapping[str, Scope], unknown: Unknown, place: Place
) -> Comparison:
    """Compare, but for what was required: that is `weakening`'s. `unknown` says what it means now, `place` is where the
    comparison is told."""
    # By check and subject, for a name does not show where the one ends.
    now = {(item.check, item.subject): item for item in items}
    failed = {item.fingerprint: item.name for item in items if item.result == "failed"}
    were = {kept.fingerprint: kept for kept in before.items if kept.result == "failed"}
    found: list[Item] = []
    places = {item.check: item.place for item in reversed(items)}
    # What breaks a model moves its states as well, and is told already.
    broken = {item.check for item in items if item.result == "failed"}
    # That nothing was checked is no check, and is not missed.
    were_checked = [kept for kept in before.items if kept.rule != "G301"]
    for check in dict.fromkeys(kept.check for kept in were_checked):
        if check not in places:
            said = f"{check} is no longer run"
            found.append(Item("G201", check, "all of it", "failed", said, place))
    for check, scope in before.scopes.items():
        if check in places and check in scopes:
            found += _narrowed(check, scope, scopes[check], places[check])
    for kept in were_checked:
        item = now.get((kept.check, kept.subject))
        if item is not None:
            same = before.scopes.get(kept.check) == scopes.get(kept.check)
            moved = _moved(kept, item, unknown=unknown, same=same)
            found += [one for one in moved if one.rule != "G205" or item.check not in broken]
        elif kept.check in places and (
            kept.rule not in REQUIRING or (kept.rule == "G103" and kept.stated is None)
        ):
            said = f"{kept.name} is no longer checked"
            found.append(Item("G201", kept.check, kept.subject, "failed", said, place))
    return Comparison(
        frozenset(failed.keys() - were.keys()),
        tuple(sorted(kept.name for kept in were.values() if _passes(now.get((kept.check, kept.subject))))),
        frozenset(failed.keys() & were.keys()),
        # What is said of a check and not of a property in it is said once.
        tuple({item.name + item.rule: item for item in found}.values()),
    )


def _passes(item: Item | None) -> bool:
    return item is not None and item.result == "passed"


def _narrowed(check: str, before: Scope, now: Scope, place: Place) -> Iterable[Item]:
    for name, said in weaker(before, now):
        if name == "files":
            for file in gone(before[name], now[name]):
                yield Item("G201", check, file, "failed", f"{file} is no longer verified", place)
        else:
            yield Item("G204", check, name, "failed", said, place)


def _moved(kept: Kept, item: Item, *, unknown: Unknown, same: bool) -> Iterable[Item]:
    """What became weaker in one item. `same`: its check goes as far as it did."""
    if kept.proof == "proved" and item.proof == "bounded" and item.result != "failed":
        said = f"{item.subject} was proved for every size and is now known only up to a bound"
        yield Item("G203", item.check, item.subject, "failed", said, item.place)
    elif unknown == "accepted" and kept.result == "passed" and item.result == "undecided":
        # Otherwise it is not accepted, and told by itself.
        said = f"{item.subject} was decided and is now undecided: {item.message}"
        yield Item("G203", item.check, item.subject, "failed", said, item.place)
    for fact in (*LOWERED, *RAISED):
        was, is_ = kept.facts.get(fact), item.facts.get(fact)
        if was is not None and is_ is not None and (is_ < was if fact in LOWERED else is_ > was):
            yield Item("G204", item.check, fact, "failed", instead(fact, was, is_), item.place)
    was, is_ = kept.facts.get("states"), item.facts.get("states")
    if was is not None and is_ is not None and was != is_ and same:
        said = f"{is_:,} states; the baseline has {was:,}"
        yield Item("G205", item.check, "states", "failed", said, item.place)
