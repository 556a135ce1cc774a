"""A session of Spark Connect: the client is a process without a JVM, and hears nothing of workers but rows."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

from precedes.core.diagnostics import PrecedesError
from precedes.engines.spark.entrance import entered
from precedes.engines.spark.messages import WorkerMessages
from tests.spark.test_behaviors import MODEL
from tests.spark.test_submitted import environ

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CLIENT = """
import json, sys
from pathlib import Path

from pyspark.sql import SparkSession, functions

import precedes
from precedes.spark import daily, latest, register, verify, violations, watch

spark = SparkSession.builder.remote(sys.argv[3]).config("spark.sql.shuffle.partitions", "2").getOrCreate()
assert "connect" in type(spark).__module__
folder, trace = Path(sys.argv[1]), sys.argv[2]
rows = spark.createDataFrame(
    [(1, who, k, event, message, ["B", "C"] if event == "send" else None)
     for who, k, event, message in [
         ("A", 0, "send", "a"), ("D", 0, "send", "d"), ("B", 0, "deliver", "a"), ("B", 1, "deliver", "d"),
         ("C", 0, "deliver", "d"), ("C", 1, "deliver", "a")]],
    "execution int, entity string, seq int, event string, id string, dest array<string>")
events = rows.withColumnRenamed("id", "message")
broken = events.withColumn("event", events.event.substr(1, 3))
asked = "order_equivalent"


def mistake(action):
    try:
        action()
    except precedes.PrecedesError as error:
        return error.diagnostics[0].code, error.diagnostics[0].message
    return None


def days():
    frame = events.withColumn("day", functions.lit("mon"))
    runs = [daily(frame, asked, into=f"{folder}/verdicts", by="day") for _ in range(2)]
    kept = latest(spark.read.parquet(f"{folder}/verdicts")).collect()
    return [run.exit_code for run in runs], [row.verdict for row in kept]


def stream():
    source = f"{folder}/stream"
    moment = functions.lit("2026-01-01 00:00:00").cast("timestamp")
    events.withColumn("time", moment).write.parquet(source)
    read = spark.readStream.schema(spark.read.parquet(source).schema).parquet(source)
    told = watch(read, asked, idle="1 minute").writeStream.format("parquet")
    told = told.option("path", f"{folder}/standings").option("checkpointLocation", f"{folder}/checkpoint")
    told.trigger(availableNow=True).start().awaitTermination()
    return [row.standing for row in spark.read.parquet(f"{folder}/standings").collect()]


def conformed():
    found = [precedes.conform(model, events, entities=4) for model in ("cmd", f"{folder}/own.py")]
    return [[one.conforming, one.deviating] for one in found]


def read():
    register(spark)
    return spark.read.format("precedes").load(trace).count()


for name, ask in {
    "verify": lambda: [row.verdict for row in verify(rows, asked, columns={"message": "id"}).collect()],
    "plain": lambda: [row.verdict for row in verify(events, asked).collect()],
    "violations": lambda: [row.messages for row in violations(events, asked).collect()],
    "report": lambda: precedes.verify(events, asked).verdict.value,
    "bad row": lambda: mistake(lambda: precedes.verify(broken, asked)),
    "bad column": lambda: mistake(lambda: verify(rows, asked, columns={"message": "idd"})),
    "read": read,
    "conform": conformed,
    "infer": lambda: "order_equivalent" in precedes.infer(events).broken,
    "daily": days,
    "watch": stream,
}.items():
    print(json.dumps([name, ask()]), flush=True)
spark.stop()
"""


@pytest.fixture(params=["local[2]", "a server"])
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a client finds Spark: a server that it starts itself, or one that was started as on a cluster."""
    if request.param != "a server":
        yield request.param
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(pyspark.__file__).parent
    kept = {"SPARK_LOG_DIR": str(tmp_path / "logs"), "SPARK_PID_DIR": str(tmp_path / "pids")}
    settings = {
        "spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 2
    }  # fmt: skip
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]

    def control(action: str, *words: str) -> None:
        script = ["bash", str(home / "sbin" / f"{action}-connect-server.sh"), *words]
        subprocess.run(script, env=environ(home) | kept, cwd=tmp_path, check=True, capture_output=True)

    control("start", "--master", "local[2]", *options)
    try:
        yield f"sc://127.0.0.1:{port}"
    finally:
        control("stop")


@pytest.mark.slow
def test_a_client_has_the_same_answers(tmp_path: Path, remote: str) -> None:
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    (tmp_path / "own.py").write_text(MODEL, encoding="utf-8")
    trace = Path(__file__).parents[2] / "traces/rabbitmq-fanout.jsonl.gz"
    ended = subprocess.run(
        [sys.executable, "client.py", tmp_path, trace, remote],
        cwd=tmp_path,
        env=environ(Path(pyspark.__file__).parent),
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    assert dict(map(json.loads, ended.stdout.splitlines())) == {
        "verify": ["violated"],
        "plain": ["violated"],
        "violations": [["a", "d"]],
        "report": "violated",
        "conform": [[1, 0], [1, 0]],
        "infer": True,
        "daily": [[1, 3], ["violated"]],
        "watch": ["violated"],
        "read": 3600,
        "bad row": ["T013", '`event` is "sen"'],
        "bad column": ["U001", "`message` reads the column idd, which the DataFrame does not have"],
    }


CLIENT_ALONE = """
import sys


class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "py4j" or name.startswith("pyspark.core"):
            raise ImportError(f"{name} is not in pyspark-client")


sys.meta_path.insert(0, Refused())
from pyspark.util import is_remote_only

assert is_remote_only()
import precedes.spark
from precedes.engines.spark import carried_work, daily, daily_run, data_source, frames, live
"""


def test_the_client_alone_is_enough() -> None:
    """The package `pyspark-client` has neither py4j nor what stands in `pyspark.core`."""
    ended = subprocess.run(
        [sys.executable, "-c", CLIENT_ALONE], capture_output=True, text=True, check=False, timeout=300
    )
    assert ended.returncode == 0, ended.stderr[-2000:]


def test_a_server_is_no_master() -> None:
    """The command needs a session in its own process."""
    with pytest.raises(PrecedesError, match="is a server of Spark Connect") as raised, entered("sc://there"):
        pass
    assert raised.value.diagnostics[0].code == "U001"


def test_what_needs_a_context_says_so(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    """As a session of Spark Connect does, which has no context."""

    def refuse(_: SparkSession) -> None:
        raise PySparkAttributeError(
            errorClass="JVM_ATTRIBUTE_NOT_SUPPORTED", messageParameters={"attr_name": "sparkContext"}
        )

    monkeypatch.setattr(type(spark), "sparkContext", property(refuse))
    with pytest.raises(PrecedesError, match="Spark Connect has none") as raised:
        WorkerMessages(spark)
    monkeypatch.undo()
    assert raised.value.diagnostics[0].code == "U001"
