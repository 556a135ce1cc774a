"""Traces of RabbitMQ: the JSON lines of the plugin rabbitmq_tracing, and messages of the firehose with their headers.

The fields are those of rabbit_tracing_consumer.erl and rabbit_trace.erl. A channel hands what it publishes and what it
delivers to the tracer, one after the other. So the order of what two channels deliver from one queue is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import (
    Fields,
    at,
    chosen,
    counted,
    first_object,
    present,
    text,
    translated,
)
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.schema import TO_GROUP
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "message": "the field that names a message, such as `properties.headers.id`; by default `properties.message_id`",
    "receiver": "who delivers: `one` is the queue, from which only one channel may consume; `queue` is the queue, and "
    "the lines are in the order of its deliveries; `consumer` is each channel at a queue",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
}

_MESSAGE_ID: Final = "properties.message_id"
_ONE, _QUEUE, _CONSUMER = "one", "queue", "consumer"
_PUBLISH, _DELIVER = "publish.", "deliver."
_PUBLISHED, _RECEIVED = "published", "received"
_PLUGIN: Final = frozenset({"type", "node", "connection", "vhost", "channel", "routed_queues", "properties"})
_FIREHOSE: Final = frozenset({"exchange_name", "routing_keys", "properties", "node"})
_DEFAULT_HOST: Final = "/"


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with a line of the plugin, or with a message of the firehose."""
    found = first_object(start)
    if found is None:
        return False
    headers = found.get("headers")
    return found.keys() >= _PLUGIN or (
        str(found.get("routing_key")).startswith((_PUBLISH, _DELIVER))
        and isinstance(headers, dict)
        and headers.keys() >= _FIREHOSE
    )


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    receiver = chosen(source, "receiver", (_ONE, _QUEUE, _CONSUMER))
    log = _Log(rows.execution_of(source), source.setting("message", _MESSAGE_ID), receiver)
    found = translated(source, rows.objects(source), log.rows_of)
    yield from rows.tables(source, log.addressed(found) if receiver == _CONSUMER else found, notices)


@dataclass
class _Log:
    """What was read so far of a trace."""

    execution: str
    message: str
    receiver: str
    consumers: dict[str, str] = field(default_factory=dict)
    """A channel that each queue delivered to."""

    def rows_of(self, line: Fields) -> Iterator[Row]:
        """The row of a line. Raises RowError."""
        record = _of_firehose(line) if "headers" in line and "type" not in line else line
        kind = text(record, "type")
        channel = f"{text(record, 'connection')}#{counted(present(record, 'channel'), 'channel')}"
        row: Row = {"execution": self.execution, "message": self._name(record)}
        if kind == _PUBLISHED:
            yield row | self._published(record, channel)
        elif kind == _RECEIVED:
            yield row | self._received(record, channel)
        else:
            raise RowError("T013", f"`type` is {shown(kind)}", f"it is {_PUBLISHED} or {_RECEIVED}")

    def _name(self, record: Fields) -> str:
        name = at(record, self.message)
        if name is None or name == "":
            raise RowError(
                "T023",
                f"`{self.message}` is missing, so that nothing names this message",
                "let publishers set a message id, or say which field is one: --set message=properties.headers.id",
            )
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise RowError("T012", f"`{self.message}` is {shown(name)}", "it is a text or a whole number")
        return str(name)

    def _published(self, record: Fields, channel: str) -> Row:
        queues = present(record, "routed_queues")
        if not isinstance(queues, list) or not all(isinstance(each, str) and each for each in queues):
            raise RowError("T012", f"`routed_queues` is {shown(queues)}", "it is a list of names")
        dest = [_queue(record, each) for each in queues]
        if self.receiver == _CONSUMER:
            dest = [f"{TO_GROUP}{each}" for each in dest]
        return {"entity": channel, "event": "send", "dest": dest, "channel": channel}

    def _received(self, record: Fields, channel: str) -> Row:
        queue = _queue(record, text(record, "queue"))
        first = self.consumers.setdefault(queue, channel)
        if self.receiver == _ONE and channel != first:
            raise RowError(
                "T023",
                f"a second channel consumes from {queue}: the trace does not say in which order the two got messages",
                "--set receiver=consumer, or --set receiver=queue if the lines are in this order",
            )
        redelivered = record.get("redelivered")
        if redelivered is not None:
            redelivered = counted(
                int(redelivered) if isinstance(redelivered, bool) else redelivered, "redelivered"
            )
        row: Row = {
            "entity": queue,
            "event": "deliver",
            "sender": rows.SOMEBODY,
            "redelivered": None if redelivered is None else redelivered > 0,
            "consumer": channel,
        }
        return row | (
            {"entity": f"{queue} at {channel}", "group": [queue]} if self.receiver == _CONSUMER else {}
        )

    def addressed(self, found: Iterator[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
        """The rows, with destinations that are not known in place of queues from which nobody consumes."""
        for number, row in list(found):
            dest = row.get("dest")
            if isinstance(dest, list):
                known = [each for each in dest if each.removeprefix(TO_GROUP) in self.consumers]
                row["dest"] = known + list(rows.TO_SOMEBODY if len(known) < len(dest) else ())
            yield number, row


def _of_firehose(line: Fields) -> dict[str, Any]:
    """A message of the firehose as a line of the plugin. Raises RowError."""
    headers, key = present(line, "headers"), text(line, "routing_key")
    if not isinstance(headers, dict):
        raise RowError("T012", f"`headers` is {shown(headers)}, not an object")
    if key.startswith(_PUBLISH):
        return headers | {"type": _PUBLISHED, "payload": line.get("payload")}
    if key.startswith(_DELIVER):
        queue = key.removeprefix(_DELIVER)
        return headers | {"type": _RECEIVED, "queue": queue, "payload": line.get("payload")}
    raise RowError("T013", f"`routing_key` is {shown(key)}", "it begins with `publish.` or `deliver.`")


def _queue(record: Fields, name: str) -> str:
    """The name of a queue, with its virtual host unless that is the default one. No two queues have one."""
    host = text(record, "vhost")
    return name if host == _DEFAULT_HOST and "/" not in name else f"{quote(host, safe='')}/{name}"
