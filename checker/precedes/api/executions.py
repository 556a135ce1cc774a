"""`precedes.read`, `write`, `convert` and `as_scenario`: executions as values, as files, and as text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from precedes.api.events import Events, is_spark_frame, paths_in, refuse_log, tables_of
from precedes.api.traces import Reading, reading_of
from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.execution import Execution
from precedes.core.formula import Attribute
from precedes.core.suggestions import did_you_mean
from precedes.core.transposition import execution_of
from precedes.language.library import standard_library
from precedes.language.sorts.inference import declaration
from precedes.traces import Notices, batches_of, expand, read_batches, write_executions
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.layout import conversion
from precedes.traces.partition.spill import EVENTS_PER_PART, ROWS_IN_MEMORY, whole_executions
from precedes.traces.stated_groups import GivenGroups, given_groups

if TYPE_CHECKING:
    from precedes.language.library import Library
    from precedes.traces import Notice


@dataclass(frozen=True, slots=True)
class Converted:
    """What `convert` wrote.

    Attributes:
        path: The file.
        executions: How many executions it has.
        rows: How many rows.
        irregular: How many executions repeat or contradict themselves. All of their rows are kept.
        notices: What was noticed while the trace was read.
    """

    path: str
    executions: int
    rows: int
    irregular: int
    notices: tuple[Notice, ...] = field(repr=False)


def read(
    events: Events,
    *,
    attributes: Attribute | str | Iterable[Attribute | str] = (),
    library: Library | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> Iterator[Execution]:
    """Read a trace, one execution after the other.

    Args:
        events: As for `verify`, but for a Spark DataFrame.
        attributes: What messages and events carry of these is read, too, and no other column: names that the library
            declares, or values. `execution.messages["m"].attributes` has what a message carries.
        library: Where names of attributes are looked up; the standard library unless given.
        reading: How the trace is read, as a value.
        options: The same one by one (see `Reading`).

    Returns:
        The executions, in the order of their names. No more than a part of a large trace is in memory.

    Raises:
        PrecedesError: The trace cannot be read, or an attribute is not declared.

    Example:
        >>> first = next(precedes.read("traces/rabbitmq-fanout.jsonl.gz"))
        >>> first.name, len(first.delivered("c1"))
        ('rabbitmq-fanout-000', 45)
    """
    asked = (attributes,) if isinstance(attributes, str | Attribute) else tuple(attributes)
    found = declared(asked, standard_library() if library is None else library)
    question = reading_of(reading, options).question((), ())
    how = replace(question.options(), attributes=found)
    notices = Notices()
    paths = paths_in(events)
    if paths is None:
        refuse_log(question.log)
    batches = (
        batches_of(_tables(events, notices, found), how, notices)
        if paths is None
        else read_batches(expand(paths, notices, question.log), how, notices)
    )
    return (execution_of(batch, number) for batch in batches for number in range(batch.executions))


def write(executions: Iterable[Execution], path: str | os.PathLike[str]) -> int:
    """Write executions as a trace.

    Args:
        executions: Executions with whole histories.
        path: The file: JSON Lines, CSV (each also with .gz or .zst) or Parquet, as its name says; or a log of ShiViz,
            if the name ends with .shiviz.

    Returns:
        How many rows, or events, were written.

    Raises:
        PrecedesError: The name says no format, or the file cannot be written.
        ValueError: Of an execution only its logs are known, which no trace can say.
    """
    return write_executions(executions, path)


def convert(
    events: Events | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    groups: GivenGroups | None = None,
    log: str | None = None,
    parameters: Mapping[str, str] | None = None,
    mapping: str | os.PathLike[str] | None = None,
) -> Converted:
    """Write a trace as one Parquet file that `verify` scans many times faster.

    Args:
        events: As for `verify`, but for a Spark DataFrame.
        output: The .parquet file to write. A log for ShiViz is written by `write`.
        groups: The members of groups, as for `verify`. The file keeps them.
        log: The format of a log of another system. Without it, such a log is recognized.
        parameters: How such a log is read: values by the names of its settings.
        mapping: A file of TOML that says how a log of your own is read.

    Returns:
        What was written.

    Raises:
        PrecedesError: The trace cannot be read, or the file cannot be written.
    """
    target = os.fspath(output)
    members = given_groups(groups)
    reading = LogReading.stated(log, parameters or {}, mapping)
    notices = Notices()
    paths = paths_in(events)
    if paths is None:
        refuse_log(reading)
        tables = _tables(events, notices, every=True)
        parts = whole_executions(tables, EVENTS_PER_PART, ROWS_IN_MEMORY)
        done = conversion.lay_out(parts, target, notices, groups=members)
    else:
        done = conversion.convert(paths, target, notices, groups=members, log=reading)
    return Converted(target, done.executions, done.rows, done.irregular, tuple(notices.all()))


def as_scenario(execution: Execution, name: str = "found") -> str:
    """An execution as a scenario of a .prec file.

    Args:
        execution: The execution.
        name: The name of the scenario.

    Returns:
        Its statements, a line each.
    """
    from precedes.language import scenario_printer

    return scenario_printer.as_scenario(execution, name)


def declared(asked: Iterable[Attribute | str], library: Library) -> tuple[Attribute, ...]:
    """The attributes, each once. PrecedesError N016 for a name that is not declared."""
    found: dict[Attribute, None] = {}
    for one in asked:
        attribute = library.attribute(one) if isinstance(one, str) else one
        if attribute is None:
            hint = did_you_mean(str(one), library.attributes()) or declaration(str(one))
            raise PrecedesError(
                (Diagnostic("N016", f"there is no attribute {one}", "attributes", hint=hint),)
            )
        found[attribute] = None
    return tuple(found)


def _tables(
    events: Events, notices: Notices, attributes: tuple[Attribute, ...] = (), *, every: bool = False
) -> Iterator[Any]:
    if is_spark_frame(events):
        raise usage(
            "a Spark DataFrame is judged where it is", "write it to a file first, as df.write.parquet(...)"
        )
    return tables_of(events, notices, attributes, every=every)
