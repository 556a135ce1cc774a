"""The daily job on a large table: `python -m benchmarks.daily [--events N] [--master M]`.

A table divided by day as Hive writes it, with other columns than a trace: two days with N events together (20 million),
then a third day, whose first rows belong to executions of the second one. The program of docs/how-to/daily-job.md is
started with `spark-submit` after the second day, after the third, and once more with nothing new. Prints what each run
took: seconds, those of the processor of all its processes together, and the peak memory of all of them; writes
build/daily.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark

from benchmarks.measuring import processor_of_all, resident_of_all
from benchmarks.workload import Workload, rows, table
from precedes.engines.spark.java import find_java

PAGE = Path(__file__).parents[1] / "docs/how-to/daily-job.md"
EVENTS_OF_AN_EXECUTION = 25.1
"""About: of the workload of `python -m benchmarks`."""

DAYS = ("2026-03-02", "2026-03-03", "2026-03-04")
LATE = 1000
"""Executions whose last rows come a day later."""

ROWS_OF_A_FILE = 2_000_000


def job(folder: Path) -> Path:
    """The program that the page shows, as a file."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- file: daily_job.py -->\n```python\n")
    program, end, _ = rest.partition("```\n")
    if not end:
        raise RuntimeError(f"{PAGE} shows no daily_job.py")
    path = folder / "daily_job.py"
    path.write_text(program, encoding="utf-8")
    return path


def orders(day: int, executions: int) -> pa.Table:
    """The orders of a day: the workload under the names of the page, the rows in the order of time."""
    workload = Workload(executions, seed=day, order="time")
    made = table(workload, rows(workload))
    return pa.table(
        {
            "order_id": pc.binary_join_element_wise(f"{day}-", made["execution"], ""),
            "service": made["entity"],
            "step": made["seq"],
            "action": pc.if_else(pc.equal(made["event"], "send"), "publish", "consume"),
            "msg": made["message"],
            "receivers": made["dest"],
            "at": made["time"],
        }
    )


def written(rows_of_day: pa.Table, folder: Path, day: str) -> None:
    """A partition of the table."""
    target = folder / f"day={day}"
    target.mkdir(parents=True, exist_ok=True)
    for k, start in enumerate(range(0, len(rows_of_day), ROWS_OF_A_FILE)):
        part = rows_of_day.slice(start, ROWS_OF_A_FILE)
        pq.write_table(part, target / f"part-{len(list(target.iterdir())):05}-{k}.parquet")


def late(rows_of_day: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of a day that come in time, and those that come a day later: the ends of some executions."""
    names = pc.unique(rows_of_day["order_id"]).slice(0, LATE)
    last = pc.and_(
        pc.is_in(rows_of_day["order_id"], names), pc.equal(rows_of_day["service"], pa.scalar("E4"))
    )
    return rows_of_day.filter(pc.invert(last)), rows_of_day.filter(last)


def submitted(folder: Path, master: str, program: Path) -> dict[str, Any]:
    """One run of the job: what it printed and what it took."""
    home = Path(pyspark.__file__).parent
    java = find_java().home
    environ = dict(os.environ) | ({} if java is None else {"JAVA_HOME": str(java)})
    environ |= {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    settings = ("--conf", "spark.ui.enabled=false", "--conf", "spark.driver.memory=2g")
    command = [home / "bin/spark-submit", "--master", master, *settings, program.name]
    peak: list[float] = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1):
            peak.append(resident_of_all())

    watching = threading.Thread(target=watch)
    watching.start()
    start, processor = time.perf_counter(), processor_of_all()
    ended = subprocess.run(
        [*command, "events", "./verdicts", "precedes.prom"],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    done.set()
    watching.join()
    if ended.returncode == 2:
        raise RuntimeError(ended.stderr[-4000:])
    return {
        "seconds": seconds,
        "processor": processor_of_all() - processor,
        "peak_mib": max(peak),
        "load": os.getloadavg()[0],
        "exit_code": ended.returncode,
        "printed": ended.stdout.splitlines(),
    }


def runs(folder: Path, executions: int, master: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The runs, each with the rows that the table has."""
    program = job(folder)
    events = folder / "events"
    first = orders(1, executions)
    written(first, events, DAYS[0])
    in_time, after = late(orders(2, executions))
    written(in_time, events, DAYS[1])
    count = len(first) + len(in_time)
    del first, in_time
    yield "the first two days", count, submitted(folder, master, program)
    third = orders(3, executions)
    written(third, events, DAYS[2])
    written(after, events, DAYS[2])
    count += len(third) + len(after)
    del third
    yield "the third day, with late rows of the second", count, submitted(folder, master, program)
    yield "nothing new", count, submitted(folder, master, program)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=20_000_000, help="of the first two days together")
    parser.add_argument("--master", default="local-cluster[2,1,2048]")
    given = parser.parse_args()
    executions = int(given.events / EVENTS_OF_AN_EXECUTION / 2)
    found = []
    with tempfile.TemporaryDirectory(prefix="daily-") as name:
        for what, count, run in runs(Path(name), executions, given.master):
            found.append({"what": what, "rows": count, "master": given.master, **run})
            print(json.dumps(found[-1], indent=1), flush=True)
        print((Path(name) / "precedes.prom").read_text(encoding="utf-8"))
    written_to = Path("build/daily.json")
    written_to.parent.mkdir(exist_ok=True)
    written_to.write_text(json.dumps({"runs": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
