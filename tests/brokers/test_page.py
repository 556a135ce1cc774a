"""The programs of docs/how-to/record-clients.md, run with the brokers, and what they recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import precedes
from tests.command.documents import ROOT, blocks

PAGE = ROOT / "docs/how-to/record-clients.md"
PROGRAMS = {
    block.body.partition('Recorder("')[2].partition(".jsonl")[0]: block.body
    for block in blocks(PAGE)
    if block.language == "python" and "Recorder(" in block.body
}
PLACES = {
    "rabbitmq": ('ConnectionParameters("localhost")', 'ConnectionParameters("{host}", {port})'),
    "nats": ("nats://localhost:4222", "nats://{host}:{port}"),
    "redis": ('Redis("localhost")', 'Redis("{host}", {port})'),
    "mqtt": ('connect("localhost")', 'connect("{host}", {port})'),
    "kafka": ('"localhost"', '"{host}"'),
}
CLIENTS = {
    "rabbitmq": "pika",
    "nats": "nats",
    "redis": "redis",
    "mqtt": "paho.mqtt",
    "kafka": "confluent_kafka",
}
PROFILES = {
    "rabbitmq": "rabbitmq-classic",
    "nats": "nats-core",
    "redis": "redis-stream",
    "mqtt": "mqtt-qos1",
    "kafka": "kafka-partition",
}
CLEANING = {
    "rabbitmq": "channel.queue_delete('orders')",
    "redis": "client.delete('orders')",
    "mqtt": "import time; time.sleep(1); both.disconnect()",
}
"""The programs leave nothing for the next run; that of MQTT has a thread that works on."""


def test_there_is_a_program_for_each() -> None:
    assert set(PROGRAMS) == set(PLACES) == set(CLIENTS) == set(PROFILES)
    longest = max(sum(bool(line.strip()) for line in program.splitlines()) for program in PROGRAMS.values())
    assert longest <= 10


@pytest.mark.parametrize("name", PLACES)
def test_a_program_records(name: str, broker: Callable[[str], tuple[str, int]], tmp_path: Path) -> None:
    pytest.importorskip(CLIENTS[name], reason=f"{CLIENTS[name]} is not installed: requirements/brokers.txt")
    if name == "kafka":
        import confluent_kafka

        mock = confluent_kafka.Producer(
            {"bootstrap.servers": "none", "test.mock.num.brokers": 1, "log_level": 0}
        )
        place = next(iter(mock.list_topics(timeout=10).brokers.values()))
        host, port = f"{place.host}:{place.port}", 0
    else:
        host, port = broker("mosquitto" if name == "mqtt" else name)
    before, after = PLACES[name]
    assert before in PROGRAMS[name]
    program = PROGRAMS[name].replace(before, after.format(host=host, port=port))
    program += CLEANING.get(name, "")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    report = precedes.verify(tmp_path / f"{name}.jsonl", "SP", profile=PROFILES[name])
    report.raise_for_violations()
