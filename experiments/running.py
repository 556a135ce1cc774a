"""Independent pieces of work in several processes, their results in order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from typing import TypeVar

from precedes.core.machine import available_cores

A = TypeVar("A")
B = TypeVar("B")


def each(work: Callable[[A], B], arguments: Iterable[A]) -> list[B]:
    """`work` of every argument. It must be a function of a module; what it returns may not depend on the process."""
    listed = list(arguments)
    processes = min(available_cores(), len(listed))
    if processes < 2:
        return [work(argument) for argument in listed]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return list(pool.imap(work, listed))
