"""Verify events that live in tables: `precedes.spark.verify(df, require="ST")`, in your own Spark session.

The workers of the cluster need this package, numpy, pyarrow and numba; neither lark nor z3, which only the
driver uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from precedes.jobs.verify import Question


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
    groups: Mapping[str, Sequence[str]] | str | None = None,
    order: str | None = None,
    strict: bool = False,
    all_verdicts: bool = True,
    all_violations: bool = False,
) -> DataFrame:
    """Judge the executions in a DataFrame of events.

    `events` has the columns of a trace (execution, entity, seq, event, message; dest, sender, time, clock
    where known); `seq` is required, for rows of a DataFrame have no order. `require` names predicates or
    services, or gives formulas; the other options are those of `precedes verify`. Returns a lazy DataFrame
    with one row per execution and predicate: execution, predicate, verdict ("holds", "violated", "unknown"),
    count, witness (JSON) and reasons; with `all_verdicts=False` only of what does not hold. `count` is how often it is
    violated with `all_violations=True`, else null where it is (see `violations`). Raises PrecedesError for a name or
    formula that is wrong; rows that cannot be read fail the job.
    """
    from precedes.engines.spark import frames

    question = _question(
        require,
        specs,
        cluster,
        delta=delta,
        epsilon=epsilon,
        incomplete=incomplete,
        delivery=delivery,
        groups=groups,
        order=order,
        strict=strict,
        all_violations=all_violations,
    )
    plan = question.plan(everywhere=True)
    return frames.verdicts(events, plan, question.options(), all_verdicts=all_verdicts)


def violations(
    events: DataFrame,
    require: str | Sequence[str],
    *,
    specs: Sequence[str] = (),
    delta: str | None = None,
    epsilon: str | None = None,
    incomplete: bool = False,
    delivery: str = "deliver",
    cluster: Sequence[str] = (),
    groups: Mapping[str, Sequence[str]] | str | None = None,
    order: str | None = None,
    strict: bool = False,
    max_violations: int = 10,
) -> DataFrame:
    """List what violates the requirements in a DataFrame of events, which is as for `verify`.

    Returns a lazy DataFrame with one row per offender: execution, predicate, entities, messages, and events, each with
    event, entity, message, time (nanoseconds), file and row (both null: a DataFrame has neither). At most
    `max_violations` of one predicate in one execution.
    """
    from precedes.engines.spark import frames

    question = _question(
        require,
        specs,
        cluster,
        delta=delta,
        epsilon=epsilon,
        incomplete=incomplete,
        delivery=delivery,
        groups=groups,
        order=order,
        strict=strict,
        max_violations=max_violations,
        all_violations=True,
    )
    options = replace(question.options(), origins=False)
    return frames.violations(events, question.plan(everywhere=True), options)


def _question(
    require: str | Sequence[str], specs: Sequence[str], cluster: Sequence[str], **options: Any
) -> Question:
    from precedes.jobs.verify import Question

    required = (require,) if isinstance(require, str) else tuple(require)
    return Question((), required, specs=tuple(specs), cluster=tuple(cluster), **options)
