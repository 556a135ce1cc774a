"""Redis: a channel or a stream that two consumers read, each by itself or as members of a group."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Final, assert_never

import redis

import precedes.record
from tools.brokers import HOST, REDIS
from tools.recordings.proxy import Proxy, proxied
from tools.recordings.run import GROUP, PAUSE, Act, Fault, Mode, Run, in_threads, named

PUBSUB: Final = Mode("pub/sub", "redis_pubsub", size=524_288)
STREAM: Final = Mode("stream, XREAD", "redis_stream")
MEMBERS: Final = Mode("stream, XREADGROUP", "kept_by_groups", shared=True)
MODES: Final = (PUBSUB, STREAM, MEMBERS)

LOST: Final = (redis.ConnectionError, redis.TimeoutError, OSError)
LIMIT: Final = "pubsub 4194304 2097152 1"
"""Bytes that the server keeps for a subscriber who is slow; its default, 32 MB, would take long to fill."""


def version() -> str:
    """What the server says that it is."""
    with redis.Redis(HOST, REDIS.port) as client:
        return str(client.info("server")["redis_version"])


def record(run: Run) -> None:
    """One run."""
    with redis.Redis(HOST, REDIS.port) as client:
        usual = client.config_get("client-output-buffer-limit")["client-output-buffer-limit"]
        if run.fault is Fault.SLOW:
            client.config_set("client-output-buffer-limit", LIMIT)
        if run.mode is MEMBERS:
            client.xgroup_create(run.name, GROUP, mkstream=True)
        in_threads(run, lambda name: _consume(run, name), lambda name: _produce(run, name))
        client.delete(run.name)
        client.config_set("client-output-buffer-limit", usual)


def _client(proxy: Proxy) -> redis.Redis:
    # What failed is not tried again by the client: it would add an entry twice under one name.
    return redis.Redis(HOST, proxy.port, retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0))


def _produce(run: Run, name: str) -> None:
    with proxied(REDIS.port) as proxy, _client(proxy) as client:
        recorded = precedes.record.redis(client, run.entity(name), to=run.to, name=named)
        attempt = 0
        for count in range(run.messages):
            if run.cuts(name, count):
                proxy.cut()
            while True:
                # What is sent again is another message, so it has another name.
                body = run.body(f"{name}-{attempt}" if attempt else name, count)
                try:
                    if run.mode is PUBSUB:
                        recorded.publish(run.name, body)
                    else:
                        recorded.xadd(run.name, {"body": body})
                    break
                except LOST:
                    attempt += 1
            time.sleep(PAUSE)


def _consume(run: Run, name: str) -> None:
    with proxied(REDIS.port) as proxy:
        state = {"done": "0"}
        while not run.over.is_set():
            with contextlib.suppress(*LOST), _client(proxy) as client:
                recorded = precedes.record.redis(client, run.entity(name), name=named)
                if run.mode is PUBSUB:
                    died = _listen(run, name, proxy, recorded)
                else:
                    died = _read(run, name, proxy, recorded, state)
                if died:
                    run.entity(name).recover()


def _listen(run: Run, name: str, proxy: Proxy, recorded: Any) -> bool:
    with recorded.pubsub(ignore_subscribe_messages=True) as subscriber:
        subscriber.subscribe(run.name)
        while not run.over.is_set():
            if subscriber.get_message(timeout=0.1) is None:
                continue
            time.sleep(run.pause_of(name))
            match run.delivered(name):
                case Act.DIE:
                    run.entity(name).crash()
                    proxy.cut()
                    return True
                case Act.LOSE:
                    proxy.cut()
                case Act.TAKE | Act.GIVE_BACK:
                    pass
                case other:
                    assert_never(other)
    return False


def _read(run: Run, name: str, proxy: Proxy, recorded: Any, state: dict[str, str]) -> bool:
    # A member that starts again first reads what it did not acknowledge.
    start = "0"
    while not run.over.is_set():
        if run.mode is MEMBERS:
            result = recorded.xreadgroup(GROUP, name, {run.name: start}, count=1, block=100)
        else:
            result = recorded.xread({run.name: state["done"]}, count=1, block=100)
        entries = [
            each for _, found in (result.items() if isinstance(result, dict) else result) for each in found
        ]
        if not entries:
            start = ">"
            continue
        ((entry, _),) = entries
        time.sleep(run.pause_of(name))
        act = run.delivered(name)
        match act:
            case Act.DIE:
                run.entity(name).crash()
                proxy.cut()
                return True
            case Act.TAKE | Act.LOSE | Act.GIVE_BACK:
                if run.mode is MEMBERS:
                    recorded.xack(run.name, GROUP, entry)
                state["done"] = entry.decode()
                if act is Act.LOSE:
                    proxy.cut()
            case _:
                assert_never(act)
    return False
