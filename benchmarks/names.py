"""Every name of the library and of the profiles beside `ST`: `python -m benchmarks.names [--quick] [--only NAME ...]`.

Many small executions, converted, are judged in this process, by each name and by `ST` in turns: seconds of the
processor, all threads together. Names that speak of views are asked of executions in which each entity installs two
(`benchmarks.views`), nearly all of which violate `virtual_synchrony`, and all others of the workload of
`python -m benchmarks`. Messages carry every attribute that the library knows. Prints a line for each name, and writes
build/names.json, in which other names stay as they were.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import inside, traces
from benchmarks.measuring import Run, calling, side_by_side
from benchmarks.views import WORKLOADS, converted, with_views
from benchmarks.workload import Workload
from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Requirement
from precedes.engines.scan import local
from precedes.language.library import profile_library, standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import Plan, plan
from precedes.traces import Notices, expand

TEXTS = ("key", "topic", "partition", "channel", "session")
MOST = 3
"""So many times the processor's time of `ST`, at most."""

OPTIONS = replace(inside.OPTIONS, delta=1_000_000_000)


@dataclass(frozen=True, slots=True)
class Beside:
    """A name: its seconds, those of `ST` in turns with it, and the load."""

    name: str
    views: bool
    seconds: float
    service: float
    load: float

    @property
    def ratio(self) -> float:
        """How many times as long as `ST`."""
        return self.seconds / self.service


def names() -> Iterator[Requirement]:
    """The names of the library and of the profiles that need no arguments, each once."""
    known: set[str] = set()
    for library in (standard_library(), profile_library()):
        for name in library:
            with suppress(PrecedesError):
                found = requirement(name, library)
                if name not in known:
                    known.add(name)
                    yield found


def carrying(source: Path, target: str) -> Path:
    """A trace whose messages carry a position, which is their number, and one of three texts in all else."""

    def make(path: Path) -> None:
        table = pq.read_table(source)
        numbers = pc.fill_null(pc.cast(pc.utf8_slice_codeunits(table["message"], 1), pa.int64()), 0)
        none = pc.is_null(table["message"])
        table = table.append_column("position", pc.if_else(none, None, numbers))
        texts = pa.array(["k0", "k1", "k2"]).take(pa.array(numbers.to_numpy() % 3))
        for name in TEXTS:
            table = table.append_column(name, pc.if_else(none, None, texts))
        pq.write_table(table, path, row_group_size=500_000)

    return traces.kept(target, make)


def laid_out(executions: int, *, views: bool) -> Path:
    """The trace that names are asked of, converted."""
    workload = replace(WORKLOADS["any of them"], executions=executions) if views else Workload(executions)
    name = f"{'views-' if views else ''}carrying-{traces.name_of(workload)}.parquet"
    source = carrying(with_views(workload) if views else traces.plain(workload), name)
    return traces.kept(f"laid-out-{name}", lambda path: converted(source, path))


def judging(path: Path, prepared: Plan) -> Run:
    """A scan of a file in this process, by the clock of the processor."""

    def run() -> None:
        notices = Notices()
        local.verify(expand([path], notices), prepared, OPTIONS, notices, 0)

    return calling(run, time.process_time)


def measured(only: list[str], executions: int, times: int) -> Iterator[Beside]:
    """Each name beside `ST`."""
    service = inside.required("ST")
    for each in names():
        if only and each.name not in only:
            continue
        prepared = plan([each])
        path = laid_out(executions, views=prepared.of_views)
        ours, theirs = side_by_side(judging(path, prepared), judging(path, service), times)
        yield Beside(each.name, prepared.of_views, ours.seconds, theirs.seconds, ours.load)


def keep(path: Path, how: dict[str, int], found: list[Beside]) -> None:
    """Write what was measured. Of other names stays what was measured in the same way before."""
    rows = {one.name: asdict(one) for one in found}
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before.items() >= how.items():
            rows = {one["name"]: one for one in before["names"]} | rows
    document = {**how, "names": list(rows.values())}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the size")
    parser.add_argument("--only", nargs="*", default=[], help="these names")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    executions = 20_000 if given.quick else 1_000_000
    found = []
    for one in measured(given.only, executions, given.times):
        found.append(one)
        times = f"{one.seconds:8.3f} {one.service:8.3f} {one.ratio:7.2f}"
        print(f"  {one.name:<36}{times}  load {one.load:.1f}", flush=True)
    slow = sum(one.ratio > MOST for one in found)
    print(f"{len(found)} names, {slow} above {MOST} times ST")
    keep(Path("build/names.json"), {"executions": executions, "times": given.times}, found)


if __name__ == "__main__":
    main()
