"""Causal order by hand: the job that is written in an afternoon for PySpark, with vector clocks in plain Python.

Once with `applyInPandas`, a call for each execution, and once with `mapInPandas` over sorted partitions, which has less
between the rows and the loop. It imports nothing of this project. It is right for traces such as the workload's, with
every row there and each message sent once; a delivery before its send is an error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

Row = tuple[str, int, str, str]
"""An event of one execution: entity, seq, event ("send" or "deliver"), message."""

FIELDS = ("entity", "seq", "event", "message")
NAMES = ("execution", "causal_order", "no_creation", "no_duplication")
FOUND = "execution string, causal_order boolean, no_creation boolean, no_duplication boolean"


def judged(rows: list[Row]) -> tuple[bool, bool, bool]:
    """Whether one execution keeps `causal_order`, `no_creation` and `no_duplication`.

    The clock of a message counts the sends in its past, its own among them. What an entity has delivered has `seen`
    the first n messages of S: none of these may be delivered later.
    """
    histories: dict[str, list[Row]] = {}
    for row in sorted(rows, key=itemgetter(0, 1)):
        histories.setdefault(row[0], []).append(row)
    number = {entity: k for k, entity in enumerate(histories)}
    sent = {message for _, _, event, message in rows if event == "send"}
    clocks: dict[str, tuple[int, list[int]]] = {}
    knows = [[0] * len(number) for _ in number]
    seen = [[0] * len(number) for _ in number]
    places = dict.fromkeys(histories, 0)
    delivered: dict[str, set[str]] = {entity: set() for entity in histories}
    waiting: dict[str, list[str]] = {}
    ordered = created = once = True
    ready = deque(histories)
    while ready:
        entity = ready.popleft()
        me, history = number[entity], histories[entity]
        mine, past = knows[me], delivered[entity]
        while places[entity] < len(history):
            _, _, event, message = history[places[entity]]
            if event == "send":
                mine[me] += 1
                clocks[message] = me, mine.copy()
                ready.extend(waiting.pop(message, ()))
            elif message not in sent:
                created = False
            elif message not in clocks:
                waiting.setdefault(message, []).append(entity)
                break
            elif message in past:
                once = False
            else:
                past.add(message)
                sender, clock = clocks[message]
                ordered &= seen[me][sender] < clock[sender]
                seen[me] = list(map(max, seen[me], clock))
                mine[:] = map(max, mine, clock)
            places[entity] += 1
    if waiting:
        raise ValueError("a delivery comes before its send")
    return ordered, created, once


def with_apply(events: DataFrame) -> DataFrame:
    """`judged` of each execution, grouped by Spark."""
    return events.select("execution", *FIELDS).groupBy("execution").applyInPandas(_of_group, FOUND)


def with_map(events: DataFrame) -> DataFrame:
    """The same over partitions in which executions stand one after the other."""
    divided = events.select("execution", *FIELDS).repartition("execution")
    return divided.sortWithinPartitions("execution").mapInPandas(_of_partition, FOUND)


def _of_group(key: tuple[str], rows: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    columns = [rows[name].tolist() for name in FIELDS]
    return pd.DataFrame([(*key, *judged(list(zip(*columns, strict=True))))], columns=list(NAMES))


def _of_partition(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    import pandas as pd

    def rows() -> Iterator[tuple[Any, ...]]:
        for frame in frames:
            yield from zip(*(frame[name].tolist() for name in ("execution", *FIELDS)), strict=True)

    found = [
        (execution, *judged([row[1:] for row in of_one]))
        for execution, of_one in groupby(rows(), itemgetter(0))
    ]
    yield pd.DataFrame(found, columns=list(NAMES))
