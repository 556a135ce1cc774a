"""Seconds of the processor of processes that end while others are measured."""

from __future__ import annotations

import time

import pytest

from benchmarks import measuring
from benchmarks.measuring import Family, Process

ROOT = Process(parent=0, began=1, used=10)
CHILD = Process(parent=1, began=2, used=100)
GRANDCHILD = Process(parent=2, began=3, used=1000)


def test_what_nobody_was_told_of_is_kept() -> None:
    family = Family(1)
    assert family.used({1: ROOT, 2: CHILD, 3: GRANDCHILD, 9: Process(0, 1, 5)}) == 1110
    # One ends and is nobody's; the other one has another parent now, and goes on.
    assert family.used({1: ROOT, 3: Process(parent=0, began=3, used=1500)}) == 1610
    # Its number is that of another process.
    assert family.used({1: ROOT, 3: Process(parent=0, began=7, used=3)}) == 1610


def test_what_its_parent_was_told_of_counts_once() -> None:
    family = Family(1)
    assert family.used({1: ROOT, 2: CHILD, 3: GRANDCHILD}) == 1110
    # Both ended, and had used some more; the process was told of both, and then of one that nobody saw.
    told = Process(parent=0, began=1, used=10 + 1130, of_ended=1130)
    assert family.used({1: told}) == 1140
    assert family.used({1: Process(parent=0, began=1, used=10 + 1150, of_ended=1150)}) == 1160


def test_of_one_of_two_it_was_told() -> None:
    family = Family(1)
    assert family.used({1: ROOT, 2: CHILD, 3: Process(parent=1, began=3, used=40)}) == 150
    assert family.used({1: Process(parent=0, began=1, used=10 + 40, of_ended=40)}) == 150


@pytest.mark.skipif(not measuring.processes(), reason="there is no /proc")
def test_the_own_process_is_among_them() -> None:
    before, processor = measuring.processor_of_all(), time.process_time()
    while time.process_time() < processor + 0.05:
        pass
    assert measuring.processor_of_all() > before
    assert measuring.resident_of_all() > 10
