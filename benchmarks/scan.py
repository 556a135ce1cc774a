"""How long a scan takes, the batch being in memory: tuned kernels, the same definitions compiled, the
reference evaluator.

    python -m benchmarks.scan --executions 100000

Machine code is made before the clock starts; what that took the first time is printed too. The reference
evaluator judges a sample, and its time is multiplied.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.workload import Workload, write
from precedes.core.columns import Batch
from precedes.core.transposition import execution_of
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import Plan, Step, plan
from precedes.traces import Notices, TraceOptions, read_batches

PREDICATES = ("ST", "causal_order", "causal_delivery", "delta_causal_order", "deadline", "agreement")


def batches(executions: int) -> list[Batch]:
    """The workload as batches, made once."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "trace.parquet")
        write(Workload(executions), path)
        return list(read_batches([path], TraceOptions(delta=1_000_000), Notices()))


def compiled_only(prepared: Plan) -> Plan:
    """The plan without tuned kernels."""
    return replace(prepared, steps=tuple(Step(step.formula, None) for step in prepared.steps))


def seconds(action: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def measure(name: str, made: Sequence[Batch], sample: int) -> str:
    """One line of the table."""
    wanted = requirement(name, standard_library())
    tuned = plan([wanted])
    plain = compiled_only(tuned)
    columns = []
    for prepared in (tuned, plain):
        first = seconds(lambda prepared=prepared: scan(made[0], prepared, jit=True))
        whole = min(
            seconds(lambda prepared=prepared: [scan(b, prepared, jit=True) for b in made]) for _ in range(3)
        )
        columns += [first, whole]
    executions = [execution_of(made[0], x) for x in range(min(sample, made[0].executions))]
    alone = seconds(lambda: [evaluate(wanted.formula, execution) for execution in executions])
    columns.append(alone * sum(batch.executions for batch in made) / len(executions))
    return f"{name:<20}" + "".join(f"{column:>12.3f}" for column in columns)


def main() -> None:
    """Print a table of seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument(
        "--sample", type=int, default=200, help="executions that the reference evaluator judges"
    )
    parser.add_argument("predicates", nargs="*", default=PREDICATES)
    given = parser.parse_args()
    made = batches(given.executions)
    events = sum(int(batch.event_offsets[-1]) for batch in made)
    print(f"{given.executions:,} executions, {events:,} events, {len(made)} batches; seconds")
    print(f"{'':<20}{'tuned 1st':>12}{'tuned':>12}{'compiled 1st':>13}{'compiled':>11}{'reference':>12}")
    for name in given.predicates:
        print(measure(name, made, given.sample), flush=True)


if __name__ == "__main__":
    main()
