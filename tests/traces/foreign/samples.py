"""A small log of each format, from the tests of that format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.traces.foreign import (
    test_broadcast_log,
    test_cloudevents,
    test_etcd_raft,
    test_jepsen,
    test_kafka_console,
    test_kafka_dump,
    test_kafka_verifiable,
    test_kcat,
    test_maelstrom,
    test_mapping,
    test_mosquitto_log,
    test_mosquitto_sub,
    test_nats,
    test_otlp,
    test_rabbitmq_tracing,
    test_ros_csv,
    test_shiviz,
    test_tla_trace,
    test_tsviz,
    test_zipkin_jaeger,
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A log, what its file is called, and what is set for reading it; `beside` are other files that it needs."""

    text: str
    name: str = "c1.log"
    settings: dict[str, str] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)

    def written(self, folder: Path) -> Path:
        """The file in a folder."""
        for name, text in {**self.beside, self.name: self.text}.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder / self.name


SAMPLES: Final = {
    "broadcast-log": Sample(test_broadcast_log.LOG, "1.output", beside={"hosts": test_broadcast_log.HOSTS}),
    "cloudevents": Sample(
        test_cloudevents.lines(
            test_cloudevents.event("b", "10", partitionkey="k"), test_cloudevents.event("a", "9")
        ),
        settings={"sequence": "numbers"},
    ),
    "etcd-raft": Sample(test_etcd_raft.lines(*test_etcd_raft.STEPS)),
    "jaeger": Sample(json.dumps(test_zipkin_jaeger.JAEGER)),
    "jepsen": Sample(test_jepsen.KAFKA, "history.edn"),
    "kafka-console": Sample(test_kafka_console.TEXT, settings={"topic": "t", "columns": "key,value"}),
    "kafka-dump-log": Sample(test_kafka_dump.TEXT),
    "kafka-verifiable": Sample(test_kafka_verifiable.lines(*test_kafka_verifiable.CONSUMED)),
    "kcat": Sample(test_kcat.lines(test_kcat.FIRST, test_kcat.SECOND)),
    "maelstrom": Sample(test_maelstrom.LOG),
    "mapping": Sample(
        test_mapping.lines(test_mapping.BUS_ROWS),
        "bus.jsonl",
        {"file": "m.toml"},
        {"m.toml": test_mapping.BUS},
    ),
    "mosquitto-log": Sample(test_mosquitto_log.ONCE),
    "mosquitto-sub": Sample(
        test_mosquitto_sub.lines(test_mosquitto_sub.FIRST, test_mosquitto_sub.SECOND),
        settings={"message": "payload.id"},
    ),
    "nats": Sample(test_nats.lines(test_nats.OLD, test_nats.NEW, test_nats.STORED)),
    "otlp": Sample(test_otlp.lines(test_otlp.SENDS, test_otlp.PROCESSED)),
    "rabbitmq-tracing": Sample(test_rabbitmq_tracing.lines(*test_rabbitmq_tracing.RECORDS)),
    "ros-csv": Sample(test_ros_csv.TEXT, settings=test_ros_csv.SEQ),
    "shiviz": Sample(test_shiviz.LOG, settings=test_shiviz.SAYS),
    "tla-trace": Sample(test_tla_trace.lines(*test_tla_trace.EWD)),
    "tsviz": Sample(test_tsviz.LOG, settings=test_tsviz.SAYS),
    "zipkin": Sample(json.dumps(test_zipkin_jaeger.ZIPKIN)),
}
"""By the word of the format."""
