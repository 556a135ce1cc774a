"""Whether executions are behaviors of a model: the same answers on Spark as in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import precedes

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

MODEL = """\
from dataclasses import dataclass
from typing import ClassVar

from precedes_models.cmd.protocol import Cmd


@dataclass(frozen=True)
class Own(Cmd):
    name: ClassVar[str] = "own"
"""


@pytest.fixture
def columnar(tmp_path: Path) -> Path:
    """As written, the protocol delivers what it has to hold back, in some executions."""
    path = tmp_path / "trace.parquet"
    precedes.simulate("cmd", path, as_written=True, executions=12)
    return path


def test_the_answers_are_those_of_this_process(spark: SparkSession, columnar: Path) -> None:
    ours = precedes.conform("cmd", str(columnar))
    assert ours.conforming
    assert ours.deviating
    theirs = precedes.conform("cmd", str(columnar), engine="spark")
    assert theirs.text() == ours.text()
    assert theirs.json() == ours.json()


@pytest.mark.slow
def test_every_way_gives_the_same_answers(spark: SparkSession, columnar: Path) -> None:
    """Rows that are shuffled, a DataFrame, and a model that is a file."""
    ours = precedes.conform("cmd", str(columnar))
    rows = columnar.with_name("trace.jsonl")
    precedes.write(precedes.read(columnar), rows)
    assert precedes.conform("cmd", str(rows), engine="spark").text() == ours.text()
    assert precedes.conform("cmd", spark.read.json(str(rows))).text() == ours.text()
    (columnar.parent / "own.py").write_text(MODEL, encoding="utf-8")
    own = precedes.conform(str(columnar.parent / "own.py"), str(columnar), engine="spark")
    assert (own.conforming, own.deviating) == (ours.conforming, ours.deviating)
