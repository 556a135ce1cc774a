"""The Spark session of the command: the user's master, and no more noise than an error."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from types import FrameType
from typing import Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from precedes.engines.spark.java import use_java

FAILURES: Final = (Py4JError, PySparkException, ConnectionError, EOFError)
"""What Spark raises on the driver: exceptions of the JVM, of its own, and of the way to a JVM that is gone."""

_GRACE: Final = 5.0
"""Seconds for a job to be canceled."""

_SETTINGS: Final = {
    "spark.app.name": "precedes",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A worker that is kept has its kernels loaded.
    "spark.python.worker.reuse": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    # A worker that machine code ends says what it was doing.
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
}


def session(master: str | None, log: Path | None = None) -> SparkSession:
    """The running session, or a new one on `master` (local[*] where none is given).

    What a JVM that is started writes goes to `log`, if there is one.
    """
    if SparkContext._active_spark_context is None:
        _start(master or "local[*]", log)
    builder = SparkSession.builder
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _start(master: str, log: Path | None) -> None:
    use_java()
    # Workers must be this interpreter: another Python would lack this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setMaster(master).set("spark.driver.extraJavaOptions", _logging())
    conf.setAll(list(_SETTINGS.items()))
    gateway = None
    if SparkContext._gateway is None:
        with ExitStack() as stack:
            written = (
                {}
                if log is None
                else dict.fromkeys(("stdout", "stderr"), stack.enter_context(log.open("ab")))
            )
            # A JVM whose driver leaves before it is known to it stays for ever.
            stack.enter_context(interrupts_deferred())
            gateway = launch_gateway(conf, written)  # type: ignore[no-untyped-call]
    before = signal.getsignal(signal.SIGINT)
    SparkContext(conf=conf, gateway=gateway)
    if threading.current_thread() is threading.main_thread():
        # Spark's own handler asks the JVM in the midst of another question to it.
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """An interrupt within is raised at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        noted.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if noted:
        raise KeyboardInterrupt


def cancel() -> None:
    """Cancel what runs, from a thread of its own: the connection of this one was interrupted."""
    context = SparkContext._active_spark_context
    if context is None:
        return

    def ask() -> None:
        with suppress(*FAILURES):
            context.cancelAllJobs()

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_GRACE)


def text_of(error: BaseException) -> str:
    """What an exception says. Some ask their JVM for it, which may be gone."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - whatever happens on the way to the JVM
        return f"{type(error).__name__}: {error.args[0] if error.args else ''}"


@cache
def _logging() -> str:
    """The option that makes the JVM quiet from its first line on: setLogLevel comes too late for that."""
    stack = ExitStack()
    atexit.register(stack.close)
    settings = stack.enter_context(as_file(files("precedes.engines.spark").joinpath("log4j2.properties")))
    return f"-Dlog4j2.configurationFile={settings}"
