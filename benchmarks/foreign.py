"""Logs of other systems beside Arrow's own readers: `python -m benchmarks.foreign [--rows 1000000] [--times 3]`.

For each log two whole processes in turns: one reads it as a trace and keeps nothing, in the other one Arrow reads the
same file and keeps nothing: its reader of JSON, or, for a log that is not JSON, its reader of CSV. Then `precedes
convert`, once. Writes build/foreign.json.
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
    resource = _attributes(("service.name", "shop"), ("service.instance.id", instance))
    scopes = f'[{{"scope":{{"name":"messaging"}},"spans":[{spans}]}}]'
    return f'{{"resourceSpans":[{{"resource":{{"attributes":{resource}}},"scopeSpans":{scopes}}}]}}\n'


def _send(k: int) -> str:
    attributes = _attributes(
        ("messaging.system", "kafka"),
        ("messaging.operation.type", "send"),
        ("messaging.destination.name", "orders"),
        ("messaging.kafka.message.key", f"acct-{k % 1000}"),
    )
    return _span(k, 2 * k + 1, "", 4, f'"name":"orders publish","attributes":{attributes}')


def _delivery(k: int) -> str:
    attributes = _attributes(
        ("messaging.system", "kafka"),
        ("messaging.operation.type", "process"),
        ("messaging.destination.name", "orders"),
        ("messaging.destination.partition.id", f"{k % _PARTITIONS}"),
        ("messaging.kafka.offset", k // _PARTITIONS),
    )
    link = f'"links":[{{"traceId":"{_trace(k)}","spanId":"{2 * k + 1:016x}"}}]'
    others = f'"name":"orders process","attributes":{attributes},{link}'
    return _span(k, 2 * k + 2, f"{2 * k + 1:016x}", 5, others)


def _span(k: int, span: int, parent: str, kind: int, others: str) -> str:
    start = (_START + k) * 1_000_000 + kind
    return (
        f'{{"traceId":"{_trace(k)}","spanId":"{span:016x}","parentSpanId":"{parent}","kind":{kind},'
        f'"startTimeUnixNano":"{start}","endTimeUnixNano":"{start + 500}",{others},"status":{{}}}}'
    )


def _trace(k: int) -> str:
    return f"{k * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"


def _attributes(*pairs: tuple[str, str | int]) -> str:
    each = (
        f'{{"key":"{name}","value":{{"{"intValue" if isinstance(value, int) else "stringValue"}":"{value}"}}}}'
        for name, value in pairs
    )
    return f"[{','.join(each)}]"


LOGS = (
    Log("spans of OpenTelemetry", "otlp", "json", spans),
    Log("lines of kcat", "kcat", "json", kcat),
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

    def make(path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            log.write(file, rows)

    path = traces.kept(f"{log.word}-{rows}.{log.suffix}", make)
    program = [sys.executable, str(Path(__file__).with_name("foreign_read.py")), str(path)]
    ours, theirs = [*program, "--from", log.word, *log.settings], [*program, log.arrow]
    turns = [(once(ours), once(theirs)) for _ in range(times + 1)][1:]
    load = os.getloadavg()[0]
    target = path.with_suffix(".parquet")
    settings = [part for setting in log.settings for part in ("--set", setting)]
    converted = once([PRECEDES, "convert", str(path), "-o", str(target), "--from", log.word, *settings], (0,))
    target.unlink()
    sides = {"ours": _median([one for one, _ in turns]), "theirs": _median([other for _, other in turns])}
    return {
        "name": log.name,
        "reader": log.arrow.upper(),
        "bytes": path.stat().st_size,
        "ratio": sides["ours"]["seconds"] / sides["theirs"]["seconds"],
        "processor ratio": sides["ours"]["processor"] / sides["theirs"]["processor"],
        **sides,
        "convert": asdict(converted),
        "load": load,
    }


def _median(runs: Sequence[Ended]) -> dict[str, float]:
    return {
        "seconds": statistics.median(run.seconds for run in runs),
        "processor": statistics.median(run.processor for run in runs),
        "peak_mib": max(run.peak_mib for run in runs),
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", default="", help="a part of the name of a log")
    given = parser.parse_args()
    logs = []
    for log in LOGS:
        if given.only in log.name:
            logs.append(measured(log, given.rows, given.times))
            print(json.dumps(logs[-1], indent=2), flush=True)
    written = Path("build/foreign.json")
    written.parent.mkdir(exist_ok=True)
    written.write_text(json.dumps({"rows": given.rows, "logs": logs}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
