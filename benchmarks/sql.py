"""ST in SQL: the names of the executions that violate it, by window functions over a file of integers.

The file has execution, entity, seq, event (0 send, 1 deliver), message and dest (a list), so that the engines
compare and sort integers only. It is right for traces such as the workload's: complete, every message sent once
and delivered once at an entity.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workload import Workload, rows

ROWS: Final = """
with events as ({events}),
sends as (select execution, entity as sender, seq as sent, message, dest from events where event = 0),
deliveries as (select execution, entity, seq, message from events where event = 1),
ordered as (
  select execution, sent, lag(sent) over (partition by execution, entity, sender order by seq) as earlier
  from deliveries join sends using (execution, message)),
addressed as (select execution, message, {explode} as entity from sends),
informed as (
  select execution, message, entity, 1 as owed from addressed
  union all select execution, message, entity, -1 as owed from deliveries),
pairs as (
  select l.execution, m.seq as place,
    lag(m.seq) over (partition by l.execution, l.entity, m.entity order by l.seq) as earlier
  from deliveries l join deliveries m
    on l.execution = m.execution and l.message = m.message and l.entity < m.entity)
"""
"""What the parts of `ST` are asked of. Neither engine computes what is not asked."""

VIOLATORS: Final = {
    "order_preserving": "select execution from ordered where earlier > sent",
    "selectively_information_preserving": """select execution from (
  select execution from informed group by execution, message, entity having sum(owed) <> 0) missing""",
    "order_equivalent": "select execution from pairs where earlier > place",
}

INTEGERS: Final = "select * from trace"
TEXTS: Final = "select execution, entity, seq, if(event = 'send', 0, 1) as event, message, dest from trace"
"""The events of a file of integers, and of a trace as it comes."""


def query(name: str, events: str, explode: str) -> str:
    """The executions that violate a part of `ST`, or `ST`."""
    asked = VIOLATORS.values() if name == "ST" else [VIOLATORS[name]]
    return ROWS.format(events=events, explode=explode) + "\nunion\n".join(asked)


def write_integers(workload: Workload, path: Path) -> None:
    """The workload's rows as integers."""
    made = rows(workload)
    sets = [None, *workload.destination_sets]
    table = pa.table(
        {
            "execution": pa.array(made.execution, pa.int32()),
            "entity": pa.array(made.entity, pa.int32()),
            "seq": pa.array(made.seq, pa.int32()),
            "event": pa.array((~made.send).astype("int8")),
            "message": pa.array(made.message, pa.int32()),
            "dest": pa.array(sets, pa.list_(pa.int32())).take(pa.array(made.destinations)),
        }
    )
    pq.write_table(table, path, compression="zstd", row_group_size=400_000)


def by_duckdb(path: Path, name: str = "ST", events: str = INTEGERS) -> set[Any]:
    """The violating executions, by DuckDB on two threads."""
    import duckdb

    connection = duckdb.connect(config={"threads": 2})
    connection.execute(f"create view trace as select * from read_parquet('{path}')")
    found = connection.execute(query(name, events, "unnest(dest)")).fetchnumpy()
    return set(found["execution"].tolist())


def by_spark(spark: Any, path: Path, name: str = "ST", events: str = INTEGERS) -> set[Any]:
    """The violating executions, by Spark SQL."""
    spark.read.parquet(str(path)).createOrReplaceTempView("trace")
    found = spark.sql(query(name, events, "explode(dest)")).collect()
    return {row.execution for row in found}
