"""What a name that is not there may have been meant for: the same with other capitals, the field's word for it, or one
that is spelt nearly so.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

NAMES: Final = "`precedes list` has the names"

FIELD: Final = {
    ("total_order", "total_ordering", "totally_ordered", "same_order", "agreed_order"): (
        "order_equivalent",
        "TO",
        "ST",
    ),
    ("atomic_broadcast", "abcast", "total_order_broadcast", "totem"): ("TO", "ST"),
    ("fifo", "fifo_order", "fifo_broadcast", "fbcast", "in_order", "per_sender_order", "source_order"): (
        "order_preserving",
        "fifo_delivery",
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
    ("exactly_once",): ("no_duplication", "selectively_information_preserving"),
    ("integrity", "no_spurious_messages", "no_invention", "no_fabrication"): (
        "no_creation",
        "no_duplication",
    ),
    ("addressed", "only_destinations", "no_strangers"): ("delivered_where_addressed",),
    ("atomicity", "atomic", "all_or_nothing", "uniform_agreement", "uniform"): ("agreement",),
    ("reliable_broadcast", "reliable_delivery", "reliability"): ("reliable", "agreement", "validity"),
    ("latency", "timeliness", "timely", "real_time", "max_latency", "timeout"): (
        "deadline",
        "timely_delivery",
    ),
    ("vector_clock", "vector_clocks", "clocks"): ("vector_time",),
    ("prefix", "prefix_agreement"): ("prefix_order",),
    ("gap_free", "gapfree"): ("gap_free_order",),
    ("acyclic",): ("acyclic_order",),
}
"""Words of the field and of the trade, and what the library has for them, the nearest first."""

_BY_WORD: Final = {word.replace("_", ""): names for words, names in FIELD.items() for word in words}


def intended(word: str, known: Iterable[str]) -> str:
    """The hint for a name that no predicate or service has: what is meant, if that can be said, and where names are."""
    found = candidates(word, tuple(known))
    if not found:
        return NAMES
    either = found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"
    return f"{either} is meant? {NAMES}"


def candidates(word: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """What may be meant by a word: known names, the likeliest first."""
    return surely(word, known) or tuple(get_close_matches(word, known, 1, 0.6))


def surely(word: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The known names that are this word but for capitals and what stands between its parts, or the field's word for
    them.
    """
    same = tuple(name for name in known if _plain(name) == _plain(word))
    return same or tuple(name for name in _BY_WORD.get(_plain(word), ()) if name in known)


def _plain(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())
