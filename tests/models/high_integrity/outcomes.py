"""What becomes of faults, as lines of text that can be kept and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import TypeVar

from precedes.protocol import Outcome
from precedes_models.high_integrity.faults import Broken, Corrupted, Dead, Dies, Fault, Lost, Stale
from precedes_models.high_integrity.outcomes import End, Seen, first_round, to_the_end
from precedes_models.high_integrity.protocol import HighIntegrity
from precedes_models.high_integrity.state import State

T = TypeVar("T")
Memory = dict[tuple[Hashable, ...], Outcome[State]]


def share(of: Mapping[T, Fraction], test: Callable[[T], object]) -> Fraction:
    """The probability of what passes a test."""
    return sum((probability for one, probability in of.items() if test(one)), Fraction(0))


def words(shares: Iterable[tuple[str, Fraction]]) -> str:
    """Certain things by their name, possible ones with their probability, impossible ones not at all."""
    return ", ".join(name if p == 1 else f"{name} {p}" for name, p in shares if p) or "-"


def of_first_round(seen: Mapping[Seen, Fraction]) -> str:
    """noticed or unnoticed: some node lacks the data and the origin knows something or nothing. missed: some such node
    is not named. misnamed: only others are. false: somebody is named who has the data."""
    if not seen:
        return "nothing is sent"
    return words(
        [
            ("noticed", share(seen, lambda one: one.noticed)),
            ("unnoticed", share(seen, lambda one: one.unnoticed)),
            ("missed", share(seen, lambda one: one.noticed and one.missed)),
            ("misnamed", share(seen, lambda one: one.misnamed)),
            ("false", share(seen, lambda one: one.false)),
        ]
    )


def of_the_end(ends: Mapping[End, Fraction]) -> str:
    """removed: somebody was. removed falsely: who lives and has the data. left: a member lacks the data, or is dead,
    and is still a member. alarm: at a node that cannot reach the origin."""
    if not ends:
        return "nothing is sent"
    return words(
        [
            ("removed", share(ends, lambda one: one.removed)),
            ("removed falsely", share(ends, lambda one: one.removed_falsely)),
            ("left", share(ends, lambda one: one.lacking)),
            (
                "left unnoticed",
                share(ends, lambda one: one.lacking and one.detection_delay is None and not one.alarm),
            ),
            ("alarm", share(ends, lambda one: one.alarm)),
        ]
    )


def line(protocol: HighIntegrity, entities: int, given: Sequence[Fault], memory: Memory) -> str:
    """First round | after maxfail."""
    return (
        f"{of_first_round(first_round(protocol, entities, given, memory))}"
        f" | {of_the_end(to_the_end(protocol, entities, given, memory))}"
    )


def singles(protocol: HighIntegrity, entities: int, given: Iterable[Fault]) -> Iterator[str]:
    """A line for each fault."""
    memory: Memory = {}
    for fault in given:
        yield f"{fault}: {line(protocol, entities, (fault,), memory)}"


def pairs(
    protocol: HighIntegrity, entities: int, given: Iterable[Fault], listed: Callable[[str], bool]
) -> Iterator[str]:
    """How many pairs of faults come to each outcome; those that `listed` says with the pairs themselves."""
    memory: Memory = {}
    found: dict[str, list[str]] = {}
    for one, other in combinations(list(given), 2):
        outcome = line(protocol, entities, (one, other), memory)
        found.setdefault(outcome, []).append(f"{one} + {other}")
    for outcome in sorted(found):
        yield f"{len(found[outcome])}: {outcome}"
        if listed(outcome):
            yield from (f"    {both}" for both in found[outcome])


def renamed(fault: Fault, names: Sequence[int]) -> Fault:
    """The fault after node k has become names[k]."""
    match fault:
        case Dead(node):
            return Dead(names[node])
        case Dies(node, after):
            return Dies(names[node], after)
        case Lost(kind, sender, receiver):
            return Lost(kind, names[sender], names[receiver])
        case Broken(one, other):
            return Broken(*sorted((names[one], names[other])))
        case Corrupted(node):
            return Corrupted(names[node])
        case Stale(node):
            return Stale(names[node])


def orbits(given: Sequence[Fault], entities: int, size: int) -> Counter[tuple[Fault, ...]]:
    """Sets of `size` faults up to a renaming of all nodes but the origin: the first of each class, and how many it
    has."""
    renamings = [(0, *others) for others in permutations(range(1, entities))]
    classes: Counter[tuple[Fault, ...]] = Counter()
    for some in combinations(given, size):
        same = (tuple(sorted((renamed(fault, names) for fault in some), key=repr)) for names in renamings)
        classes[min(same, key=repr)] += 1
    return classes
