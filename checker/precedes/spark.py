"""Verify events that live in tables: `precedes.spark.verify(df, require="ST")`, in your own Spark session.

The workers of the cluster need this package, numpy, pyarrow and numba; neither lark nor z3, which only the
driver uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def verify(
    events: DataFrame,
    require: str | Sequence[str],
    *,
    specs: Sequence[str] = (),
    delta: str | None = None,
    epsilon: str | None = None,
    incomplete: bool = False,
    delivery: str = "deliver",
    cluster: Sequence[str] = (),
    order: str | None = None,
    strict: bool = False,
    all_verdicts: bool = True,
) -> DataFrame:
    """Judge the executions in a DataFrame of events.

    `events` has the columns of a trace (execution, entity, seq, event, message; dest, sender, time, clock
    where known); `seq` is required, for rows of a DataFrame have no order. `require` names predicates or
    services, or gives formulas; the other options are those of `precedes verify`. Returns a lazy DataFrame
    with one row per execution and predicate: execution, predicate, verdict ("holds", "violated", "unknown"),
    count, witness (JSON) and reasons; with `all_verdicts=False` only of what does not hold. Raises
    PrecedesError for a name or formula that is wrong; rows that cannot be read fail the job.
    """
    from precedes.engines.spark.frames import verdicts
    from precedes.verification import Question

    question = Question(
        traces=(),
        required=(require,) if isinstance(require, str) else tuple(require),
        specs=tuple(specs),
        delta=delta,
        epsilon=epsilon,
        incomplete=incomplete,
        delivery=delivery,
        cluster=tuple(cluster),
        order=order,
        strict=strict,
    )
    return verdicts(events, question.plan(), question.options(), all_verdicts=all_verdicts)
