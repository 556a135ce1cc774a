"""Suggestions for an unknown word: the same word with other capitals and signs, the name that the field uses,
or a word with nearly the same spelling. If no word is near, there is no suggestion.

A word is near if it differs in a few slips: a letter too many, too few or another, or two neighbors exchanged
(the distance of Damerau, CACM 7(3), 1964, in the form in which no part is edited twice). One slip is allowed
for up to seven letters, and one more for every four letters beyond. For words of two letters only the
exchange is near, because another letter makes another word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

Synonyms: TypeAlias = Mapping[tuple[str, ...], tuple[str, ...]]
"""Words, and what is known that they may stand for, the likeliest first."""

FIELD: Final[Synonyms] = {
    ("total_order", "total_ordering", "totally_ordered", "same_order", "agreed_order"): (
        "order_equivalent",
        "TO",
        "ST",
    ),
    ("atomic_broadcast", "abcast", "total_order_broadcast", "totem"): ("TO", "ST"),
    ("fifo", "fifo_order", "fifo_broadcast", "fbcast", "in_order", "per_sender_order", "source_order"): (
        "fifo_delivery",
        "order_preserving",
    ),
    ("offset_order", "partition_order", "per_partition_order"): ("order_preserving",),
    ("causal", "causality", "causal_broadcast", "cbcast", "causally_ordered", "happens_before"): (
        "causal_order",
        "causal_delivery",
        "CO",
    ),
    ("delta_causal", "bounded_causal"): ("delta_causal_order",),
    ("at_most_once", "no_duplicates", "duplicates", "duplication", "idempotent", "unique_delivery"): (
        "no_duplication",
    ),
    ("at_least_once", "no_loss", "lossless", "no_losses", "no_gaps", "completeness", "all_delivered"): (
        "selectively_information_preserving",
        "information_preserving",
    ),
    ("exactly_once",): ("no_duplication and selectively_information_preserving",),
    ("integrity", "no_spurious_messages", "no_invention", "no_fabrication"): (
        "no_creation and no_duplication",
        "no_creation",
    ),
    ("addressed", "only_destinations", "no_strangers"): ("delivered_where_addressed",),
    ("atomicity", "atomic", "all_or_nothing", "atomic_receipt"): ("agreement", "uniform_agreement"),
    ("uniform",): ("uniform_agreement",),
    ("reliable_broadcast", "reliable_delivery", "reliability"): ("agreement and validity", "reliable"),
    ("latency", "timeliness", "timely", "real_time", "max_latency", "timeout"): (
        "deadline",
        "timely_delivery",
    ),
    ("vector_clock", "vector_clocks", "clocks"): ("vector_time",),
    ("prefix", "prefix_agreement"): ("prefix_order",),
    ("gap_free", "gapfree"): ("gap_free_order",),
    ("acyclic",): ("acyclic_order",),
}
"""The field's words and the trade's, and what the library has for them; names joined by `and` are asked together."""

NONE: Final[Synonyms] = {}
MOST: Final = 3
"""So many are named at most."""
LONGEST: Final = 64
"""Of a longer word nothing is near."""
NAMES: Final = "`precedes list` prints all names"


def intended(word: str, known: Iterable[str]) -> str:
    """The hint for a name that no predicate or service has: what may be meant, and where names are."""
    meant = did_you_mean(word, known, FIELD)
    return NAMES if meant is None else f"{meant} {NAMES}"


def did_you_mean(word: str, known: Iterable[str], synonyms: Synonyms = NONE) -> str | None:
    """`did you mean a, b or c?`; None where nothing is near."""
    found = suggestions(word, known, synonyms)
    if not found:
        return None
    either = found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"
    return f"did you mean {either}?"


def suggestions(word: str, known: Iterable[str], synonyms: Synonyms = NONE) -> tuple[str, ...]:
    """What a word may have been meant for, the likeliest first."""
    names = tuple(dict.fromkeys(known))
    return (surely(word, names, synonyms) or _near(word, names, synonyms))[:MOST]


def surely(word: str, known: Iterable[str], synonyms: Synonyms = NONE) -> tuple[str, ...]:
    """What is this word but for capitals and what stands between its parts, or what the field calls so."""
    names = tuple(known)
    plain = _plain(word)
    same = tuple(name for name in names if _plain(name) == plain) if plain else ()
    if same:
        return same
    return tuple(
        name
        for words, meanings in synonyms.items()
        if plain in map(_plain, words)
        for name in _known(meanings, names)
    )


def _near(word: str, known: tuple[str, ...], synonyms: Synonyms) -> tuple[str, ...]:
    """The known names that are fewest slips away, or what is known by a synonym that is."""
    found: dict[str, int] = {}
    for name in known:
        _keep(found, name, slips(word, name))
    for words, meanings in synonyms.items():
        away = [number for other in words if (number := slips(word, other)) is not None]
        for name in _known(meanings, known) if away else ():
            _keep(found, name, min(away))
    least = min(found.values(), default=0)
    return tuple(name for name, number in found.items() if number == least)


def _keep(found: dict[str, int], name: str, number: int | None) -> None:
    if number is not None:
        found[name] = min(number, found.get(name, number))


def _known(meanings: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in meanings if all(part in known for part in name.split(" and ")))


def slips(word: str, other: str) -> int | None:
    """How many slips make one word of the other; None where these are too many for the two to be near."""
    one, two = word.lower(), other.lower()
    length = max(len(one), len(two))
    most = 0 if length < 2 else max(1, length // 4)
    if length > LONGEST or abs(len(one) - len(two)) > most:
        return None
    number = distance(one, two)
    if number > most or (length == 2 and sorted(one) != sorted(two)):
        return None
    return number


def distance(one: str, two: str) -> int:
    """The fewest slips that make one word of the other, however many; row by row, of which two are kept."""
    before, above = [0] * (len(two) + 1), list(range(len(two) + 1))
    for i, here in enumerate(one, 1):
        row = [i]
        for j, there in enumerate(two, 1):
            number = min(above[j] + 1, row[-1] + 1, above[j - 1] + (here != there))
            if i > 1 and j > 1 and (here, one[i - 2]) == (two[j - 2], there):
                number = min(number, before[j - 2] + 1)
            row.append(number)
        before, above = above, row
    return above[-1]


def _plain(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())
