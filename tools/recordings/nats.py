"""NATS: two subscriptions of one subject."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any, Final, assert_never

import nats
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

import precedes.record
from tools.brokers import HOST, NATS
from tools.recordings.proxy import Proxy, proxied
from tools.recordings.run import CONSUMERS, PAUSE, PRODUCERS, Act, Fault, Mode, Run

CORE: Final = Mode("core", "nats_core")
JETSTREAM: Final = Mode("JetStream, acknowledging consumers", "nats_jetstream", tuple(Fault))
ORDERED: Final = Mode("JetStream, ordered consumers", "nats_jetstream_ordered")
MODES: Final = (CORE, JETSTREAM, ORDERED)

LOST: Final = (nats.errors.Error, asyncio.TimeoutError, OSError)
ACK_WAIT: Final = 0.5
BUFFER: Final = 16
"""Messages that the client keeps for a subscriber who is slow."""


def version() -> str:
    """What the server says that it is."""

    async def asked() -> str:
        async with await nats.connect(f"nats://{HOST}:{NATS.port}") as connection:
            told = connection.connected_server_version
            return f"{told.major}.{told.minor}.{told.patch}"

    return asyncio.run(asked())


def record(run: Run) -> None:
    """One run."""
    asyncio.run(_record(run))


async def _record(run: Run) -> None:
    async with await nats.connect(f"nats://{HOST}:{NATS.port}") as connection:
        context = connection.jetstream()
        if run.mode is not CORE:
            await context.add_stream(name=run.name, subjects=[run.name])
        consumers = [asyncio.create_task(_consume(run, name)) for name in CONSUMERS]
        await asyncio.sleep(0.3)
        await asyncio.gather(*(_produce(run, name) for name in PRODUCERS))
        waiting = threading.Thread(target=run.wait)
        waiting.start()
        await asyncio.gather(*consumers)
        waiting.join()
        if run.mode is not CORE:
            await context.delete_stream(run.name)


async def _connected(proxy: Proxy, *, reconnecting: bool = True) -> Any:
    async def quiet(_error: Exception) -> None:
        """That connections are cut and subscribers are slow is what is tried."""

    return await nats.connect(
        f"nats://{HOST}:{proxy.port}",
        error_cb=quiet,
        allow_reconnect=reconnecting,
        reconnect_time_wait=0.05,
        max_reconnect_attempts=-1,
    )


async def _produce(run: Run, name: str) -> None:
    with proxied(NATS.port) as proxy:
        connection = await _connected(proxy)
        recorded = precedes.record.nats(connection, run.entity(name), to=run.to)
        context = recorded.jetstream()
        for count in range(run.messages):
            if run.cuts(name, count):
                proxy.cut()
            while True:
                try:
                    if run.mode is CORE:
                        await recorded.publish(run.name, run.body(name, count))
                    else:
                        await context.publish(run.name, run.body(name, count), timeout=1)
                    break
                except LOST:
                    await asyncio.sleep(0.05)
            await asyncio.sleep(PAUSE)
        await connection.close()


async def _consume(run: Run, name: str) -> None:
    entity, done = run.entity(name), [0]
    with proxied(NATS.port) as proxy:
        while not run.over.is_set():
            connection = await _connected(proxy, reconnecting=run.fault is Fault.CUT)
            recorded = precedes.record.nats(connection, entity)
            died = False
            with contextlib.suppress(*LOST):
                subscription = await _subscribed(run, name, recorded, done[0] + 1)
                died = await _take(run, name, proxy, subscription, done)
            with contextlib.suppress(*LOST):
                await connection.close()
            if died:
                entity.recover()
            await asyncio.sleep(0.05)


async def _subscribed(run: Run, name: str, recorded: Any, start: int) -> Any:
    if run.mode is CORE:
        return await recorded.subscribe(
            run.name, pending_msgs_limit=BUFFER if run.fault is Fault.SLOW else 65_536
        )
    context = recorded.jetstream()
    if run.mode is ORDERED:
        config = ConsumerConfig(deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=start)
        return await context.subscribe(run.name, config=config, ordered_consumer=True)
    config = ConsumerConfig(ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_WAIT)
    return await context.subscribe(run.name, durable=name, config=config, manual_ack=True)


async def _take(run: Run, name: str, proxy: Proxy, subscription: Any, done: list[int]) -> bool:
    """Until the run is over, or the consumer dies: True."""
    while not run.over.is_set():
        try:
            message = await subscription.next_msg(timeout=0.1)
        except (TimeoutError, nats.errors.TimeoutError):
            continue
        await asyncio.sleep(run.pause_of(name))
        act = run.delivered(name)
        match act:
            case Act.DIE:
                run.entity(name).crash()
                proxy.cut()
                return True
            case Act.GIVE_BACK:
                await message.nak()
            case Act.TAKE | Act.LOSE:
                if run.mode is JETSTREAM:
                    await message.ack()
                if run.mode is not CORE:
                    done[0] = message.metadata.sequence.stream
                if act is Act.LOSE:
                    proxy.cut()
            case _:
                assert_never(act)
    return False
