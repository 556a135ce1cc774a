"""`python -m tools.recordings [BROKER ...] [--runs N] [--messages N] [--page]`."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from precedes.record import Recorder
from tools.brokers import BROKERS
from tools.recordings import page, table
from tools.recordings.run import PRODUCERS, Fault, Mode, Run

OUT: Final = Path(__file__).parents[2] / "build" / "recordings"
MODULES: Final = {"rabbitmq": "rabbitmq", "nats": "nats", "redis": "redis", "mosquitto": "mqtt"}
CLIENTS: Final = {"rabbitmq": "pika", "nats": "nats-py", "redis": "redis", "mosquitto": "paho-mqtt"}


def main(arguments: Sequence[str]) -> int:
    """Record and judge, or only write the page from what was judged."""
    parser = argparse.ArgumentParser(prog="python -m tools.recordings", description=__doc__)
    parser.add_argument(
        "brokers", nargs="*", metavar="BROKER", help=f"of {', '.join(MODULES)}; else all of them"
    )
    parser.add_argument("--runs", type=int, default=10, help="of each mode under each fault")
    parser.add_argument("--messages", type=int, default=30, help="of each producer in a run")
    parser.add_argument("--judge", action="store_true", help="judge again what was recorded last")
    parser.add_argument("--page", action="store_true", help="record nothing; write the page from the table")
    options = parser.parse_args(arguments)
    if not options.page:
        names = options.brokers or list(MODULES)
        if wrong := sorted(set(names) - set(MODULES)):
            parser.error(f"unknown broker {wrong[0]}; there are {', '.join(MODULES)}")
        if silent := [each.name for each in BROKERS if each.name in names and not each.answers()]:
            parser.error(f"no {silent[0]} answers; `make brokers` starts it")
        cells = [cell for cell in (table.read() if table.TABLE.exists() else []) if cell.broker not in names]
        for name in names:
            cells += _of_broker(name, options.runs, options.messages, recording=not options.judge)
        order = list(MODULES)
        table.write(sorted(cells, key=lambda cell: order.index(cell.broker)))
    page.write(table.read())
    return 0


def _of_broker(name: str, runs: int, messages: int, *, recording: bool) -> Iterator[table.Cell]:
    broker = importlib.import_module(f"tools.recordings.{MODULES[name]}")
    server = broker.version()
    client = f"{CLIENTS[name]} {version(CLIENTS[name])}"
    for mode in broker.MODES:
        file = f"{name}-{table.slug(mode.name)}.jsonl.gz"
        samples: list[dict[str, Any]] = []
        for fault in mode.faults:
            started = time.perf_counter()
            path = OUT / f"{name}-{table.slug(mode.name)}-{fault.name.lower()}.jsonl"
            if recording:
                _record(broker, mode, fault, (runs, messages), path)
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            asked = table.asked(mode)
            sample = table.chosen(rows, asked)
            samples += sample
            yield table.Cell(
                broker=name,
                version=server,
                client=client,
                mode=mode.name,
                profile=mode.profile,
                fault=fault.value,
                runs=runs,
                messages=runs * messages * len(PRODUCERS),
                verdicts=table.verdicts(rows, asked),
                kept=table.kept(rows),
                file=file,
                sample=table.verdicts(sample, asked),
            )
            print(
                f"{name}, {mode.name}, {fault.value}: {runs} runs, {time.perf_counter() - started:.0f} s",
                flush=True,
            )
        table.write_sample(file, samples)


def _record(broker: Any, mode: Mode, fault: Fault, size: tuple[int, int], path: Path) -> None:
    runs, messages = size
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    for number in range(runs):
        with Recorder(path, table.execution_name(fault, number)) as recorder:
            broker.record(Run(recorder, mode, fault, messages))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
