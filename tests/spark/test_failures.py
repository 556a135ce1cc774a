"""What goes wrong with Spark is told with a code and what to do, without a word of Java."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from precedes.engines.spark.failures import died_reading, failure
from tests.command.running import Ended, precedes
from tests.sampling import one_in

TRACE = Path(__file__).parents[2] / "traces/rabbitmq-fanout.jsonl.gz"

# ---- with what a cluster has been seen to say ---------------------------------------------------------------

JOB = (
    "Py4JJavaError: An error occurred while calling o54.collectToPython.\n: org.apache.spark.SparkException: "
)
TASK = f"{JOB}Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: "
LOST = TASK + "ExecutorLostFailure (executor {} exited caused by one of the running tasks) Reason: "
MISMATCH = (
    "Python in worker has different version: 3.12 than that in driver: 3.11, PySpark cannot run with that."
)
OLD = "PyArrow >= 18.0.0 must be installed; however, your version is 12.0.0."
TRACEBACK = 'Traceback (most recent call last):\n  File "/x/pyspark/worker.py", line 9, in main\n'
RAISED = f"PythonException: {TRACEBACK}"


@pytest.mark.parametrize(
    ("said", "code", "message"),
    [
        (
            f"{LOST.format(3)}Command exited with code 137\nDriver stacktrace:\n\tat org.apache.spark...",
            "K005",
            "executor 3 was ended, probably for lack of memory: Command exited with code 137",
        ),
        (
            f"{LOST.format(1)}Remote RPC client disassociated. Likely due to network issues.\nDriver stacktrace",
            "K004",
            "executor 1 was lost: Remote RPC client disassociated. Likely due to network issues.",
        ),
        (
            f"{TASK}Lost task 0.0: java.lang.OutOfMemoryError: Java heap space\n\tat java.base/java.util.Arrays",
            "K005",
            "Spark ran out of memory: Java heap space",
        ),
        (
            f"{TASK}{TRACEBACK}numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9.3 GiB for an array\n",
            "K005",
            "the Python of a worker ran out of memory: Unable to allocate 9.3 GiB for an array",
        ),
        (
            f"{TASK}{TRACEBACK}pyarrow.lib.ArrowMemoryError: malloc of size 64 failed\n",
            "K005",
            "the Python of a worker ran out of memory: malloc of size 64 failed",
        ),
        (
            f"{RAISED}pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] {MISMATCH}\n",
            "K003",
            "the workers run Python 3.12, but the driver runs Python 3.11",
        ),
        (
            f"{RAISED}AttributeError: Can't get attribute 'J' on <module 'precedes.engines.spark.tasks' from 'x'>\n",
            "K003",
            "the workers have another version of precedes.engines.spark.tasks",
        ),
        (
            f"{RAISED}pyspark.errors.exceptions.base.PySparkImportError: [UNSUPPORTED_PACKAGE_VERSION] {OLD}\n",
            "K003",
            f"the Python of a worker is not suitable: {OLD}",
        ),
        (
            f"{JOB}cancelled\n\tat org.apache\nCaused by: java.nio.ClosedChannelException: the door is shut\n\tat",
            "K006",
            "Spark failed: ClosedChannelException: the door is shut",
        ),
        (
            "Py4JNetworkError: Answer from Java side is empty",
            "K004",
            "the JVM of the driver ended in the middle of",
        ),
    ],
)
def test_what_spark_says_is_understood(said: str, code: str, message: str) -> None:
    told = failure(said, "", started=True)
    assert told.code == code
    assert told.message.startswith(message)
    assert told.hint
    assert "\n" not in told.message
    assert "\tat " not in told.message


@pytest.mark.parametrize(
    ("said", "log", "code", "message"),
    [
        (
            "PySparkRuntimeError: [JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.",
            "WARNING: Using incubator modules\nError: Unrecognized option: --nonsense\n\nUsage: spark-submit",
            "K002",
            "Spark did not start: Unrecognized option: --nonsense",
        ),
        (
            "Py4JJavaError: An error\n: java.net.BindException: bind(..) failed: Cannot assign",
            "",
            "K002",
            "the address of this machine cannot be used",
        ),
        (
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "ERROR DiskBlockManager: Failed to create local dir in /nowhere. Ignoring this directory.\n",
            "K002",
            "Spark cannot write its temporary files: Failed to create local dir in /nowhere.",
        ),
        (
            "Py4JNetworkError: Answer from Java side is empty",
            "ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All masters are unresponsive!",
            "K001",
            "the Spark master does not answer",
        ),
    ],
)
def test_what_spark_says_while_it_starts_is_understood(said: str, log: str, code: str, message: str) -> None:
    told = failure(said, log, started=False)
    assert told.code == code
    assert told.message.startswith(message)


def test_a_defect_in_a_worker_is_one() -> None:
    frame = '  File "/site-packages/precedes/engines/spark/tasks.py", line 120, in judged\n    x[y]\n'
    told = failure(f"PythonException: {TRACEBACK}{frame}KeyError: 'oops'\n", "", started=True)
    assert (told.code, told.message) == ("I001", "internal error in a worker of Spark: KeyError: 'oops'")


def test_what_the_jvm_wrote_does_not_explain_what_an_exception_says() -> None:
    told = failure(f"{JOB}a fault of its own", "java.lang.OutOfMemoryError: an hour ago", started=True)
    assert told.code == "K006"


# ---- before there is a session ------------------------------------------------------------------------------


def without_java(ended: Ended) -> None:
    """What was told has no stack, and is no internal error."""
    assert ended.code == 2
    assert ended.out == ""
    assert not {"\tat ", "Traceback", "I001", "Py4J"} & set(ended.err.split("\n"))
    assert "Exception in thread" not in ended.err
    assert len(ended.err.splitlines()) <= 3


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@pytest.mark.parametrize("masters", [1, 2])
def test_a_master_that_nobody_is(masters: int) -> None:
    addresses = ",".join(f"127.0.0.1:{free_port()}" for _ in range(masters))
    ended = precedes("verify", TRACE, "--require", "ST", "--master", f"spark://{addresses}")
    without_java(ended)
    assert ended.err.startswith("K001 no Spark master answers at 127.0.0.1:")
    ended = precedes("infer", TRACE, "--master", f"spark://{addresses}")
    assert ended.err.startswith("K001 ")
    ended = precedes(
        "simulate", "cmd", "--executions", 10, "-o", "t.parquet", "--master", f"spark://{addresses}"
    )
    assert ended.err.startswith("K001 ")


def test_standard_input_is_not_for_workers() -> None:
    ended = precedes("verify", "-", "--require", "ST", "--engine", "spark")
    assert (ended.code, ended.err.partition("\n")[0]) == (
        2,
        "U001 workers of Spark cannot read standard input",
    )


# ---- in a session whose workers are prepared -----------------------------------------------------------------

Prepare = Callable[[str], None]


@pytest.fixture
def workers(spark: SparkSession, tmp_path: Path) -> Iterator[Prepare]:
    """Gives the workers a Python that runs some lines first."""
    context = spark.sparkContext
    before = context.pythonExec

    def prepare(lines: str) -> None:
        (tmp_path / "sitecustomize.py").write_text(lines, encoding="utf-8")
        python = tmp_path / "python"
        python.write_text(
            f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n', encoding="utf-8"
        )
        python.chmod(0o755)
        context.pythonExec = str(python)

    yield prepare
    context.pythonExec = before


WITHOUT = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {module!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refuse())
"""
OTHER = """
import collections, sys
Version = collections.namedtuple("Version", "major minor micro releaselevel serial")
sys.version_info = Version(3, 99, 0, "final", 0)
"""
INSTEAD = """
import builtins, os
given = builtins.__import__
def imported(name, *rest, **named):
    if name == "precedes.traces.partition.shuffle":
        {instead}
    return given(name, *rest, **named)
builtins.__import__ = imported
"""


@pytest.mark.spark
@pytest.mark.skipif(os.name != "posix", reason="the Pythons here are shell scripts")
@pytest.mark.parametrize(
    ("lines", "code", "says"),
    [
        (WITHOUT.format(module="pyarrow"), "K003", "the Python of a worker has no pyarrow"),
        (WITHOUT.format(module="precedes"), "K003", "the Python of a worker has no precedes"),
        (WITHOUT.format(module="numpy"), "K003", "the Python of a worker has no numpy"),
        (
            "from precedes.core import version; version.VERSION = '0.0.9'",
            "K003",
            "a worker has precedes 0.0.9, but the driver",
        ),
        (
            OTHER,
            "K003",
            "the workers run Python 3.99, but the driver runs Python 3.",
        ),
        (INSTEAD.format(instead="raise MemoryError"), "K005", "the Python of a worker ran out of memory"),
        (
            INSTEAD.format(instead="os._exit(1)"),
            "K004",
            "the Python of a worker ended in the middle of its work",
        ),
        (
            INSTEAD.format(instead="os.kill(os.getpid(), 9)"),
            "K004",
            "the Python of a worker ended in the middle",
        ),
    ],
)
def test_a_worker_that_cannot(workers: Prepare, lines: str, code: str, says: str) -> None:
    workers(lines)
    ended = precedes("verify", TRACE, "--require", "ST", "--engine", "spark")
    without_java(ended)
    assert ended.err.startswith(f"{code} {says}")


DIES_READING = """
import builtins, os, sys
given = builtins.__import__
def imported(name, *rest, **named):
    module = given(name, *rest, **named)
    reader = sys.modules.get("precedes.traces.reader")
    if hasattr(reader, "canonical") and not hasattr(reader, "changed"):
        reader.changed = True
        def dies(*_):
            os.abort()
        given("precedes.traces.formats.json_lines", fromlist=["x"])._by_arrow = dies
    return module
builtins.__import__ = imported
"""


@pytest.mark.spark
@pytest.mark.skipif(os.name != "posix", reason="the Pythons here are shell scripts")
def test_a_worker_that_dies_reading_is_a_message_with_the_file(workers: Prepare) -> None:
    workers(DIES_READING)
    ended = precedes("verify", TRACE, "--require", "ST", "--engine", "spark")
    without_java(ended)
    assert ended.code == 2
    assert ended.err.startswith(f"{TRACE}: T019 reading this file ended a worker of Spark (Aborted)\n")


def test_a_worker_that_dies_otherwise_has_no_file_to_blame() -> None:
    crashed = "Python worker exited unexpectedly (crashed): Fatal Python error: Segmentation fault\n"
    inside = '  File "/x/precedes/engines/spark/tasks.py", line 7 in {}\n'
    task = "Job aborted due to stage failure: Task 3 in stage 1.0 failed 4 times\n"
    assert died_reading(task + crashed + inside.format("read")) == (3, "Segmentation fault")
    assert died_reading(task + crashed + inside.format("judged")) is None
    assert died_reading(task + "Python worker exited unexpectedly (crashed)\n") is None
    assert died_reading(crashed + inside.format("read")) is None


@pytest.mark.spark
def test_workers_without_a_python(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python")
    ended = precedes("verify", TRACE, "--require", "ST", "--engine", "spark")
    without_java(ended)
    assert ended.err.startswith("K003 the workers have no Python /nowhere/python")


@pytest.mark.spark
@pytest.mark.parametrize("missing", one_in(5, ["numba", "pandas", "lark", "z3", "click"]))
def test_a_worker_needs_no_more_than_it_is_said_to(workers: Prepare, missing: str) -> None:
    """numba is loaded for large shares only."""
    workers(WITHOUT.format(module=missing))
    assert precedes("verify", TRACE, "--require", "ST", "--engine", "spark").code == 1


@pytest.mark.spark
def test_another_pandas(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    monkeypatch.setattr(pd, "__version__", "1.0.0")
    ended = precedes("verify", TRACE, "--require", "ST", "--engine", "spark")
    without_java(ended)
    assert ended.err.startswith("K007 pyspark does not work with the installed packages:")
    assert "1.0.0" in ended.err


# ---- with a JVM of its own ----------------------------------------------------------------------------------


def command(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    """`precedes verify` on Spark, in a process and a group of its own."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    return subprocess.Popen(
        [sys.executable, "-m", "precedes", "verify", str(TRACE), "--require", "ST", *arguments],
        env=given | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=500)
    return Ended(process.returncode, out, err)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "environ", "says"),
    [
        (["--master", "nonsense"], {}, "K002 Master must either be yarn or start with spark, k8s, or local"),
        (
            ["--master", "yarn"],
            {},
            "K002 When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR",
        ),
        ([], {"SPARK_HOME": "/nowhere"}, "K002 Spark cannot be started: No such file or directory"),
        ([], {"SPARK_LOCAL_IP": "192.0.2.1"}, "K002 the address of this machine cannot be used"),
        ([], {"SPARK_LOCAL_DIRS": "/dev/null/nowhere"}, "K002 Spark cannot write its temporary files"),
        ([], {"SPARK_REMOTE": "sc://127.0.0.1:1"}, "K002 Spark did not start: "),
        (
            [],
            {"PYSPARK_SUBMIT_ARGS": "--driver-memory 100m pyspark-shell"},
            "K002 Spark did not start: SparkIllegalArgumentException: [INVALID_DRIVER_MEMORY",
        ),
        (
            [],
            {"PYSPARK_SUBMIT_ARGS": "--nonsense"},
            "K002 Spark did not start: Unrecognized option: --nonsense",
        ),
    ],
)
def test_a_session_that_cannot_start(arguments: list[str], environ: dict[str, str], says: str) -> None:
    told = ended(command("--engine", "spark", *arguments, **environ))
    without_java(told)
    assert told.err.startswith(says)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
@pytest.mark.parametrize("when", ["starting", "working"])
def test_an_interrupt(tmp_path: Path, when: str) -> None:
    reached = tmp_path / "reached"
    waiting = INSTEAD.format(instead=f"open({str(reached)!r}, 'w').close(); import time; time.sleep(60)")
    (tmp_path / "sitecustomize.py").write_text(waiting, encoding="utf-8")
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    process = command("--master", "local[1]", PYSPARK_PYTHON=str(python))
    while process.poll() is None and not (reached.exists() if when == "working" else children(process.pid)):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    told = ended(process)
    without_java(told)
    assert told.err.startswith("K008 interrupted: the Spark job was canceled")
    for _ in range(600):
        if not children(process.pid):
            break
        time.sleep(0.1)
    assert not children(process.pid), "a JVM is left"


def children(group: int) -> list[str]:
    """The JVMs in a group of processes."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pgid=,stat=,comm="], capture_output=True, text=True, check=True
    )
    rows = (line.split(None, 2) for line in listed.stdout.splitlines())
    return [
        name
        for pgid, stat, name in rows
        if int(pgid) == group and "java" in name and not stat.startswith("Z")
    ]
