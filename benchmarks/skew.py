"""One execution of millions of events among many small ones, on Spark: `python -m benchmarks.skew [--quick]`.

The large one alone, the small ones alone, and all together, laid out and as rows that Spark shuffles, in turns, of
which the first is not counted: medians of the seconds, and of those of the processor, of this process and of all that
it started. All together should take at most 1.3 times as long as both alone. Writes build/skew.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import inside, traces
from benchmarks.measuring import processor_of_all
from benchmarks.workload import Workload, write
from precedes.traces import Notices
from precedes.traces.layout.conversion import convert


def large(events: int) -> Path:
    """One execution, named so that it comes last, of messages to four of fifty entities each."""
    workload = Workload(1, 50, events // 5, violations=0, sets=4)

    def make(path: Path) -> None:
        write(workload, str(path))
        table = pq.read_table(path)
        names = pa.array(["y"]).take(pa.array([0] * len(table)))
        pq.write_table(table.set_column(0, "execution", names), path)

    return traces.kept(f"large-{traces.name_of(workload)}.parquet", make)


def together(name: str, parts: list[Path]) -> Path:
    """One file of the rows of several."""
    return traces.kept(name, lambda path: pq.write_table(pa.concat_tables(map(pq.read_table, parts)), path))


def laid_out(name: str, parts: list[Path]) -> Path:
    """One laid-out file of several."""
    return traces.kept(name, lambda path: _convert(parts, path))


def _convert(parts: list[Path], path: Path) -> None:
    convert(parts, path, Notices())


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and those of the processor."""
    start, processor = time.perf_counter(), processor_of_all()
    run()
    return time.perf_counter() - start, processor_of_all() - processor


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the size")
    given = parser.parse_args()
    by = 50 if given.quick else 1
    one, many = large(5_000_000 // by), traces.plain(Workload(200_000 // by))
    from precedes.engines.spark.session import session

    spark = session("local[2]")
    prepared = inside.required("ST")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for way, file in (("columnar file", laid_out), ("shuffled", together)):
        runs = {}
        for what, parts in (("large", [one]), ("small", [many]), ("together", [many, one])):
            path = file(f"skew-{way.replace(' ', '-')}-{what}-{by}.parquet", parts)
            runs[what] = partial(inside.ours_on_spark, spark, path, prepared)
        turns = [{what: timed(run) for what, run in runs.items()} for _ in range(2 if given.quick else 4)][1:]
        found[way] = {
            what: {
                "seconds": statistics.median(turn[what][0] for turn in turns),
                "processor": statistics.median(turn[what][1] for turn in turns),
            }
            for what in runs
        }
        for what, medians in found[way].items():
            print(f"{way:<14}{what:<10}{medians['seconds']:>8.2f}{medians['processor']:>8.2f}", flush=True)
    spark.stop()
    document = {
        "events": {"large": pq.read_metadata(one).num_rows, "small": pq.read_metadata(many).num_rows},
        "load": os.getloadavg()[0],
        "found": found,
    }
    Path("build/skew.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
