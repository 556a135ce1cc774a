"""What a cluster does to a job: tasks fail and are run again, slow ones run twice, executors come and go. All the same,
each verdict is written once.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

from tests.spark.test_submitted import environ

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="spark-submit is a shell script"),
]

HOME = Path(pyspark.__file__).parent

JOB = """
import json, sys, time
from pathlib import Path

from pyspark.sql import SparkSession

from precedes.engines.spark import frames
from precedes.spark import daily

spark = SparkSession.builder.getOrCreate()
judge_rows = frames.judge_rows
noted, slow = Path("attempts").resolve(), "--slow" in sys.argv


def unlucky(judging, *, violations=False):
    work = judge_rows(judging, violations=violations)

    def judged(records):
        from pyspark import TaskContext

        task = TaskContext.get()
        place, attempt = task.partitionId(), task.attemptNumber()
        for record in work(records):
            yield record
            (noted / f"{place}-{attempt}").touch()
            if attempt == 0 and place == 0:
                raise RuntimeError("this task is lost after it has written rows")
            if attempt == 0 and place == 1 and slow:
                time.sleep(600)

    return judged


frames.judge_rows = unlucky
events = spark.read.json("events.json", schema="execution int, entity string, seq int, event string, "
                         "message string, dest array<string>, day string")
run = daily(events, "order_equivalent", into=str(Path("verdicts").resolve()), by="day")
rows = [(r.execution, r.verdict) for r in spark.read.parquet("verdicts").collect()]
seen = [r.execution for r in spark.read.parquet("verdicts_seen").collect()]
print(json.dumps({"rows": sorted(rows), "seen": sorted(seen), "text": run.text().splitlines()[1:]}))
"""

PLAIN = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    # Else so few rows would be one task.
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
}
DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.initialExecutors": "1",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
    "spark.dynamicAllocation.executorIdleTimeout": "1s",
}


def events(folder: Path) -> None:
    """Forty executions, every fourth of which violates what is asked."""
    lines = []
    for x in range(40):
        orders = {"B": ("p", "q"), "C": ("q", "p") if x % 4 == 0 else ("p", "q")}
        rows = [("A", 0, "send", "p", '["B", "C"]'), ("D", 0, "send", "q", '["B", "C"]')]
        rows += [
            (who, k, "deliver", message, "null")
            for who, log in orders.items()
            for k, message in enumerate(log)
        ]
        lines += [
            f'{{"execution": {x}, "entity": "{who}", "seq": {k}, "event": "{event}", "message": "{message}",'
            f' "dest": {dest}, "day": "mon"}}\n'
            for who, k, event, message, dest in rows
        ]
    (folder / "events.json").write_text("".join(lines), encoding="utf-8")
    (folder / "attempts").mkdir()
    (folder / "job.py").write_text(JOB, encoding="utf-8")


def judged(folder: Path, master: str, settings: dict[str, str], *words: str) -> str:
    """The last line that the job prints."""
    told = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [HOME / "bin/spark-submit", "--master", master, *told, "job.py", *words]
    ended = subprocess.run(
        command, cwd=folder, env=environ(HOME), capture_output=True, text=True, check=False, timeout=1500
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended.stdout.splitlines()[-1]


EXPECTED = {str(x): "violated" if x % 4 == 0 else "holds" for x in range(40)}


def check(printed: str) -> None:
    """Every execution has one verdict, the right one."""
    found = json.loads(printed)
    assert found["rows"] == sorted([name, verdict] for name, verdict in EXPECTED.items())
    assert found["seen"] == sorted(EXPECTED)
    assert found["text"] == ["mon  order_equivalent: 30 hold, 10 violated, 0 unknown"]


@pytest.mark.parametrize("settings", [{}, DYNAMIC], ids=["fixed", "dynamic allocation"])
def test_a_task_that_is_retried_writes_its_verdicts_once(tmp_path: Path, settings: dict[str, str]) -> None:
    events(tmp_path)
    check(judged(tmp_path, "local-cluster[2,1,1024]", PLAIN | settings))
    assert {"0-0", "0-1"} <= {path.name for path in (tmp_path / "attempts").iterdir()}


def test_a_task_that_runs_twice_writes_its_verdicts_once(tmp_path: Path) -> None:
    """Spark runs a slow task again on another host only, so here each of two workers has an address of its own."""
    events(tmp_path)
    with standalone(tmp_path) as master:
        check(judged(tmp_path, master, PLAIN | SPECULATION, "--slow"))
    assert {"0-0", "0-1", "1-0", "1-1"} <= {path.name for path in (tmp_path / "attempts").iterdir()}


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and two workers on loopback, which work in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    with ExitStack() as stack:
        shared = ("--webui-port", "0")
        _started(stack, f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), *shared)
        _wait_for(port)
        for host in ("127.0.0.1", "127.0.0.2"):
            worker = (
                "--host",
                host,
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(folder / host),
                *shared,
                master,
            )
            _started(stack, f"{deploy}.worker.Worker", *worker)
        yield master


def _started(stack: ExitStack, *words: str) -> None:
    process = subprocess.Popen(
        [HOME / "bin/spark-class", *words],
        env=environ(HOME) | {"SPARK_NO_DAEMONIZE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)


def _wait_for(port: int) -> None:
    """Until somebody listens, a minute at most."""
    for _ in range(600):
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the master does not start")
