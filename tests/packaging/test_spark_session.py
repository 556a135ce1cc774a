"""The Spark session of the tests starts on the Java that was found, and Arrow reaches its Python workers."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from precedes.engines.spark.java import OLDEST

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_arrow_batches_pass_through_workers_of_this_python(spark: "SparkSession") -> None:
    def describe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows], "python": [sys.executable]})

    described = (
        spark.range(0, 1000, numPartitions=4).mapInArrow(describe, "rows long, python string").collect()
    )
    assert sum(row["rows"] for row in described) == 1000
    assert {row["python"] for row in described} == {sys.executable}


def test_the_java_is_new_enough(spark: "SparkSession") -> None:
    asked = "select java_method('java.lang.System', 'getProperty', 'java.specification.version') as version"
    (row,) = spark.sql(asked).collect()
    assert int(row["version"]) >= OLDEST
