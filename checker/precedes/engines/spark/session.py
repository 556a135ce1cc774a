"""The Spark session of the command: the user's master, and no more noise than an error."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from precedes.engines.java import use_java


def session(master: str | None) -> SparkSession:
    """The running session, or a new one on `master` (local[*] where none is given)."""
    use_java()
    # Workers must be this interpreter: another Python would lack this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("precedes")
    builder = builder.master(master or "local[*]")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


_SETTINGS = {
    # Quiet from the first line on: setLogLevel comes too late for what the JVM says while it starts.
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A worker that is kept has its kernels loaded.
    "spark.python.worker.reuse": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
}
