"""Logs of other systems beside Arrow's own readers: `python -m benchmarks.foreign [read|convert] [--rows 1000000]`.

For each log two whole processes in turns: one reads it as a trace and keeps nothing, in the other one Arrow reads the
same file and keeps nothing: its reader of JSON, or, for a log that is not JSON, its reader of CSV. Medians; of several
turns the first is not counted. `convert` measures `precedes convert` of each log, once. Writes build/foreign.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from benchmarks import traces
from benchmarks.measuring import PRECEDES, Ended, once

REACH = 3
"""How many times as long as Arrow's reader ours may take."""
_START = 1_700_000_000_000
_PARTITIONS = 12
_BATCH = 128
_POLL = 500
"""Records of a poll, as `max.poll.records` is by default."""


@dataclass(frozen=True, slots=True)
class Log:
    """A kind of log: its name, the word of its format, what is set for it, and who else reads it."""

    name: str
    word: str
    suffix: str
    write: Callable[[TextIO, int], None]
    arrow: str = "json"
    settings: tuple[str, ...] = ()


def kcat(file: TextIO, count: int) -> None:
    """What kcat prints of a topic."""
    for some in _chunks(count):
        file.writelines(
            f'{{"topic":"orders","partition":{k % _PARTITIONS},"offset":{k // _PARTITIONS},"tstype":"create",'
            f'"ts":{_START + k},"broker":1,"key":"acct-{k * 7919 % 100_000}","payload":"p{k % 50}.{k}"}}\n'
            for k in some
        )


def console(file: TextIO, count: int) -> None:
    """What the console consumer prints of a topic."""
    for some in _chunks(count):
        file.writelines(
            f"CreateTime:{_START + k}\tPartition:{k % _PARTITIONS}\tOffset:{k // _PARTITIONS}"
            f"\tacct-{k * 7919 % 100_000}\n"
            for k in some
        )


def verifiable(file: TextIO, count: int) -> None:
    """What the verifiable consumer prints of a topic, with a line for each record: one partition in each poll, and a
    commit after it.
    """
    for number, first in enumerate(range(0, count, _POLL)):
        some = range(first, min(first + _POLL, count))
        at = f'"topic":"orders","partition":{number % _PARTITIONS}'
        begin = number // _PARTITIONS * _POLL
        end = begin + len(some)
        file.writelines(
            f'{{"timestamp":{_START + k},"name":"record_data","key":null,"value":"{k}",{at},"offset":{offset}}}\n'
            for offset, k in enumerate(some, begin)
        )
        time = f'"timestamp":{_START + some[-1]}'
        polled = f'[{{{at},"count":{len(some)},"minOffset":{begin},"maxOffset":{end - 1}}}]'
        file.write(f'{{{time},"name":"records_consumed","count":{len(some)},"partitions":{polled}}}\n')
        ends = f'[{{{at},"offset":{end}}}]'
        file.write(f'{{{time},"name":"offsets_committed","offsets":{ends},"success":true}}\n')


def spans(file: TextIO, count: int) -> None:
    """Batches of one producer and one consumer in turns, with a link from each delivery to its send."""
    for first in range(0, count // 2, _BATCH):
        some = range(first, min(first + _BATCH, count // 2))
        file.write(_batch(f"p{first // _BATCH % 4}", ",".join(map(_send, some))))
        file.write(_batch(f"c{first // _BATCH % 3}", ",".join(map(_delivery, some))))


def _chunks(count: int) -> Iterator[range]:
    for start in range(0, count, 1 << 16):
        yield range(start, min(start + (1 << 16), count))


def _batch(instance: str, spans: str) -> str:
    resource = _attributes({"service.name": "shop", "service.instance.id": instance})
    scopes = f'[{{"scope":{{"name":"messaging"}},"spans":[{spans}]}}]'
    return f'{{"resourceSpans":[{{"resource":{{"attributes":{resource}}},"scopeSpans":{scopes}}}]}}\n'


def _attributes(values: dict[str, str]) -> str:
    kinds = {name: "intValue" if name in _NUMBERS else "stringValue" for name in values}
    each = (f'{{"key":"{name}","value":{{"{kinds[name]}":"{value}"}}}}' for name, value in values.items())
    return f"[{','.join(each)}]"


def _template(kind: int, others: str) -> str:
    return (
        f'{{"traceId":"%(trace)032x","spanId":"%(span)016x","parentSpanId":"%(parent)s","kind":{kind},'
        f'"startTimeUnixNano":"%(start)d","endTimeUnixNano":"%(start)d","name":"orders",{others},"status":{{}}}}'
    )


_NUMBERS = frozenset({"messaging.kafka.offset"})
_COMMON = {"messaging.system": "kafka", "messaging.destination.name": "orders"}
_SENT = _COMMON | {"messaging.operation.type": "send", "messaging.kafka.message.key": "acct-%(key)d"}
_DELIVERED = _COMMON | {
    "messaging.operation.type": "process",
    "messaging.destination.partition.id": "%(partition)d",
    "messaging.kafka.offset": "%(offset)d",
}
_LINK = '"links":[{"traceId":"%(trace)032x","spanId":"%(parent)s"}]'
_OF_SEND = _template(4, f'"attributes":{_attributes(_SENT)}')
_OF_DELIVERY = _template(5, f'"attributes":{_attributes(_DELIVERED)},{_LINK}')


def _send(k: int) -> str:
    return _OF_SEND % {
        "trace": _trace(k),
        "span": 2 * k + 1,
        "parent": "",
        "start": _time(k),
        "key": k % 1000,
    }


def _delivery(k: int) -> str:
    place = {"partition": k % _PARTITIONS, "offset": k // _PARTITIONS}
    times = {"start": _time(k) + 300_000, "parent": f"{2 * k + 1:016x}"}
    return _OF_DELIVERY % {"trace": _trace(k), "span": 2 * k + 2, **times, **place}


def _trace(k: int) -> int:
    return k * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128


def _time(k: int) -> int:
    return (_START + k) * 1_000_000


LOGS = (
    Log("spans of OpenTelemetry", "otlp", "json", spans),
    Log("lines of kcat", "kcat", "json", kcat),
    Log("lines of the verifiable consumer", "kafka-verifiable", "json", verifiable),
    Log(
        "lines of the console consumer",
        "kafka-console",
        "txt",
        console,
        "csv",
        ("topic=orders", "columns=key"),
    ),
)


def measured(log: Log, rows: int, times: int) -> dict[str, object]:
    """What reading a log takes."""

    path = _made(log, rows)
    program = [sys.executable, str(Path(__file__).with_name("foreign_read.py")), str(path)]
    ours, theirs = [*program, "--from", log.word, *log.settings], [*program, log.arrow]
    turns = [(once(ours), once(theirs)) for _ in range(times + (times > 1))][times > 1 :]
    sides = {"ours": _median([one for one, _ in turns]), "theirs": _median([other for _, other in turns])}
    return {
        "name": log.name,
        "reader": log.arrow.upper(),
        "rows": rows,
        "bytes": path.stat().st_size,
        "ratio": sides["ours"]["seconds"] / sides["theirs"]["seconds"],
        "processor ratio": sides["ours"]["processor"] / sides["theirs"]["processor"],
        "reach": REACH if log.arrow == "json" else None,
        "load": os.getloadavg()[0],
        **sides,
    }


def converted(log: Log, rows: int) -> dict[str, object]:
    """What `precedes convert` of a log takes, once."""
    path = _made(log, rows)
    target = path.with_suffix(".parquet")
    settings = [part for setting in log.settings for part in ("--set", setting)]
    ended = once([PRECEDES, "convert", str(path), "-o", str(target), "--from", log.word, *settings], (0,))
    target.unlink()
    return {"name": log.name, "rows": rows, "load": os.getloadavg()[0], **asdict(ended)}


def _made(log: Log, rows: int) -> Path:
    def make(path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            log.write(file, rows)

    return traces.kept(f"{log.word}-{rows}.{log.suffix}", make)


def _median(runs: Sequence[Ended]) -> dict[str, float]:
    return {
        "seconds": statistics.median(run.seconds for run in runs),
        "processor": statistics.median(run.processor for run in runs),
        "peak_mib": max(run.peak_mib for run in runs),
    }


def main() -> None:
    """Measure, print, write what was measured in the place of what was measured before."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("read", "convert"), nargs="?", default="read")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", default="", help="a part of the name of a log")
    given = parser.parse_args()
    written = Path("build/foreign.json")
    written.parent.mkdir(exist_ok=True)
    for log in LOGS:
        if given.only in log.name:
            found = (
                measured(log, given.rows, given.times) if given.what == "read" else converted(log, given.rows)
            )
            print(json.dumps(found, indent=2), flush=True)
            document = json.loads(written.read_text(encoding="utf-8")) if written.exists() else {}
            document.setdefault(given.what, {})[log.name] = found
            written.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
