"""The recipe of docs/how-to/spark-cluster.md: the wheel as an archive, for a driver and workers without precedes."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from tests.command.documents import blocks

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(os.name != "posix", reason="spark-submit and the Python here are shell scripts"),
]

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "docs/how-to/spark-cluster.md"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with all packages of this one, but without this project."""
    import pyspark

    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    # Folders that are named so are on the path, and what links stand in them is not followed.
    (site / "packages.pth").write_text(f"{Path(pyspark.__file__).parents[1]}\n", encoding="utf-8")
    python = folder / "bin" / "python"
    found = subprocess.run(
        [python, "-c", "import pyspark, lark; import precedes"], capture_output=True, text=True, check=False
    )
    assert "No module named 'precedes'" in found.stderr
    return python


def block(name: str) -> str:
    """A file that the recipe shows."""
    (found,) = [one.body for one in blocks(RECIPE) if (one.mark, one.value) == ("file", name)]
    return found


def submitted(python: Path, folder: Path, *arguments: str) -> str:
    """What a program prints that `spark-submit` runs."""
    import pyspark

    from precedes.engines.spark.java import find_java

    home = Path(pyspark.__file__).parent
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SPARK", "PYSPARK", "PYTHON"))
    }
    java = find_java().home
    environ |= {} if java is None else {"JAVA_HOME": str(java)}
    environ |= {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
    }
    (folder / "traces").symlink_to(ROOT / "traces")
    ended = subprocess.run(
        [home / "bin" / "spark-submit", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended.stdout


def verdicts(printed: str) -> list[str]:
    """The rows of the table."""
    return [line.replace(" ", "") for line in printed.splitlines() if line.startswith("|rabbitmq")]


EXPECTED = ["|rabbitmq-fanout-018|ST|", "|rabbitmq-fanout-018|order_equivalent|"]


@pytest.mark.slow
def test_the_archive_goes_along_with_a_program(bare: Path, wheel: Path, tmp_path: Path) -> None:
    shutil.copy(wheel, tmp_path / "precedes.zip")
    (tmp_path / "judge.py").write_text(block("judge.py"), encoding="utf-8")
    printed = submitted(bare, tmp_path, "--py-files", "precedes.zip", "judge.py")
    shown = [row.rpartition("|")[0].rpartition("|")[0] + "|" for row in verdicts(printed)]
    assert shown[:2] == EXPECTED


ON_WORKERS = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.config("spark.sql.shuffle.partitions", 2).getOrCreate()
spark.sparkContext.addPyFile("precedes.zip")
import precedes
assert "precedes.zip" in precedes.__file__, precedes.__file__
from precedes.spark import verify

events = spark.read.json(str(Path("traces/rabbitmq-fanout.jsonl.gz").resolve()))
verify(events, require=["ST", "causal_order"]).where("verdict = 'violated'").select(
    "execution", "predicate"
).show(truncate=False)
"""


@pytest.mark.slow
@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_a_session_adds_the_archive(bare: Path, wheel: Path, tmp_path: Path, master: str) -> None:
    """The workers of a local cluster are processes of their own, with folders of their own."""
    shutil.copy(wheel, tmp_path / "precedes.zip")
    (tmp_path / "judge.py").write_text(ON_WORKERS, encoding="utf-8")
    assert verdicts(submitted(bare, tmp_path, "--master", master, "judge.py")) == EXPECTED


@pytest.mark.slow
def test_the_archive_goes_along_to_a_cluster(bare: Path, wheel: Path, tmp_path: Path) -> None:
    shutil.copy(wheel, tmp_path / "precedes.zip")
    program = ON_WORKERS.replace('spark.sparkContext.addPyFile("precedes.zip")', "")
    (tmp_path / "judge.py").write_text(program, encoding="utf-8")
    master = ("--master", "local-cluster[2,1,1024]")
    assert verdicts(submitted(bare, tmp_path, *master, "--py-files", "precedes.zip", "judge.py")) == EXPECTED
