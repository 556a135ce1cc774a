"""Contexts of spans as bytes and as numbers, and what is said of the letters of texts."""

from __future__ import annotations

import random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from precedes.traces.foreign import span_contexts
from precedes.traces.foreign.span_contexts import CONTEXT, contexts, identified, packed, parents, texts
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.formats.letters import are_digits, are_short_wholes, none_is_empty

TRACE, SPAN = "0123456789abcdef" * 2, "fedcba9876543210"


def test_contexts_are_texts_again() -> None:
    forms = [(TRACE, False), (TRACE, True), (TRACE[:16], False), (TRACE[:16], True)]
    given = pa.array([packed(trace, SPAN, shared=shared) for trace, shared in forms] + [None], CONTEXT)
    ends = {False: "", True: "-shared"}
    assert texts(given).to_pylist() == [f"{trace}-{SPAN}{ends[shared]}" for trace, shared in forms] + [None]
    plain = pa.array([packed(TRACE, SPAN, shared=False), None], CONTEXT)
    assert texts(plain).to_pylist() == [f"{TRACE}-{SPAN}", None]
    assert texts(plain.slice(1)).to_pylist() == [None]


def test_contexts_are_read_in_either_case() -> None:
    found = contexts(pa.array([TRACE.upper(), TRACE]), pa.array([SPAN, SPAN.upper()]))
    assert found.to_pylist() == [packed(TRACE, SPAN, shared=False)] * 2
    above = parents(found, pa.array(["", SPAN.upper()]))
    assert above.to_pylist() == [None, packed(TRACE, SPAN, shared=False)]
    assert parents(found, pa.array([None, ""])).to_pylist() == [None, None]


@pytest.mark.parametrize(
    "wrong", [None, "", SPAN[:-1], SPAN + "0", SPAN[:-1] + "g", SPAN[:-2] + "é", " " + SPAN[1:]]
)
def test_other_ids_are_irregular(wrong: str | None) -> None:
    with pytest.raises(Irregular):
        contexts(pa.array([TRACE, TRACE]), pa.array([SPAN, wrong], pa.string()))
    if wrong:
        own = contexts(pa.array([TRACE]), pa.array([SPAN]))
        with pytest.raises(Irregular):
            parents(own, pa.array([wrong]))


@pytest.mark.parametrize("alike", [False, True])
def test_equal_contexts_have_one_number(alike: bool) -> None:
    made = random.Random(7)
    some = [made.randbytes(24) + bytes([made.randrange(2)]) for _ in range(40)]
    given = [made.choice(some) for _ in range(300)]
    column = pa.array(given, CONTEXT).slice(10)

    def of_few(rows: span_contexts.Bytes) -> np.ndarray:
        return (rows[:, 0] % 3).astype(np.uint64)

    with patch.object(span_contexts, "_hashes", of_few if alike else span_contexts._hashes):
        numbers, places = identified(column)
    assert len(places) == len(set(given[10:]))
    assert column.take(pa.array(places[numbers])).to_pylist() == given[10:]
    assert identified(pa.array([], CONTEXT))[0].tolist() == []


def test_letters() -> None:
    for given, empty, digits, whole in (
        (["12", "0", None], True, True, True),
        (["12", "", "7"], False, False, False),
        (["012"], True, True, False),
        (["1234"], True, True, False),
        (["-1"], True, False, False),
        (["1:"], True, False, False),
        (["1/"], True, False, False),
        (["1", "٣"], True, False, False),
        ([], True, True, True),
        ([None], True, True, True),
    ):
        for column in (
            pa.array(given, pa.string()),
            pa.array(["x", *given, "y"], pa.string()).slice(1, len(given)),
        ):
            assert (none_is_empty(column), are_digits(column), are_short_wholes(column, 3)) == (
                empty,
                digits,
                whole,
            )
