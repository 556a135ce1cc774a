"""What was found before, to compare with: a file in the repository that a reviewer reads in the change.

It holds no lines, times or names of executions, so that it changes only when something did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from precedes.diagnostics import Diagnostic, PrecedesError
from precedes.gate.items import Item, Place, Stated
from precedes.protocol.bounds import FAULTS, RATES

FORMAT: Literal[1] = 1
LOWERED = (
    "entities",
    "messages",
    *FAULTS,
    "ticks",
    "executions",
    *(f"{rate} per million" for rate in RATES),
)
"""Facts of which less is a weaker check."""
RAISED = ("budget per million", "delta in ns", "quiescent only")
"""Facts of which more is a weaker check."""
REQUIRING = frozenset({"G103", "G104", "G105"})
"""Rules of checks that have requirements: what became of these is for `weakening` to say."""


class Kept(Struct, frozen=True, omit_defaults=True):
    """What a baseline knows of an item. `of` is the check, where the name does not show where that ends."""

    name: str
    rule: str
    result: Literal["passed", "failed", "undecided"]
    fingerprint: str
    proof: Literal["", "proved", "bounded"] = ""
    facts: dict[str, int] = {}
    stated: Stated | None = None
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
    """All items of a run, in the order of their names."""

    format: Literal[1]
    items: tuple[Kept, ...]


def baseline_of(items: Iterable[Item]) -> Baseline:
    """The baseline that a run comes to."""
    kept = (
        Kept(
            item.name,
            item.rule,
            item.result,
            item.fingerprint,
            item.proof,
            item.facts,
            item.stated,
            item.check if ": " in item.check else "",
        )
        for item in items
    )
    return Baseline(FORMAT, tuple(sorted(kept, key=lambda item: item.name)))


def write(baseline: Baseline, path: Path) -> None:
    """Write a baseline, one item a line in effect: indented, so that changes show as such."""
    text = msgspec.json.format(msgspec.json.encode(baseline), indent=1)
    path.write_bytes(text + b"\n")


def read(path: Path) -> Baseline:
    """Read a baseline. PrecedesError where it cannot be (C004)."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Baseline)
    except OSError as error:
        message, hint = (
            f"cannot read the baseline: {error.strerror}",
            "`precedes gate --write-baseline` writes one",
        )
    except msgspec.DecodeError as error:
        message, hint = f"not a baseline: {error}", "write it again: `precedes gate --write-baseline`"
    raise PrecedesError((Diagnostic("C004", message, str(path), hint=hint),))


class Comparison(Struct, frozen=True):
    """A run against a baseline: fingerprints of what is violated now and was not, names of what was violated and
    passes, fingerprints of what is violated still; and what the comparison itself found."""

    new: frozenset[str]
    fixed: tuple[str, ...]
    standing: frozenset[str]
    items: tuple[Item, ...]


def compare(before: Baseline, items: Sequence[Item], place: Place) -> Comparison:
    """Compare, but for what was required: that is `weakening`'s. `place` is where the comparison is told."""
    now = {item.name: item for item in items}
    failed = {item.fingerprint: item.name for item in items if item.result == "failed"}
    were = {kept.fingerprint: kept.name for kept in before.items if kept.result == "failed"}
    found: list[Item] = []
    checks = {item.check for item in items}
    # What breaks a model moves its states as well, and is told already.
    broken = {item.check for item in items if item.result == "failed"}
    # That nothing was checked is no check, and is not missed.
    were_checked = [kept for kept in before.items if kept.rule != "G301"]
    for check in dict.fromkeys(kept.check for kept in were_checked):
        if check not in checks:
            said = f"{check} is not done any more"
            found.append(Item("G201", check, "all of it", "failed", said, place))
    for kept in were_checked:
        item = now.get(kept.name)
        if item is not None:
            found += [one for one in _moved(kept, item) if one.rule != "G205" or item.check not in broken]
        elif kept.check in checks and (
            kept.rule not in REQUIRING or (kept.rule == "G103" and kept.stated is None)
        ):
            said = f"{kept.name} is checked no more"
            found.append(Item("G201", kept.check, kept.subject, "failed", said, place))
    return Comparison(
        frozenset(failed.keys() - were.keys()),
        tuple(sorted(name for name in were.values() if name in now and now[name].result == "passed")),
        frozenset(failed.keys() & were.keys()),
        # What is said of a check and not of a property in it is said once.
        tuple({item.name + item.rule: item for item in found}.values()),
    )


def _moved(kept: Kept, item: Item) -> Iterable[Item]:
    if kept.proof == "proved" and item.proof == "bounded" and item.result != "failed":
        said = f"{item.subject} was proved for every size and is known up to a bound only"
        yield Item("G203", item.check, item.subject, "failed", said, item.place)
    for fact in (*LOWERED, *RAISED):
        was, is_ = kept.facts.get(fact), item.facts.get(fact)
        if was is not None and is_ is not None and (is_ < was if fact in LOWERED else is_ > was):
            said = f"{fact}: {is_:,}, where the baseline has {was:,}"
            yield Item("G204", item.check, fact, "failed", said, item.place)
    was, is_ = kept.facts.get("states"), item.facts.get("states")
    same = all(kept.facts.get(fact) == item.facts.get(fact) for fact in LOWERED)
    if was is not None and is_ is not None and was != is_ and same:
        said = f"{is_:,} states, where the baseline has {was:,}"
        yield Item("G205", item.check, "states", "failed", said, item.place)
