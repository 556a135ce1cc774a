"""What `python -m benchmarks` compares: under which name, what the page calls it, and what it should come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ours against theirs. `reach` is the most that the ratio should be (or the least, where `faster`), None where
    nothing is to be reached.
    """

    name: str
    words: str
    reach: float | None = None
    faster: bool = False


PROCESS_SCANNED: Final = Comparison(
    "process: Arrow reads the scanned numbers",
    "a whole process, against one in which Arrow reads the same columns",
    2,
)
PROCESS_INTEGERS: Final = Comparison(
    "process: Arrow reads plain integers, dest lists",
    "the same, against integers with lists, as SQL needs them",
)
PROCESS_TRACE: Final = Comparison(
    "process: Arrow reads the trace's columns", "the same, against the columns of the trace as it came"
)
WARM_SCANNED: Final = Comparison(
    "warm: Arrow streams the scanned numbers",
    "in a process, against Arrow streaming the same row groups, both warm",
    3,
)
WARM_INTEGERS: Final = Comparison(
    "warm: Arrow streams plain integers, dest lists", "the same, against integers with lists"
)
BOTH: Final = Comparison(
    "ST and causal order, against ST", "`ST` and `causal_order` together, against `ST` alone", 1.7
)
ORDER_COMPILED: Final = Comparison(
    "order_preserving compiled, against tuned",
    "`order_preserving` as a user's formula, against the tuned form",
    5,
)
CAUSAL_COMPILED: Final = Comparison("causal_order compiled, against tuned", "`causal_order` likewise", 5)
DUCKDB: Final = Comparison(
    "in-process, against DuckDB", "in-process, against the same question in DuckDB", 5, faster=True
)
SPARK_LOCAL: Final = Comparison(
    "Spark, against in-process", "Spark local[2], its session warm, against in-process", 2
)
SPARK_SQL: Final = Comparison(
    "Spark, against Spark SQL",
    "Spark local[2], against the same question in Spark SQL (window functions)",
    6,
    faster=True,
)
SPARK_SORT: Final = Comparison(
    "Spark on shuffled rows, against its own sort",
    "Spark on rows in random order, against its own sort of them",
    1.5,
)


def longer(times: int) -> Comparison:
    """A trace that is so many times as long, against the trace."""
    return Comparison(
        f"a trace x{times} as long", f"a trace {times} times as long, whole processes", 8.5 * times / 8
    )


ALWAYS: Final = (
    *(PROCESS_SCANNED, PROCESS_INTEGERS, PROCESS_TRACE, WARM_SCANNED, WARM_INTEGERS, BOTH),
    *(ORDER_COMPILED, CAUSAL_COMPILED, DUCKDB, SPARK_LOCAL, SPARK_SQL, SPARK_SORT),
)
"""All but `longer`, which a quick run has for another number."""
