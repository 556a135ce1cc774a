"""A recorder for your own code: it writes the trace that `verify` reads, and needs nothing but Python.

    recorder = Recorder("trace.jsonl")
    ledger, audit = recorder.entity("ledger"), recorder.entity("audit")
    headers = ledger.send("m1", to=["audit"])     # carry these with the message
    audit.deliver(headers)
    recorder.assert_keeps("ST")

Processes that do not share memory have a recorder each, with a file of its own and the same `execution`. Every event is
one line, appended by one write: what was written before a crash is whole. Vector clocks are kept as the CMD paper
computes them (§2) and travel in the headers.

The client of a broker is wrapped in one line, and used as before:

    channel = pika(channel, recorder.entity("ledger"), to=["audit"])
"""

from precedes.record.endpoint import RecordingWarning
from precedes.record.kafka import aiokafka, confluent_kafka
from precedes.record.mqtt import paho
from precedes.record.nats_server import nats
from precedes.record.rabbitmq import pika
from precedes.record.recorder import CLOCK, COLUMNS, MESSAGE, SENDER, Entity, Offer, Pending, Recorder
from precedes.record.redis_server import redis

__all__ = [
    "CLOCK",
    "COLUMNS",
    "MESSAGE",
    "SENDER",
    "Entity",
    "Offer",
    "Pending",
    "Recorder",
    "RecordingWarning",
    "aiokafka",
    "confluent_kafka",
    "nats",
    "paho",
    "pika",
    "redis",
]
