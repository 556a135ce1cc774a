"""Pairs with numbers are found as in a dictionary."""

from __future__ import annotations

import random

from precedes.protocol.exploration.interned_values import NOT_PLACED, PLACE_BITS, InternedPairs


def test_pairs_have_the_numbers_of_a_dictionary() -> None:
    draw, pairs, numbers = random.Random(7), InternedPairs(), dict[int, int]()
    for _ in range(3_000):
        pair = draw.randrange(5) << PLACE_BITS | draw.choice((draw.randrange(40), draw.randrange(4_000)))
        assert pairs.known(pair) == numbers.get(pair)
        assert pairs.number(pair) == numbers.setdefault(pair, len(numbers))
    assert pairs.values.tolist() == list(numbers)
    assert len(pairs) == len(numbers)


def test_a_number_is_kept_for_a_pair() -> None:
    pairs = InternedPairs()
    assert pairs.number(3) == 0
    first = pairs.reserve(2)
    assert pairs.number(4) == first + 2
    assert pairs.values[first] == NOT_PLACED
    other = 1 << PLACE_BITS | 3
    assert pairs.known(other) is None
    for _ in range(2):
        # Whoever makes a whole orbit meets a pair again.
        pairs.place(first, other)
    assert pairs.known(other) == pairs.number(other) == first
    assert pairs.number(3) == pairs.last_at(9_999) + 1 == 0
    assert pairs.last_at(3) == first
