"""The auxiliary procedure explored with and without reductions: states, transitions, seconds.

The question of the plain search and of the reduced one is the same: does Lemma 6 hold at every delivery, in every
interleaving of so many unicast messages among three entities? Run one after the other on a quiet machine:

    python benchmarks/exploring.py [MESSAGES ...]
"""

from __future__ import annotations

import resource
import sys
import time

from precedes.protocol.bounds import Bounds
from precedes.protocol.exploring import explore
from precedes_models.auxiliary import LEMMA_6, Auxiliary


def main() -> None:
    """Print one line for each size and search."""
    sizes = [int(argument) for argument in sys.argv[1:]] or [4, 5, 6]
    print(
        f"{'messages':>8} {'search':<8} {'states':>9} {'transitions':>11} {'wall s':>7} {'CPU s':>7} {'MB':>6}"
    )
    for messages in sizes:
        for plain in (False, True):
            wall, processor = time.perf_counter(), time.process_time()
            bounds = Bounds(entities=3, messages=messages)
            found = explore(Auxiliary(queue=False), bounds, [], invariants=[LEMMA_6], plain=plain)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"{messages:>8} {'plain' if plain else 'reduced':<8} {found.states:>9,} {found.transitions:>11,} "
                f"{wall:>7.2f} {processor:>7.2f} {megabytes:>6}  {found.verdict.value}"
            )


if __name__ == "__main__":
    main()
