"""Ratios measured side by side, in one run: `python -m benchmarks [--quick]`, or `make bench`.

Every number is the median of three after one run that is not counted, with the load of the machine beside it.
Verdicts are compared before times are. Prints a table and writes build/bench.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import inside, sql, traces
from benchmarks.measuring import PRECEDES, Measured, process, timed
from benchmarks.workload import Workload
from precedes.traces.layout import SCANNED

READ = ("execution", "entity", "seq", "event", "message", "dest")
"""The columns of the trace that say what the numbers of the layout say."""


INTEGERS = ("execution", "entity", "event", "message", "dest")
"""The same in a file that codes ids as integers and has destinations as lists (see `sql.write_integers`)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`ours` against `theirs`; `reach` is the most that it should be (or the least, where `faster`)."""

    name: str
    ours: Measured
    theirs: Measured
    reach: float | None
    faster: bool = False

    @property
    def value(self) -> float:
        """The ratio, as it is compared with the reach."""
        ratio = self.ours.seconds / self.theirs.seconds
        return 1 / ratio if self.faster else ratio

    @property
    def reached(self) -> bool | None:
        """None where nothing was to be reached."""
        if self.reach is None:
            return None
        return self.value >= self.reach if self.faster else self.value <= self.reach


class Bench:
    """One run."""

    def __init__(self, executions: int, times: int, longer: int) -> None:
        self.workload = Workload(executions)
        self.times = times
        self.longer = longer
        self.results: dict[str, Any] = {}

    def in_process(self) -> Iterator[Ratio]:
        """Against Arrow, as a process and inside one; memory and time on a longer trace."""
        path = traces.laid_out(self.workload)
        verify = [PRECEDES, "verify", str(path), "--require", "ST"]
        whole = process(verify, self.times, (1,))
        yield Ratio("process: Arrow reads the scanned numbers", whole, self._read(path, SCANNED), 2)
        integers = traces.integers(self.workload)
        yield Ratio(
            "process: Arrow reads plain integers, dest lists", whole, self._read(integers, INTEGERS), None
        )
        yield Ratio("process: Arrow reads the trace's columns", whole, self._read(path, READ), None)
        prepared = inside.required("ST")
        self.warm = timed(partial(inside.ours, path, prepared), self.times)
        stream = timed(partial(inside.arrow_stream, path, SCANNED), self.times)
        yield Ratio("warm: Arrow streams the scanned numbers", self.warm, stream, 3)
        stream = timed(partial(inside.arrow_stream, integers, INTEGERS), self.times)
        yield Ratio("warm: Arrow streams plain integers, dest lists", self.warm, stream, None)
        both = timed(partial(inside.ours, path, inside.required("ST", "causal_order")), self.times)
        yield Ratio("ST and causal order, against ST", both, self.warm, 1.7)
        long = process(
            [*verify[:2], str(traces.repeated(self.workload, self.longer)), *verify[3:]], self.times, (1,)
        )
        yield Ratio(f"a trace x{self.longer} as long", long, whole, 8.5 * self.longer / 8)
        self.results["peak MiB"] = {"x1": whole.peak_mib, f"x{self.longer}": long.peak_mib}
        small = traces.plain(Workload(40))
        self.results["1,000 events"] = asdict(
            process([*verify[:2], str(small), *verify[3:]], self.times, (0, 1))
        )

    def compiled(self) -> Iterator[Ratio]:
        """A formula compiled against its tuned form, and the reference evaluator."""
        path = traces.plain(Workload(40_000))
        for name in ("order_preserving", "causal_order"):
            loops = timed(inside.scanning(path, inside.compiled(name)), self.times)
            yield Ratio(
                f"{name} compiled, against tuned",
                loops,
                timed(inside.scanning(path, inside.required(name)), self.times),
                5,
            )
        evaluate, executions = inside.by_reference(path, "ST", 200)
        self.results["reference"] = {"executions": executions, **asdict(timed(evaluate, 1))}

    def databases(self) -> Iterator[Ratio]:
        """DuckDB, with the same verdicts."""
        integers = traces.integers(self.workload)
        expected = self._violators()
        if sql.by_duckdb(integers) != expected:
            raise RuntimeError("DuckDB comes to other verdicts")
        yield Ratio(
            "in-process, against DuckDB",
            self.warm,
            timed(partial(sql.by_duckdb, integers), self.times),
            5,
            True,
        )

    def on_spark(self) -> Iterator[Ratio]:
        """Spark, against this process, Spark SQL and Spark's own shuffle."""
        from precedes.engines.spark.session import session

        spark = session("local[2]")
        integers, shuffled = traces.integers(self.workload), traces.shuffled(self.workload)
        prepared = inside.required("ST")
        spark_warm = timed(
            partial(inside.ours_on_spark, spark, traces.laid_out(self.workload), prepared), self.times
        )
        yield Ratio("Spark, against in-process", spark_warm, self.warm, 2)
        if sql.by_spark(spark, integers) != self._violators():
            raise RuntimeError("Spark SQL comes to other verdicts")
        windows = timed(partial(sql.by_spark, spark, integers), min(self.times, 1))
        yield Ratio("Spark, against Spark SQL", spark_warm, windows, 6, True)
        ours = timed(partial(inside.ours_on_spark, spark, shuffled, prepared), self.times)
        theirs = timed(partial(inside.sorted_by_spark, spark, shuffled), self.times)
        yield Ratio("Spark on shuffled rows, against its own sort", ours, theirs, 1.5)
        spark.stop()

    def growth(self) -> None:
        """Seconds inside this process as the trace grows."""
        prepared = inside.required("ST")
        base = max(1000, self.workload.executions // 8)
        curves: dict[str, dict[str, float]] = {"events": {}, "entities": {}, "destinations": {}}
        for times in (1, 2, 4, 8):
            path = traces.repeated(Workload(base), times)
            curves["events"][f"x{times}"] = timed(partial(inside.ours, path, prepared), self.times).seconds
        for entities in (4, 8, 16, 32, 64):
            path = traces.laid_out(Workload(base // 4, entities, sets=4))
            curves["entities"][str(entities)] = timed(
                partial(inside.ours, path, prepared), self.times
            ).seconds
        for sets in (1, 4, 16, 64):
            path = traces.laid_out(Workload(base // 16, 64, sets=sets))
            curves["destinations"][str(sets)] = timed(
                partial(inside.ours, path, prepared), self.times
            ).seconds
        self.results["growth"] = curves

    def _read(self, path: Path, columns: Sequence[str]) -> Measured:
        program = str(Path(__file__).with_name("arrow_read.py"))
        return process([sys.executable, program, str(path), *columns], self.times)

    def _violators(self) -> set[int]:
        found = inside.violators(traces.laid_out(self.workload), inside.required("ST"), "ST")
        return {int(name.removeprefix("x")) for name in found}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the size, one run of each")
    parser.add_argument("--executions", type=int)
    parser.add_argument("--without-spark", action="store_true")
    given = parser.parse_args()
    executions = given.executions or (20_000 if given.quick else 1_000_000)
    bench = Bench(executions, 1 if given.quick else 3, 2 if given.quick else 8)
    about = f"{executions:,} executions, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{about}\n{'':<50}{'ours':>9}{'theirs':>9}{'ratio':>8}{'reach':>7}{'load':>6}")
    ratios: list[Ratio] = []
    steps = [
        bench.in_process,
        bench.compiled,
        bench.databases,
        *([] if given.without_spark else [bench.on_spark]),
    ]
    for step in steps:
        for ratio in step():
            ratios.append(ratio)
            print(_line(ratio), flush=True)
    bench.growth()
    print(json.dumps(bench.results, indent=2))
    document = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cores": os.cpu_count(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        },
        "executions": executions,
        "ratios": [asdict(ratio) | {"ratio": ratio.value, "reached": ratio.reached} for ratio in ratios],
        **bench.results,
    }
    Path("build").mkdir(exist_ok=True)
    Path("build/bench.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _line(ratio: Ratio) -> str:
    reach = "" if ratio.reach is None else f"{ratio.reach:g}{'' if ratio.reached else ' !'}"
    numbers = f"{ratio.ours.seconds:>9.2f}{ratio.theirs.seconds:>9.2f}{ratio.value:>8.2f}{reach:>7}"
    return f"{ratio.name:<50}{numbers}{max(ratio.ours.load, ratio.theirs.load):>6.1f}"


if __name__ == "__main__":
    main()
