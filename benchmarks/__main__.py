"""Ratios measured side by side, in one run: `python -m benchmarks [--quick]`, or `make bench`.

Every number is the median of three after one run that is not counted; what is compared runs in turns. The load of
the machine stands beside it. Verdicts are compared before times are. Prints a table and writes build/bench.json;
with `--only` what is measured anew takes the place of what that file has.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import comparisons as c
from benchmarks import inside, sql, traces
from benchmarks.comparisons import Comparison
from benchmarks.measuring import PRECEDES, Measured, Run, alone, calling, process, side_by_side
from benchmarks.workload import Workload
from precedes.traces.layout.columnar_file import SCANNED

READ = ("execution", "entity", "seq", "event", "message", "dest")
"""The columns of the trace that say what the numbers of the layout say."""


INTEGERS = ("execution", "entity", "event", "message", "dest")
"""The same in a file that codes ids as integers and has destinations as lists (see `sql.write_integers`)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was measured of a comparison."""

    of: Comparison
    ours: Measured
    theirs: Measured

    @property
    def value(self) -> float:
        """The ratio, as it is compared with the reach."""
        ratio = self.ours.seconds / self.theirs.seconds
        return 1 / ratio if self.of.faster else ratio

    @property
    def reached(self) -> bool | None:
        """None where nothing was to be reached."""
        if self.of.reach is None:
            return None
        return self.value >= self.of.reach if self.of.faster else self.value <= self.of.reach

    def written(self) -> dict[str, Any]:
        """As build/bench.json has it."""
        return {
            "name": self.of.name,
            "ours": asdict(self.ours),
            "theirs": asdict(self.theirs),
            "reach": self.of.reach,
            "faster": self.of.faster,
            "ratio": self.value,
            "reached": self.reached,
        }


class Bench:
    """One run. `only`: a part of the names of what is measured."""

    def __init__(self, executions: int, times: int, longer: int, only: str) -> None:
        self.workload = Workload(executions)
        self.times = times
        self.longer = longer
        self.only = only
        self.results: dict[str, Any] = {}

    def wants(self, *comparisons: Comparison) -> bool:
        """Whether any of these is measured."""
        return any(self.only in each.name for each in comparisons)

    def in_process(self) -> Iterator[Ratio]:
        """Against Arrow, as a process and inside one; memory and time on a longer trace."""
        path, integers = traces.laid_out(self.workload), traces.integers(self.workload)
        whole = _verify(path)
        yield from self._ratio(c.PROCESS_SCANNED, whole, _reading(path, SCANNED))
        yield from self._ratio(c.PROCESS_INTEGERS, whole, _reading(integers, INTEGERS))
        yield from self._ratio(c.PROCESS_TRACE, whole, _reading(path, READ))
        warm = self._ours("ST")
        stream = calling(partial(inside.arrow_stream, path, SCANNED))
        yield from self._ratio(c.WARM_SCANNED, warm, stream)
        stream = calling(partial(inside.arrow_stream, integers, INTEGERS))
        yield from self._ratio(c.WARM_INTEGERS, warm, stream)
        yield from self._ratio(c.BOTH, self._ours("ST", "causal_order"), warm)
        if self.wants(c.longer(self.longer)):
            longer = _verify(traces.repeated(self.workload, self.longer))
            for long in self._ratio(c.longer(self.longer), longer, whole):
                yield long
                self.results["peak MiB"] = {"x1": long.theirs.peak_mib, f"x{self.longer}": long.ours.peak_mib}
        if self.only in "1,000 events":
            self.results["1,000 events"] = asdict(alone(_verify(traces.plain(Workload(40))), self.times))

    def compiled(self) -> Iterator[Ratio]:
        """A formula compiled against its tuned form, in one thread, and the reference evaluator."""
        path = traces.plain(Workload(40_000))
        for name, comparison in (
            ("order_preserving", c.ORDER_COMPILED),
            ("causal_order", c.CAUSAL_COMPILED),
        ):
            loops = calling(inside.scanning(path, inside.compiled(name)), process_time)
            tuned = calling(inside.scanning(path, inside.required(name)), process_time)
            yield from self._ratio(comparison, loops, tuned)
        if self.only in "reference":
            evaluate, executions = inside.by_reference(path, "ST", 200)
            self.results["reference"] = {"executions": executions, **asdict(alone(calling(evaluate), 1))}

    def databases(self) -> Iterator[Ratio]:
        """DuckDB, with the same verdicts."""
        if not self.wants(c.DUCKDB):
            return
        integers = traces.integers(self.workload)
        if sql.by_duckdb(integers) != self._violators():
            raise RuntimeError("DuckDB comes to other verdicts")
        theirs = calling(partial(sql.by_duckdb, integers))
        yield from self._ratio(c.DUCKDB, self._ours("ST"), theirs)

    def on_spark(self) -> Iterator[Ratio]:
        """Spark, against this process, Spark SQL and Spark's own shuffle."""
        if not self.wants(c.SPARK_LOCAL, c.SPARK_SQL, c.SPARK_SORT):
            return
        from precedes.engines.spark.session import session

        spark = session("local[2]")
        prepared = inside.required("ST")
        ours = calling(partial(inside.ours_on_spark, spark, traces.laid_out(self.workload), prepared))
        yield from self._ratio(c.SPARK_LOCAL, ours, self._ours("ST"))
        if self.wants(c.SPARK_SQL):
            integers = traces.integers(self.workload)
            if sql.by_spark(spark, integers) != self._violators():
                raise RuntimeError("Spark SQL comes to other verdicts")
            windows = calling(partial(sql.by_spark, spark, integers))
            yield from self._ratio(c.SPARK_SQL, ours, windows)
        if self.wants(c.SPARK_SORT):
            shuffled = traces.shuffled(self.workload)
            ours = calling(partial(inside.ours_on_spark, spark, shuffled, prepared))
            theirs = calling(partial(inside.sorted_by_spark, spark, shuffled))
            yield from self._ratio(c.SPARK_SORT, ours, theirs)
        spark.stop()

    def growth(self) -> None:
        """Seconds inside this process as the trace grows."""
        if self.only not in "growth":
            return
        prepared = inside.required("ST")
        base = max(1000, self.workload.executions // 8)

        def grown(path: Path) -> dict[str, float]:
            events = inside.ours(path, prepared).events
            return {
                "events": events,
                "seconds": alone(calling(partial(inside.ours, path, prepared)), self.times).seconds,
            }

        few = base // 4
        self.results["growth"] = {
            "events": {str(k): grown(traces.repeated(Workload(base), k)) for k in (1, 2, 4, 8)},
            "entities": {
                str(n): grown(traces.laid_out(Workload(few, n, sets=4))) for n in (4, 8, 16, 32, 64)
            },
            "destinations": {
                str(n): grown(traces.laid_out(Workload(few // 4, 64, sets=n))) for n in (1, 4, 16, 64)
            },
        }

    def _ratio(self, of: Comparison, ours: Run, theirs: Run) -> Iterator[Ratio]:
        if self.wants(of):
            yield Ratio(of, *side_by_side(ours, theirs, self.times))

    def _ours(self, *texts: str) -> Run:
        return calling(partial(inside.ours, traces.laid_out(self.workload), inside.required(*texts)))

    def _violators(self) -> set[int]:
        found = inside.violators(traces.laid_out(self.workload), inside.required("ST"), "ST")
        return {int(name.removeprefix("x")) for name in found}


def _verify(path: Path) -> Run:
    return process([PRECEDES, "verify", str(path), "--require", "ST"], (0, 1))


def _reading(path: Path, columns: Sequence[str]) -> Run:
    return process([sys.executable, str(Path(__file__).with_name("arrow_read.py")), str(path), *columns])


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the size, one run of each")
    parser.add_argument("--executions", type=int)
    parser.add_argument("--only", default="", help="a part of the names of what is measured anew")
    given = parser.parse_args()
    executions = given.executions or (20_000 if given.quick else 1_000_000)
    bench = Bench(executions, 1 if given.quick else 3, 2 if given.quick else 8, given.only)
    about = f"{executions:,} executions, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{about}\n{'':<50}{'ours':>9}{'theirs':>9}{'ratio':>8}{'reach':>7}{'load':>6}")
    ratios: list[Ratio] = []
    for step in (bench.in_process, bench.compiled, bench.databases, bench.on_spark):
        for ratio in step():
            ratios.append(ratio)
            print(_line(ratio), flush=True)
    bench.growth()
    print(json.dumps(bench.results, indent=2))
    document = {
        "machine": {
            "cores": os.cpu_count(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        },
        "executions": executions,
        "ratios": [ratio.written() for ratio in ratios],
        **bench.results,
    }
    written = Path("build/bench.json")
    written.parent.mkdir(exist_ok=True)
    if given.only and written.exists():
        document = _renewed(json.loads(written.read_text(encoding="utf-8")), document)
    written.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _renewed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """What was measured before, with what was measured now in its place."""
    if before["executions"] != now["executions"]:
        raise SystemExit("build/bench.json is of another size: measure all of it, or remove it")
    anew = {ratio["name"]: ratio for ratio in now["ratios"]}
    ratios = [anew.pop(ratio["name"], ratio) for ratio in before["ratios"]]
    return before | now | {"ratios": [*ratios, *anew.values()]}


def _line(ratio: Ratio) -> str:
    reach = "" if ratio.of.reach is None else f"{ratio.of.reach:g}{'' if ratio.reached else ' !'}"
    numbers = f"{ratio.ours.seconds:>9.2f}{ratio.theirs.seconds:>9.2f}{ratio.value:>8.2f}{reach:>7}"
    return f"{ratio.of.name:<50}{numbers}{max(ratio.ours.load, ratio.theirs.load):>6.1f}"


if __name__ == "__main__":
    main()
