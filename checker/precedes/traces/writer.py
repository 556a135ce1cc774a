"""Executions to files of canonical rows:

JSON Lines or CSV (also .gz, .zst) or Parquet, as the name of the file says.

What is written reads back as the same executions, if the attributes of their messages are asked for; entities without a
row that stand in no destination set must then be named (`TraceOptions.cluster`), and groups in which there are such
entities (`TraceOptions.groups`). A file comes into being whole or not
at all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from precedes.core.execution import UNKNOWN_NAME, Execution
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.verdict import Reason
from precedes.traces.foreign import shiviz
from precedes.traces.foreign.importers import BY_WORD
from precedes.traces.formats.registry import CSV, known
from precedes.traces.formats.text_stream import reason
from precedes.traces.formats.values import seconds
from precedes.traces.formats.written_rows import Values
from precedes.traces.problems import unreadable
from precedes.traces.schema import REDELIVERED, TO_GROUP
from precedes.traces.sources import STANDARD_INPUT, TraceSource, source_of

SHIVIZ: Final = ".shiviz"
"""What the name of a log of ShiViz ends with, if executions are to be written as one."""


def write_executions(executions: Iterable[Execution], path: str | os.PathLike[str]) -> int:
    """Write executions to a file and return the number of rows.

    Raises PrecedesError where the name tells no format (T002) or the file cannot be written (T003),
    ValueError for a history of which only SL and RL are known, which no trace can say.
    """
    if is_shiviz(path):
        return _write_shiviz(executions, os.fspath(path))
    target = source_of(os.fspath(path))
    if target.path == STANDARD_INPUT:
        raise unreadable(
            "T002", "a trace must be written to a file", target.path, "name a file, such as trace.jsonl"
        )
    if not target.format.writable:
        hint = known(written=True)
        raise unreadable("T002", f"{target.format.name} can be read but not written", target.path, hint)
    try:
        with in_place(target) as temporary:
            compression = None if target.compression is None else target.compression.value
            attributes: tuple[Attribute, ...] = ()
            if target.format.headed:
                executions = tuple(executions)
                attributes = _carried(executions, target)
            rows = (row for execution in executions for row in rows_of(execution))
            written: int = target.format.module.write(rows, temporary, compression, attributes)
            return written
    except OSError as error:
        raise unreadable("T003", f"cannot be written: {reason(error)}", target.shown) from error


def is_shiviz(path: str | os.PathLike[str]) -> bool:
    """Whether a file is to be a log of ShiViz, by its name."""
    return Path(path).suffix.lower() == SHIVIZ


def _write_shiviz(executions: Iterable[Execution], path: str) -> int:
    target = TraceSource(path, BY_WORD["shiviz"])
    try:
        with in_place(target) as temporary:
            return shiviz.write(executions, Path(temporary))
    except OSError as error:
        raise unreadable("T003", f"cannot be written: {reason(error)}", target.shown) from error


def _carried(executions: Sequence[Execution], target: TraceSource) -> tuple[Attribute, ...]:
    """What they carry, by name. Raises PrecedesError (T003) for an empty text where the format has none."""
    carried = [message.attributes for execution in executions for message in execution.messages.values()]
    carried += [e.attributes for execution in executions for h in execution.histories for e in h.events]
    if target.format == CSV and any("" in each.values() for each in carried):
        hint = "write JSON Lines or Parquet"
        raise unreadable("T003", "cannot be written: an attribute is an empty text", target.shown, hint)
    found = {attribute for each in carried for attribute in each}
    return tuple(sorted(found, key=lambda attribute: attribute.name))


def rows_of(execution: Execution) -> Iterator[Values]:
    """The rows of an execution, entity by entity; what is absent is left out; `time` in nanoseconds.

    What a message carries is in the first row that names it, what an event carries in its own, and the groups of an
    entity are in its first row.
    """
    named: set[str] = set()
    groups_of: dict[str, list[str]] = {entity: [] for entity in execution.entities}
    for group in sorted(execution.named_groups):
        for entity in execution.groups[group]:
            groups_of[entity].append(group)
    for history in execution.histories:
        if not history.interleaved:
            raise ValueError(
                f"{execution.name}: of {history.entity} only SL and RL are known; a trace has whole histories"
            )
        for seq, event in enumerate(history.events):
            row: Values = {
                "execution": execution.name,
                "entity": history.entity,
                "seq": seq,
                "event": event.kind.value,
            }
            if event.message is not None:
                row["message"] = event.message
                message = execution.messages[event.message]
                if row["event"] == "send" and message.destinations is not None:
                    row["dest"] = [
                        *sorted(message.destinations),
                        *(f"{TO_GROUP}{name}" for name in sorted(message.groups)),
                    ]
                elif message.sender is not None and not message.logged:
                    row["sender"] = message.sender
                elif message.sender is None and execution.doubt & Reason.SEND_NOT_LOGGED:
                    row["sender"] = UNKNOWN_NAME
                if event.message not in named:
                    named.add(event.message)
                    row |= {each.name: _written(each, value) for each, value in message.attributes.items()}
            row |= {each.name: _written(each, value) for each, value in event.attributes.items()}
            if event.time is not None:
                row["time"] = event.time
            if event.clock is not None:
                row["clock"] = dict(sorted(event.clock.items()))
            if event.view is not None:
                row["view"] = event.view
            if event.members:
                row["members"] = list(event.members)
            if seq == 0 and (groups := groups_of[history.entity]):
                row["group"] = groups
            yield row


def _written(attribute: Attribute, value: str | int) -> str | int:
    """The value of an attribute as every format has it: times and durations as the text of their seconds, and what is
    true or false as such.
    """
    if attribute.name == REDELIVERED:
        return value == "true"
    if attribute.sort in (AttributeSort.TIME, AttributeSort.DURATION):
        return seconds(int(value))
    return value


@contextmanager
def in_place(target: TraceSource) -> Iterator[str]:
    """A new file beside the target, which takes the target's place if all goes well."""
    path = Path(target.path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(target.path)
    finally:
        Path(temporary).unlink(missing_ok=True)
