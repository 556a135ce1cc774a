"""Every name asked of one execution of a million events: `python -m benchmarks.one_execution [--events 1000000]`.

Ten entities, each message to four of them, all in order; once of a quarter of the events, once of all, converted. Read
and judged in this process, each name by itself, both sizes in turns, after a first turn that is not counted and makes
the machine code: seconds of the processor, the least of some turns, because what else a machine does makes so short
times longer and never shorter. Then `infer`, which asks all names and their premises at once. Prints what takes
longest, and writes build/one_execution.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import precedes
from benchmarks import traces
from benchmarks.measuring import calling, side_by_side
from benchmarks.names import carrying, judging, names
from benchmarks.views import converted, with_views
from benchmarks.workload import Workload
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan

ENTITIES = 10
DESTINATIONS = 4
PARTS = (4, 1)
"""What the number of events is divided by."""

FAMILIES = ("bounded_disorder(3)", "generic_order(p, q: key(p) = key(q))", "ST per key")
"""Names with a parameter, and one that is asked of parts."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A name, seconds of the processor by the size of the execution, smallest first, and the load."""

    name: str
    seconds: tuple[float, ...]
    load: float


def laid_out(events: int, *, views: bool) -> Path:
    """One execution of about so many events, converted; with views, each entity installs two."""
    workload = Workload(1, ENTITIES, events // (1 + DESTINATIONS), violations=0, sets=DESTINATIONS)
    name = f"{'views-' if views else ''}carrying-{traces.name_of(workload)}.parquet"
    source = carrying(with_views(workload) if views else traces.plain(workload), name)
    return traces.kept(f"laid-out-{name}", lambda path: converted(source, path))


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=7)
    given = parser.parse_args()
    sizes = [given.events // part for part in PARTS]
    found = []
    for each in (*names(), *(requirement(text, standard_library()) for text in FAMILIES)):
        prepared = plan([each])
        runs = [judging(laid_out(size, views=prepared.of_views), prepared) for size in sizes]
        both = side_by_side(*runs, given.times)
        found.append(Asked(each.name, tuple(min(one.all_seconds) for one in both), both[0].load))
    found.sort(key=lambda one: -one.seconds[-1])
    for one in found[:12]:
        numbers = "".join(f"{seconds:9.3f}" for seconds in one.seconds)
        print(f"  {one.name:<40}{numbers}{one.seconds[-1] / one.seconds[0]:7.1f}  load {one.load:.1f}")
    paths = [laid_out(size, views=False) for size in sizes]
    asking = [calling(partial(precedes.infer, path, delta="1s"), time.process_time) for path in paths]
    first, rest = (tuple(ask()[0] for ask in asking) for _ in range(2))
    infer = Asked("infer", rest, os.getloadavg()[0])
    print(f"  {infer.name:<40}{''.join(f'{seconds:9.1f}' for seconds in rest)}, at first {sum(first):.1f}")
    lines = [asdict(one) for one in (*found, infer)]
    document = {"events": sizes, "entities": ENTITIES, "first infer": sum(first), "names": lines}
    Path("build/one_execution.json").write_text(json.dumps(document, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
