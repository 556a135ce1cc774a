"""What is measured inside one process: our engines by their functions, Arrow by its."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from precedes.core.formula import Requirement
from precedes.core.transposition import execution_of
from precedes.core.verdict import FALSE
from precedes.engines.columnar.batch_scan import Scan, scan
from precedes.engines.reference import evaluate
from precedes.engines.scan import local
from precedes.engines.scan.partials import Partial
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import Plan, Step, plan
from precedes.traces import Notices, TraceOptions, expand, read_batches

OPTIONS = TraceOptions()


def required(*texts: str) -> Plan:
    """The plan for requirements."""
    return plan([_requirement(text) for text in texts])


def _requirement(text: str) -> Requirement:
    return requirement(text, standard_library())


def compiled(text: str) -> Plan:
    """The plan without tuned kernels."""
    prepared = required(text)
    return replace(prepared, steps=tuple(Step(step.formula, None) for step in prepared.steps))


def ours(path: Path, prepared: Plan) -> Partial:
    """The in-process engine."""
    notices = Notices()
    return local.verify(expand([path], notices), prepared, OPTIONS, notices, 10)


def arrow_stream(path: Path, columns: Sequence[str]) -> int:
    """Arrow reads columns, row group by row group, in its own threads."""
    file = pq.ParquetFile(path)
    numbers = range(file.num_row_groups)
    return sum(len(file.read_row_group(number, list(columns), use_threads=True)) for number in numbers)


def ours_on_spark(spark: Any, path: Path, prepared: Plan) -> Partial:
    """The Spark engine, in a session that runs."""
    from precedes.engines.spark import files

    notices = Notices()
    sources = expand([path], notices)
    return files.verify(spark, sources, prepared, OPTIONS, notices, limit=10, out=None, all_verdicts=False)


def sorted_by_spark(spark: Any, path: Path) -> None:
    """Spark repartitions the rows by execution and sorts them, and throws them away."""
    events = spark.read.parquet(str(path)).repartition(48, "execution")
    events.sortWithinPartitions("execution", "entity", "seq").write.format("noop").mode("overwrite").save()


def violators(path: Path, prepared: Plan, name: str) -> set[str]:
    """The executions that violate a predicate, by the in-process engine."""
    found: set[str] = set()
    column = prepared.names.index(name)

    def note(_: Partial, result: Scan) -> None:
        found.update(result.source.names(np.flatnonzero(result.values[:, column] == FALSE)).tolist())

    notices = Notices()
    local.verify(expand([path], notices), prepared, OPTIONS, notices, 0, (note,))
    return found


def scanning(path: Path, prepared: Plan) -> Callable[[], object]:
    """A scan of the first batch of a trace, which is in memory."""
    batch = next(iter(read_batches([path], OPTIONS, Notices())))
    return lambda: scan(batch, prepared, jit=True)


def by_reference(path: Path, text: str, sample: int) -> tuple[Callable[[], object], int]:
    """The reference evaluator on the first executions of a trace, and how many executions there are."""
    batch = next(iter(read_batches([path], OPTIONS, Notices())))
    executions = [execution_of(batch, x) for x in range(min(sample, batch.executions))]
    formula = _requirement(text).formula
    return lambda: [evaluate(formula, execution) for execution in executions], len(executions)
