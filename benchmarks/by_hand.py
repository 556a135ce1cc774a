"""What engineers write themselves, beside precedes: `python -m benchmarks.by_hand [--executions N] [--only PART]`.

The causal names against vector clocks in Python on PySpark (`benchmarks.vector_clocks`), the names of order against
window functions in Spark SQL and in DuckDB (`benchmarks.sql`). Both sides have the same rows, the trace in Parquet as
it comes, and give the executions that violate the name, which are compared before times are. In turns, the first turn
is not counted. Seconds of the processor are those of this process and of all that it started: the JVM and its workers.
Writes build/by_hand.json, where what is measured anew takes the place of what was there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import inside, sql, traces, vector_clocks
from benchmarks.measuring import processor_of_all
from benchmarks.workload import Workload
from precedes.spark import verify

Violators = Callable[[], set[str]]

CAUSAL = {"causal_order": ("causal_order",), "CO": ("causal_order", "no_creation", "no_duplication")}
"""The requirement of CMD, and the service, which asks for both halves of integrity, too."""

JOBS = {vector_clocks.with_map: "`mapInPandas`", vector_clocks.with_apply: "`applyInPandas`"}


@dataclass(frozen=True, slots=True)
class Side:
    """Medians: seconds, and seconds of the processor."""

    seconds: float
    processor: float


@dataclass(frozen=True, slots=True)
class Compared:
    """One name, ours and theirs: how they judge, and what it took."""

    name: str
    executions: int
    ours: str
    theirs: str
    our: Side
    their: Side
    load: float


def ours_on_spark(spark: Any, path: Path, name: str) -> set[str]:
    """By `precedes.spark.verify`."""
    verdicts = verify(spark.read.parquet(str(path)), name, all_verdicts=False)
    found = verdicts.where(f"predicate = '{name}' and verdict = 'violated'").select("execution").collect()
    return {row.execution for row in found}


def vector_clocks_on_spark(spark: Any, path: Path, job: Any, names: tuple[str, ...]) -> set[str]:
    """By the job in Python."""
    verdicts = job(spark.read.parquet(str(path)))
    broken = " or ".join(f"not {name}" for name in names)
    return {row.execution for row in verdicts.where(broken).select("execution").collect()}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ways to judge a name."""

    name: str
    ours: str
    theirs: str
    judge: Violators
    judge_otherwise: Violators


def pairs(spark: Any, path: Path) -> Iterator[Pair]:
    """What is compared."""
    for name, names in CAUSAL.items():
        mine = partial(ours_on_spark, spark, path, name)
        for job in (vector_clocks.with_map, vector_clocks.with_apply):
            theirs = f"vector clocks, {JOBS[job]}"
            other = partial(vector_clocks_on_spark, spark, path, job, names)
            yield Pair(name, "Spark", theirs, mine, other)
    for name in ("ST", *sql.VIOLATORS):
        mine = partial(ours_on_spark, spark, path, name)
        yield Pair(name, "Spark", "Spark SQL", mine, partial(sql.by_spark, spark, path, name, sql.TEXTS))
        mine = partial(inside.violators, path, inside.required(name), name)
        yield Pair(name, "in-process", "DuckDB", mine, partial(sql.by_duckdb, path, name, sql.TEXTS))


def measured(pair: Pair, executions: int, times: int) -> Compared:
    """Both in turns. RuntimeError if they find different executions."""
    turns = [(_timed(pair.judge), _timed(pair.judge_otherwise)) for _ in range(times + 1)]
    for (found, _), (expected, _) in turns:
        if found != expected:
            said = f"{pair.name}, {pair.theirs}: {len(found ^ expected)} executions are judged otherwise"
            raise RuntimeError(said)
    counted = turns[1:] or turns
    ours, theirs = (_medians([turn[side][1] for turn in counted]) for side in (0, 1))
    return Compared(pair.name, executions, pair.ours, pair.theirs, ours, theirs, os.getloadavg()[0])


def _medians(sides: Sequence[Side]) -> Side:
    return Side(
        statistics.median(side.seconds for side in sides), statistics.median(side.processor for side in sides)
    )


def _timed(action: Violators) -> tuple[set[str], Side]:
    start, processor = time.perf_counter(), processor_of_all()
    found = action()
    return found, Side(time.perf_counter() - start, processor_of_all() - processor)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=3, help="turns that count; 0: the first one does")
    parser.add_argument("--only", default="", help="a part of the name, or of what it is compared with")
    given = parser.parse_args()
    from precedes.engines.spark.session import session

    spark = session("local[2]")
    written = Path("build/by_hand.json")
    written.parent.mkdir(exist_ok=True)
    rows = {}
    if written.exists():
        for row in json.loads(written.read_text(encoding="utf-8"))["rows"]:
            rows[row["executions"], row["name"], row["theirs"]] = row
    path = traces.plain(Workload(given.executions))
    for pair in pairs(spark, path):
        if given.only not in f"{pair.name} {pair.theirs}":
            continue
        one = measured(pair, given.executions, given.times)
        print(
            f"{one.name:<36}{one.theirs:<32}{one.our.seconds:>8.2f}{one.their.seconds:>8.2f}"
            f"{one.our.processor:>8.2f}{one.their.processor:>8.2f}  load {one.load:.1f}",
            flush=True,
        )
        rows[one.executions, one.name, one.theirs] = asdict(one)
        written.write_text(json.dumps({"rows": list(rows.values())}, indent=1) + "\n", encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
