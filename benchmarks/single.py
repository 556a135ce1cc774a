"""One execution of millions of events: `python -m benchmarks.single [--events 10000000] [--entities 200]`.

Executions of three sizes, each twice as large as the one before, in two shapes: every message to four entities, every
message to all. In the violating ones a single entity delivers two messages the other way round, halfway through.
Measured are the judgement by each predicate, the batch being in memory, and the search for what shows the violation
(time of the processor, for one thread does it), and a whole process. Writes build/single.json; a run that was ended
goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import inside, traces
from benchmarks.measuring import PRECEDES, once
from benchmarks.workload import Rows, Workload, rows, written
from precedes.engines.columnar.batch_scan import scan_source
from precedes.engines.columnar.fast_path.row_group import RowGroup, row_group
from precedes.traces import Notices, expand
from precedes.traces.layout.columnar_file import ColumnarFile, layout_of
from precedes.traces.layout.conversion import convert

PREDICATES = (
    "order_preserving",
    "information_preserving",
    "information_equivalent",
    "selectively_information_preserving",
    "agreement",
    "order_equivalent",
    "acyclic_order",
    "causal_order",
)
SIZES = (4, 2, 1)
"""What the number of events is divided by."""


@dataclass(frozen=True, slots=True)
class Single:
    """Seconds of the processor, by predicate, to judge and to find what shows it; how many messages do."""

    events: int
    entities: int
    messages: int
    sets: int
    violated: bool
    judged: dict[str, float]
    shown: dict[str, float]
    messages_shown: dict[str, int]


def trace(workload: Workload, *, violated: bool) -> Path:
    """One execution, laid out, in one row group."""
    name = f"single-{traces.name_of(workload)}-{'violated' if violated else 'holds'}.parquet"
    return traces.kept(name, lambda path: _write(workload, path, violated=violated))


def _write(workload: Workload, path: Path, *, violated: bool) -> None:
    made = rows(workload)
    source = path.with_name(f"plain-{path.name}")
    written(
        workload,
        swapped(made, everybody=workload.sets == workload.entities) if violated else made,
        str(source),
    )
    convert([source], path, Notices())
    source.unlink()


def swapped(made: Rows, *, everybody: bool) -> Rows:
    """The rows with two deliveries of the first entity swapped, about halfway through.

    They follow each other, of messages from one sender to the same entities.
    """
    at = np.flatnonzero((made.entity == 0) & ~made.send)
    at = at[len(at) // 2 : -1]
    at = at[~made.send[at + 1] & (made.entity[at + 1] == 0)]
    sends = np.flatnonzero(made.send)
    send_of = sends[np.argsort(made.message[sends])]
    one, next_one = send_of[made.message[at]], send_of[made.message[at + 1]]
    alike = made.entity[one] == made.entity[next_one]
    if not everybody:
        alike &= made.destinations[one] == made.destinations[next_one]
    place = at[np.flatnonzero(alike)[0]]
    message = made.message.copy()
    message[[place, place + 1]] = message[[place + 1, place]]
    return replace(made, message=message)


def execution(path: Path) -> RowGroup:
    """The execution, as the row group that it is."""
    layout = layout_of(expand([path])[0])
    if layout is None:
        raise RuntimeError(f"{path} is not laid out")
    with closing(ColumnarFile(layout)) as file:
        return row_group(file, 0, inside.OPTIONS, ())


def measure(workload: Workload, times: int, *, violated: bool) -> Single:
    """Judge one execution by each predicate."""
    group = execution(trace(workload, violated=violated))
    judged, shown, found = {}, {}, {}
    for name in PREDICATES:
        prepared = inside.required(name)
        result = scan_source(group, prepared, jit=True)
        judged[name] = _best(lambda prepared=prepared: scan_source(group, prepared, jit=True), times)
        if result.values[0, 0] < 0:
            witness = result.witness(0, name)
            shown[name] = _best(lambda result=result, name=name: result.witness(0, name), 1)
            found[name] = len(witness.messages)
    sets = workload.entities if workload.sets is None else workload.sets
    columns = group.columns(())
    messages = int(columns.message_offsets[-1])
    return Single(columns.events, workload.entities, messages, sets, violated, judged, shown, found)


def _best(action: Callable[[], Any], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return sorted(taken)[len(taken) // 2]


def workloads(events: int, entities: int) -> Iterator[list[Workload]]:
    """The sizes of each shape."""
    for sets in (4, entities):
        yield [
            Workload(1, entities, events // divisor // (1 + sets), violations=0, sets=sets)
            for divisor in SIZES
        ]


class Kept:
    """build/single.json: what was measured of executions of one size, so that a run that was ended goes on."""

    def __init__(self, events: int, entities: int) -> None:
        self._path = Path("build/single.json")
        self.document: dict[str, Any] = {
            "events": events,
            "entities": entities,
            "executions": [],
            "process": [],
        }
        if self._path.exists():
            before = json.loads(self._path.read_text(encoding="utf-8"))
            if (before.get("events"), before.get("entities")) == (events, entities):
                self.document = before

    def has(self, of: str, **case: Any) -> bool:
        """Whether something of this case was measured."""
        return any(case.items() <= one.items() for one in self.document[of])

    def add(self, of: str, measured: dict[str, Any]) -> None:
        """Keep what was measured."""
        self.document[of].append(measured)
        self._path.write_text(json.dumps(self.document, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Measure what was not measured before, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--entities", type=int, default=200)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    kept = Kept(given.events, given.entities)
    for sizes in workloads(given.events, given.entities):
        sets = sizes[-1].sets
        for violated in (False, True):
            for workload in sizes:
                if not kept.has("executions", sets=sets, violated=violated, messages=workload.messages):
                    one = measure(workload, given.times, violated=violated)
                    kept.add("executions", asdict(one))
                    print(_line(one), flush=True)
            if not kept.has("process", sets=sets, violated=violated):
                required = ("--require", "ST", "--require", "causal_order")
                ended = once([PRECEDES, "verify", str(trace(sizes[-1], violated=violated)), *required])
                kept.add("process", {"sets": sets, "violated": violated, **asdict(ended)})
                print(
                    f"a whole process: {ended.processor:.2f} s of the processor, {ended.peak_mib:.0f} MiB",
                    flush=True,
                )


def _line(one: Single) -> str:
    shape = f"{one.sets} destinations, {'violated' if one.violated else 'holds'}"
    parts = [f"{one.events:>11,} events, {shape}"]
    for name, seconds in one.judged.items():
        shown = f"+{one.shown[name]:.3f}({one.messages_shown[name]})" if name in one.shown else ""
        parts.append(f"{name} {seconds:.3f}{shown}")
    return "  ".join(parts)


if __name__ == "__main__":
    main()
