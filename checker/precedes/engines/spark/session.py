"""The Spark session of the command: the user's master, and no more noise than an error."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import ExitStack
from functools import cache
from importlib.resources import as_file, files

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from precedes.engines.java import use_java

FAILURES = (Py4JError, PySparkException, ConnectionError, EOFError)
"""What Spark raises on the driver: exceptions of the JVM, of its own, and of the way to a JVM that is gone."""


def running() -> bool:
    """Whether this process has a JVM already, its own or that of `spark-submit`."""
    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def session(master: str | None) -> SparkSession:
    """The running session, or a new one on `master` (local[*] where none is given)."""
    use_java()
    # Workers must be this interpreter: another Python would lack this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("precedes")
    builder = builder.master(master or "local[*]")
    for key, value in (*_SETTINGS.items(), ("spark.driver.extraJavaOptions", _logging())):
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


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


_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A worker that is kept has its kernels loaded.
    "spark.python.worker.reuse": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
}
