"""RabbitMQ: a queue for each consumer behind one exchange, or one stream that both read."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Final, assert_never

import pika

import precedes.record
from tools.brokers import HOST, RABBITMQ
from tools.recordings.proxy import Proxy, proxied
from tools.recordings.run import CONSUMERS, PAUSE, Act, Fault, Mode, Run, in_threads

CLASSIC: Final = Mode("classic queues", "rabbitmq_classic", tuple(Fault))
AUTOMATIC: Final = Mode("classic queues, automatic acknowledgement", "rabbitmq_classic")
QUORUM: Final = Mode("quorum queues", "rabbitmq_quorum", tuple(Fault))
STREAM: Final = Mode("stream", "rabbitmq_stream")
MODES: Final = (CLASSIC, AUTOMATIC, QUORUM, STREAM)

LOST: Final = (pika.exceptions.AMQPError, OSError)
KINDS: Final = {"rabbitmq_classic": "classic", "rabbitmq_quorum": "quorum", "rabbitmq_stream": "stream"}
OFFSET: Final = "x-stream-offset"


def version() -> str:
    """What the server says that it is."""
    with pika.BlockingConnection(pika.ConnectionParameters(HOST, RABBITMQ.port)) as connection:
        # No public name gives it.
        return str(connection._impl.server_properties["version"])


def record(run: Run) -> None:
    """One run."""
    queues = {name: run.name if run.mode is STREAM else f"{run.name}-{name}" for name in CONSUMERS}
    with pika.BlockingConnection(pika.ConnectionParameters(HOST, RABBITMQ.port)) as connection:
        channel = connection.channel()
        channel.exchange_declare(run.name, "fanout")
        for queue in set(queues.values()):
            kind = {"x-queue-type": KINDS[run.mode.profile]}
            channel.queue_declare(queue, durable=True, arguments=kind)
            channel.queue_bind(queue, run.name)
        in_threads(run, lambda name: _consume(run, name, queues[name]), lambda name: _produce(run, name))
        for queue in set(queues.values()):
            channel.queue_delete(queue)
        channel.exchange_delete(run.name)


def _produce(run: Run, name: str) -> None:
    with proxied(RABBITMQ.port) as proxy:
        channel = _channel(run, name, proxy)
        for count in range(run.messages):
            if run.cuts(name, count):
                proxy.cut()
            while True:
                try:
                    channel.basic_publish(run.name, "", run.body(name, count))
                    break
                except LOST:
                    channel = _channel(run, name, proxy)
            time.sleep(PAUSE)
        with contextlib.suppress(*LOST):
            channel.connection.close()


def _channel(run: Run, name: str, proxy: Proxy) -> Any:
    connection = pika.BlockingConnection(pika.ConnectionParameters(HOST, proxy.port))
    channel = precedes.record.pika(connection.channel(), run.entity(name), to=run.to)
    channel.confirm_delivery()
    return channel


def _consume(run: Run, name: str, queue: str) -> None:
    entity, done = run.entity(name), -1
    with proxied(RABBITMQ.port) as proxy:
        while not run.over.is_set():
            with contextlib.suppress(*LOST):
                connection = pika.BlockingConnection(pika.ConnectionParameters(HOST, proxy.port))
                channel = precedes.record.pika(connection.channel(), entity)
                channel.basic_qos(prefetch_count=20)
                offset = {OFFSET: done + 1} if run.mode is STREAM else None
                for method, properties, _ in channel.consume(
                    queue, run.mode is AUTOMATIC, arguments=offset, inactivity_timeout=0.1
                ):
                    if run.over.is_set():
                        connection.close()
                        return
                    if method is None:
                        continue
                    time.sleep(run.pause_of(name))
                    act = run.delivered(name)
                    match act:
                        case Act.DIE:
                            entity.crash()
                            proxy.cut()
                            entity.recover()
                            break
                        case Act.GIVE_BACK:
                            channel.basic_nack(method.delivery_tag)
                        case Act.TAKE | Act.LOSE:
                            if run.mode is not AUTOMATIC:
                                channel.basic_ack(method.delivery_tag)
                            done = properties.headers.get(OFFSET, done)
                            if act is Act.LOSE:
                                proxy.cut()
                        case _:
                            assert_never(act)
