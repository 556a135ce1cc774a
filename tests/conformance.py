"""Random cases by number, as many as wanted: `python -m tests.conformance --cases 50000 --from 0`.

Every case is a random formula, or one in which a single atom decides, on a random execution; the compiler
and the reference evaluator must give the same value, its reasons included. Each disagreement is printed
with its number, which reproduces it. Exit code 1 if there was any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from precedes.core.verdict import verdict
from tests.columnar.agreement import case, focused_case, values


def main() -> int:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="how many of either kind")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the number of the first case")
    parser.add_argument("--jit", action="store_true", help="as machine code: seconds per case")
    arguments = parser.parse_args()
    started = time.perf_counter()
    verdicts: Counter[str] = Counter()
    disagreements = 0
    for seed in range(arguments.first, arguments.first + arguments.cases):
        for kind, met in (("case", case(seed)), ("focused case", focused_case(seed))):
            found, meant = values(met, arguments.jit)
            verdicts[verdict(meant).value] += 1
            if found != meant:
                disagreements += 1
                print(f"{kind} {seed}: compiled {found}, by definition {meant}: {met}")
    seconds = time.perf_counter() - started
    print(f"{2 * arguments.cases} cases, {disagreements} disagreements, {dict(verdicts)}, {seconds:.1f} s")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
