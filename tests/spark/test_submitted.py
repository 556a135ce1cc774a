"""The jobs of docs/how-to/daily-job.md as a scheduler starts them: with `spark-submit`, one after the other."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from precedes.engines.spark.java import JavaNotFoundError, find_java
from tests.command.documents import ROOT, Run, carry_out

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="spark-submit is a shell script"),
]


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_the_daily_job(tmp_path: Path, master: str) -> None:
    """The workers of a local cluster are processes of their own, with folders of their own."""

    def submitted(one: Run, folder: Path) -> tuple[int, str]:
        python, program, *words = shlex.split(one.command)
        assert python == "python"
        home = Path(pyspark.__file__).parent
        job = [home / "bin" / "spark-submit", "--master", master, "--conf", "spark.ui.enabled=false", program]
        started = [sys.executable, program] if program == "make_days.py" else job
        ended = subprocess.run(
            [*started, *words], cwd=folder, env=environ(home), capture_output=True, text=True, check=False
        )
        # The log of Spark is on the other stream.
        return ended.returncode, ended.stdout if ended.returncode != 2 else ended.stderr[-4000:]

    carry_out(ROOT / "docs/how-to/daily-job.md", tmp_path, submitted)
    assert 'verdict="violated"} 1' in (tmp_path / "precedes.prom").read_text(encoding="utf-8")


def environ(home: Path) -> dict[str, str]:
    """What a job finds: this Python, Java, and the packages of this process."""
    try:
        java = find_java().home
    except JavaNotFoundError as error:
        pytest.skip(str(error))
    given = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "PYSPARK"))}
    given |= {} if java is None else {"JAVA_HOME": str(java)}
    return given | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
    }
