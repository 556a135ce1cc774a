"""`--profile` and what goes with it; and the recorded traces, where present, against the profiles of their brokers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import precedes as face
from precedes.core.diagnostics import PrecedesError
from precedes.core.verdict import Verdict
from precedes.language.library import profile_library, standard_library
from tests.command.documents import ROOT
from tests.command.running import precedes

RECORDED = ROOT.parent / "shared" / "traces" / "recorded"

ROWS = [
    {
        "execution": "x",
        "entity": "shop",
        "event": "send",
        "message": "o1",
        "dest": ["billing"],
        "position": 1,
    },
    {
        "execution": "x",
        "entity": "shop",
        "event": "send",
        "message": "o2",
        "dest": ["billing"],
        "position": 2,
    },
    {"execution": "x", "entity": "billing", "event": "deliver", "message": "o2"},
    {"execution": "x", "entity": "billing", "event": "deliver", "message": "o1"},
]
"""An order that a log does not promise, with offsets."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_a_profile_is_asked_with_its_parts(trace: Path) -> None:
    ended = precedes("verify", trace, "--profile", "kafka-partition", "--format", "json")
    assert ended.code == 1
    counts = json.loads(ended.out)["predicates"]
    violated = {name for name, count in counts.items() if count["violated"]}
    assert violated == {"kafka_partition", "order_preserving", "first_deliveries_by_position"}
    assert counts["one_position_one_message"]["holds"] == 1


def test_several_profiles_and_a_requirement(trace: Path) -> None:
    asked = ("--profile", "nats-jetstream", "--profile", "pulsar_shared", "--require", "no_duplication")
    ended = precedes("verify", trace, *asked)
    assert ended.code == 0
    assert [name for name in ("nats_jetstream", "pulsar_shared", "no_duplication") if name in ended.out] == [
        "nats_jetstream",
        "pulsar_shared",
        "no_duplication",
    ]


def test_what_a_trace_does_not_have_is_unknown(trace: Path) -> None:
    assert precedes("verify", trace, "--profile", "sqs-fifo").code == 3


def test_nothing_and_what_there_is_not(trace: Path) -> None:
    assert precedes("verify", trace).code == 2
    ended = precedes("verify", trace, "--require", "kafka-partition")
    assert (ended.code, "did you mean kafka_partition?" in ended.err) == (2, True)
    ended = precedes("verify", trace, "--profile", "kafka")
    assert (ended.code, "there is no profile kafka" in ended.err) == (2, True)


def test_from_python() -> None:
    report = face.verify(ROWS, profile="kafka-partition")
    assert report["kafka_partition"].violated == 1
    assert face.verify(ROWS, "no_duplication", profile=["nats-jetstream"]).verdict is Verdict.HOLDS
    with pytest.raises(PrecedesError, match="there is no profile ST"):
        face.verify(ROWS, profile="ST")
    with pytest.raises(PrecedesError, match="nothing is required"):
        face.verify(ROWS)


def test_a_profile_is_explained_with_what_a_trace_needs() -> None:
    out = precedes("explain", "sqs-fifo-one-by-one").out
    assert out.startswith("sqs_fifo_one_by_one  FIFO queue, one message a call")
    assert "A trace needs the column `key` and the events `ack` and `nack`" in out
    assert "from: Amazon SQS developer guide" in out
    assert precedes("explain", "kafka_partition").out == precedes("explain", "kafka-partition").out
    assert "A trace needs" not in precedes("explain", "nats-core").out


def test_profiles_are_listed_by_themselves() -> None:
    out = precedes("list").out
    listed = out.partition("\nprofiles\n")[2].partition("\npredicates beside the profiles\n")[0]
    assert "  kafka_partition  always\n" in listed
    names = [row["name"] for row in face.names() if row["kind"] == "profile"]
    assert all(f"  {name}  " in listed for name in names)
    assert "rabbitmq_quorum" in names


def test_every_name_that_can_be_expected_is_listed() -> None:
    out = precedes("list").out
    listed = set(re.findall(r"^  (\w+)", out.partition("\nmodels\n")[0], re.MULTILINE))
    known = {*standard_library().names(), *profile_library().names()}
    assert known <= listed
    rows = {row["name"]: row["kind"] for row in face.names()}
    assert known <= set(rows)
    assert rows["nothing_skipped"] == "predicate"


KEPT = [
    ("corosync-cpg-3nodes", "corosync-cpg"),
    ("corosync-cpg-3nodes-crash", "corosync-cpg"),
    ("mosquitto-bridge-qos1", "mqtt-qos1"),
    ("mosquitto-qos1-fanout", "mqtt-qos1"),
    ("nats-chain-twoconn", "nats-core"),
    ("nats-core-fanout", "nats-core"),
    ("nats-core-large", "nats-core"),
    ("nats-js-push", "nats-jetstream"),
    ("nats-js-redelivery-acked", "nats-jetstream"),
    ("rabbitmq-autoack-kill", "rabbitmq-classic"),
    ("rabbitmq-chain-twoqueues", "rabbitmq-classic"),
    ("rabbitmq-fanout", "rabbitmq-classic"),
    ("rabbitmq-requeue-callback", "rabbitmq-classic"),
    ("rabbitmq-topic-subsets", "rabbitmq-classic"),
    ("redis-pubsub-chain-twoconn", "redis-pubsub"),
    ("redis-streams-single", "redis-stream"),
    ("zeromq-pubsub-fanout", "zeromq-pubsub"),
]
BROKEN = [
    ("corosync-cpg-1node-groups", "corosync-cpg", 60),
    ("etcd-watch-multi", "etcd-watch", 36),
    ("mosquitto-mixed-qos", "mqtt-qos1", 40),
    ("nats-core-subsets", "nats-core", 45),
    ("rabbitmq-priority", "rabbitmq-classic", 40),
]
"""Each is used otherwise than its profile supposes: docs/how-to/broker-promises.md, from the broker's documents."""

present = pytest.mark.skipif(not RECORDED.exists(), reason="the recorded traces are not here")


@present
@pytest.mark.parametrize(("name", "asked"), KEPT)
def test_a_recording_keeps_the_profile_of_its_broker(name: str, asked: str) -> None:
    report = face.verify(RECORDED / f"{name}.jsonl.gz", profile=asked)
    assert report.verdict is Verdict.HOLDS


@present
@pytest.mark.parametrize(("name", "asked", "violated"), BROKEN)
def test_a_recording_that_breaks_its_profile(name: str, asked: str, violated: int) -> None:
    report = face.verify(RECORDED / f"{name}.jsonl.gz", profile=asked)
    assert report[asked.replace("-", "_")].violated == violated


@present
def test_every_recording_has_a_profile() -> None:
    files = {path.name.removesuffix(".jsonl.gz") for path in RECORDED.glob("*.jsonl.gz")}
    assert {name for name, *_ in (*KEPT, *BROKEN)} == files
