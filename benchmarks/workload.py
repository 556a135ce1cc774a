"""Synthetic traces for measurements: many small executions of an ST service, some of which violate it.

The same arguments give the same rows.

    python benchmarks/workload.py trace.parquet --executions 100000 --violations 0.01

Entities broadcast to random subsets of the cluster through one sequencer: every entity delivers what is
addressed to it in the order of sending, so ST holds. In a violating execution the first two messages go to
everybody, and E1 delivers them the other way round.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

START = 1_700_000_000_000_000
"""Of the first execution, in microseconds."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What to make.

    `order` is "entity" (histories one after the other, laid out by execution) or "time" (as a log is
    written). `sets` is how many destinations every message has; None: any set of up to 12 entities.
    """

    executions: int
    entities: int = 4
    messages: int = 8
    violations: float = 0.01
    seed: int = 1
    order: str = "entity"
    seq: bool = True
    sets: int | None = None

    @property
    def violating(self) -> npt.NDArray[np.int64]:
        """The numbers of the executions that violate ST."""
        return np.flatnonzero(np.random.default_rng(self.seed).random(self.executions) < self.violations)

    @property
    def destination_sets(self) -> list[list[int]]:
        """The sets that messages may be addressed to; the last is everybody."""
        if self.sets is None:
            numbers = range(1, 1 << self.entities)
            return [[e for e in range(self.entities) if bits >> e & 1] for bits in numbers]
        sets = [sorted((e + k) % self.entities for k in range(self.sets)) for e in range(self.entities)]
        return [*sets, list(range(self.entities))]


@dataclass(frozen=True, slots=True)
class Rows:
    """Events as integers: aligned arrays; `destinations` of a send is one more than its place in
    `Workload.destination_sets`, and 0 on deliveries.
    """

    execution: npt.NDArray[np.int64]
    entity: npt.NDArray[np.int64]
    seq: npt.NDArray[np.int64]
    send: npt.NDArray[np.bool_]
    message: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int64]
    microseconds: npt.NDArray[np.int64]


def rows(workload: Workload) -> Rows:
    """The rows, in the order in which they are written."""
    random = np.random.default_rng((workload.seed, 1))
    shape = (workload.executions, workload.messages)
    violating = workload.violating
    sender = random.integers(0, workload.entities, shape)
    sets = workload.destination_sets
    members = np.zeros((len(sets) + 1, workload.entities), np.bool_)
    for number, chosen in enumerate(sets, 1):
        members[number, chosen] = True
    destinations = random.integers(1, len(sets) + (workload.sets is None), shape)
    destinations[violating, :2] = len(sets)
    addressed = members[destinations]
    x, m, e = np.nonzero(addressed)
    # Sends are 10 apart, and a message arrives 30 to 39 after its send: in the order of sending.
    tick = 10 * m + 30 + random.integers(0, 10, len(m))
    swapped = np.isin(x, violating) & (e == 0) & (m < 2)
    delivered = np.where(swapped, 1 - m, m)
    send_x, send_m = (a.ravel() for a in np.indices(shape))
    execution = np.concatenate([send_x, x])
    entity = np.concatenate([sender.ravel(), e])
    ticks = np.concatenate([10 * send_m, tick])
    # Ties between a send and a delivery go to the send.
    by_entity = np.lexsort((ticks, entity, execution))
    start = np.flatnonzero(
        np.append(True, (np.diff(entity[by_entity]) != 0) | (np.diff(execution[by_entity]) != 0))
    )
    length = np.diff(np.append(start, len(by_entity)))
    seq = np.empty(len(by_entity), np.int64)
    seq[by_entity] = np.arange(len(by_entity)) - np.repeat(start, length)
    order = by_entity if workload.order == "entity" else np.lexsort((ticks, execution))
    every = Rows(
        execution,
        entity,
        seq,
        np.arange(len(execution)) < send_x.size,
        np.concatenate([send_m.ravel(), delivered]),
        np.concatenate([destinations.ravel(), np.zeros(len(m), np.int64)]),
        START + execution * 1000 + ticks,
    )
    return Rows(
        every.execution[order],
        every.entity[order],
        every.seq[order],
        every.send[order],
        every.message[order],
        every.destinations[order],
        every.microseconds[order],
    )


def table(workload: Workload, made: Rows) -> pa.Table:
    """Rows as an Arrow table, as it is written to Parquet."""
    columns: dict[str, Any] = {
        "execution": _execution_names(workload).take(pa.array(made.execution)),
        "entity": _names("E", workload.entities).take(pa.array(made.entity)),
    }
    if workload.seq:
        columns["seq"] = pa.array(made.seq)
    columns["event"] = pa.array(["deliver", "send"]).take(pa.array(made.send.astype(np.int8)))
    columns["message"] = _names("m", workload.messages).take(pa.array(made.message))
    sets = [None, *([f"E{e + 1}" for e in chosen] for chosen in workload.destination_sets)]
    columns["dest"] = pa.array(sets, pa.list_(pa.string())).take(pa.array(made.destinations))
    columns["time"] = pa.array(made.microseconds, pa.timestamp("us", "UTC"))
    return pa.table(columns)


def json_lines(workload: Workload) -> pa.Buffer:
    """The trace as JSON Lines."""
    made = rows(workload)
    events = ['"event":"deliver","message":"m', '"event":"send","message":"m']
    sets = ["", *map(_json_set, workload.destination_sets)]
    seconds, part = np.divmod(made.microseconds, 1_000_000)
    parts: list[Any] = [
        '{"execution":"',
        _execution_names(workload).take(pa.array(made.execution)),
        '","entity":"E',
    ]
    parts += [_text(made.entity + 1), '",']
    if workload.seq:
        parts += ['"seq":', _text(made.seq), ","]
    parts += [pa.array(events).take(pa.array(made.send.astype(np.int8))), _text(made.message + 1), '"']
    parts += [pa.array(sets).take(pa.array(made.destinations)), ',"time":', _text(seconds), "."]
    parts += [pc.utf8_lpad(_text(part), 6, "0"), "}\n"]
    joined = pc.binary_join_element_wise(*(_large(part) for part in parts), pa.scalar("", pa.large_string()))
    return joined.buffers()[2]


def write(workload: Workload, path: str) -> None:
    """Write the trace to a .parquet or .jsonl file (.jsonl.gz, .jsonl.zst)."""
    if path.endswith(".parquet"):
        written(workload, rows(workload), path)
    else:
        with pa.output_stream(path, compression="detect") as out:
            out.write(json_lines(workload))


def written(workload: Workload, made: Rows, path: str) -> None:
    """Write rows of a workload to a .parquet file."""
    whole = table(workload, made)
    names = whole["execution"].combine_chunks().to_numpy(zero_copy_only=False)
    ends = np.append(np.flatnonzero(names[1:] != names[:-1]) + 1, len(whole))
    with pq.ParquetWriter(path, whole.schema) as writer:
        start = 0
        while start < len(whole):
            # A row group ends where an execution does.
            stop = int(ends[min(np.searchsorted(ends, start + 500_000), len(ends) - 1)])
            writer.write_table(whole.slice(start, stop - start), row_group_size=stop - start)
            start = stop


def _execution_names(workload: Workload) -> pa.Array:
    return pa.array([f"x{x:07d}" for x in range(workload.executions)])


def _names(prefix: str, count: int) -> pa.Array:
    return pa.array([f"{prefix}{k + 1}" for k in range(count)])


def _json_set(chosen: list[int]) -> str:
    return ',"dest":[' + ",".join(f'"E{e + 1}"' for e in chosen) + "]"


def _text(numbers: npt.NDArray[np.int64]) -> pa.Array:
    return pc.cast(pa.array(numbers), pa.string())


def _large(part: Any) -> Any:
    return pa.scalar(part, pa.large_string()) if isinstance(part, str) else pc.cast(part, pa.large_string())


def main() -> None:
    """Arguments only."""
    parser = argparse.ArgumentParser(description="make a synthetic trace")
    parser.add_argument("path", help="a .parquet, .jsonl, .jsonl.gz or .jsonl.zst file")
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--entities", type=int, default=4)
    parser.add_argument("--messages", type=int, default=8)
    parser.add_argument("--violations", type=float, default=0.01, help="share of executions that violate ST")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--order", choices=["entity", "time"], default="entity")
    parser.add_argument("--without-seq", action="store_true")
    given = parser.parse_args()
    workload = Workload(
        given.executions,
        given.entities,
        given.messages,
        given.violations,
        given.seed,
        given.order,
        not given.without_seq,
    )
    write(workload, given.path)


if __name__ == "__main__":
    main()
