"""The log of the broker mosquitto with `log_type all`, or at least `debug`: what clients publish, and what the broker
sends to them. lib/send_publish.c and src/handle_publish.c write these lines.

No line says which message it is about, but the broker handles one packet at a time: what it sends between a PUBLISH of
QoS 0 or 1, or the PUBREL of one of QoS 2, and the next packet is that message. What it sends at another time comes from
a queue, or was retained, and nothing says which message it is; but a packet that is sent again has the same identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import chosen, number, translated
from precedes.traces.formats.values import NANOSECONDS, RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "message": "`line` names a message after the line that publishes it; `topic` after its topic, if each has its own",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
}

_BEFORE: Final = r"(?:.{1,80}? mosquitto\[[0-9]+\]: )?(?:(?P<time>[0-9]+): |[0-9][0-9TZ:.,+/ -]*: )?"
"""What syslog writes before a line, and the time: seconds since 1970, or as `log_timestamp_format` has it."""
_PUBLISH: Final = re.compile(
    _BEFORE + r"(?P<what>Received PUBLISH from|Sending PUBLISH to) (?P<client>.+)"
    r" \(d(?P<dup>[01]), q(?P<qos>[0-2]), r(?P<retain>[01]), m(?P<mid>[0-9]+), '(?P<topic>.*)',"
    r" \.\.\. \((?P<size>[0-9]+) bytes\)\)"
)
_PACKET: Final = re.compile(
    _BEFORE + r"(?P<what>(?:Received|Sending) PUB(?:ACK|REC|REL|COMP) (?:from|to)) (?P<client>.+)"
    r" \((?:Mid: |m)(?P<mid>[0-9]+)(?:, .*)?\)"
)
_BEGINS: Final = re.compile(_BEFORE + r"(?:Received|Sending) PUB(?:LISH|ACK|REC|REL|COMP) ")
_STARTS: Final = re.compile(_BEFORE + r"mosquitto version \S+ starting")
_DROPPED: Final = re.compile(_BEFORE + r"Outgoing messages are being dropped for client ")
_LONGEST: Final = 1200
"""Characters of a line about a message: the broker writes 1,000 bytes at most, and syslog something before them."""
_OF_THE_BROKER: Final = "$SYS/"


@dataclass(slots=True)
class _Message:
    """A message that a client published."""

    name: str
    sender: str
    topic: str
    size: int
    answered: bool = False
    """The broker has told the client that it has the message, and the client may use the identifier again."""


@dataclass(slots=True)
class _Broker:
    """What the lines so far say of packets, each by its client and its identifier."""

    file: str
    by_topic: bool
    published: dict[tuple[str, int], _Message] = field(default_factory=dict)
    sent: dict[tuple[str, int], _Message] = field(default_factory=dict)
    topics: dict[str, _Message] = field(default_factory=dict)
    handled: _Message | None = None
    """The message that the broker now sends to its subscribers."""


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins as the broker does, or has a line about a message."""
    lines = [line.removesuffix("\r") for line in start.split("\n")[:-1]]
    return bool(lines) and (
        _STARTS.fullmatch(lines[0]) is not None
        or any(_PUBLISH.fullmatch(line) for line in lines if len(line) <= _LONGEST)
    )


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a log. Raises PrecedesError."""
    common: Row = {"execution": rows.execution_of(source)}
    broker = _Broker(Path(source.shown).name, chosen(source, "message", ("line", "topic")) == "topic")

    def rows_of(line: tuple[int, str]) -> Iterator[Row]:
        row = _row(broker, *line)
        if row is not None:
            yield common | row

    lines = ((n, (n, line)) for n, line in rows.lines(source, ended=True))
    yield from rows.tables(source, translated(source, lines, rows_of), notices)


def _row(broker: _Broker, place: int, line: str) -> Row | None:
    """What a line says of a message, if anything. Raises RowError."""
    whole = line if len(line) <= _LONGEST else ""
    match = _PUBLISH.fullmatch(whole)
    if match is not None:
        said = match["what"] == "Received PUBLISH from"
        row = _published(broker, place, match) if said else _sent(broker, match)
    elif (match := _PACKET.fullmatch(whole)) is not None:
        row = _answered(broker, match)
    elif _BEGINS.match(line):
        hint = "mosquitto cuts a line after 1,000 bytes: topics and names of clients must be shorter"
        raise RowError("T007", f"this line about a message is not whole: {shown(line)}", hint)
    else:
        if line.strip() and not _DROPPED.match(line):
            broker.handled = None
        return None
    if row is not None and match["time"]:
        row["time"] = rows.seconds(number(match["time"], "time") * NANOSECONDS)
    return row


def _published(broker: _Broker, place: int, match: re.Match[str]) -> Row | None:
    """The send of a message; None, if a client publishes it again. Raises RowError (T027)."""
    client, topic = match["client"], match["topic"]
    packet, size = (client, number(match["mid"], "m")), number(match["size"], "bytes")
    known = broker.published.get(packet) if match["dup"] == "1" else None
    if known is not None and (known.topic, known.size) == (topic, size):
        if known.answered:
            hint = "set `message` to topic, if each message has a topic of its own"
            said = (
                f"{client} publishes packet {packet[1]} again, which was answered: it may be another message"
            )
            raise RowError("T027", said, hint)
        broker.handled = known if match["qos"] == "1" else None
        return None
    if broker.by_topic and topic in broker.topics:
        raise RowError(
            "T027", f"two messages have the topic {shown(topic)}", "leave out the setting `message`"
        )
    message = _Message(topic if broker.by_topic else f"{broker.file}:{place}", client, topic, size)
    if match["qos"] != "0":
        broker.published[packet] = message
    broker.topics[topic] = message
    broker.handled = message if match["qos"] != "2" else None
    return _about(message, match) | {"event": "send", "dest": list(rows.TO_SOMEBODY)}


def _sent(broker: _Broker, match: re.Match[str]) -> Row | None:
    """The delivery of a message; None for what the broker itself publishes. Raises RowError (T023)."""
    client, topic, again = match["client"], match["topic"], match["dup"] == "1"
    packet = client, number(match["mid"], "m")
    if topic.startswith(_OF_THE_BROKER):
        broker.sent.pop(packet, None)
        return None
    message = _meant(broker, packet, match)
    if message is None or message.topic != topic:
        hint = "it was queued, retained or renamed; set `message` to topic, if each message has a topic of its own"
        raise RowError("T023", f"nothing says which message of {shown(topic)} is sent here", hint)
    if match["qos"] != "0":
        broker.sent[packet] = message
    return _about(message, match) | {"event": "deliver", "sender": message.sender, "redelivered": again}


def _meant(broker: _Broker, packet: tuple[str, int], match: re.Match[str]) -> _Message | None:
    """The message that the broker sends in a packet, if the log says which."""
    if broker.by_topic:
        topic = match["topic"]
        return broker.topics.get(topic) or _Message(topic, rows.SOMEBODY, topic, 0)
    if match["dup"] == "1":
        return broker.sent.get(packet)
    now = broker.handled
    return now if now is not None and now.size == number(match["size"], "bytes") else None


def _answered(broker: _Broker, match: re.Match[str]) -> Row | None:
    """The acknowledgement of a client, if the line is one."""
    packet = match["client"], number(match["mid"], "m")
    published, sent = broker.published.get(packet), broker.sent.get(packet)
    broker.handled = None
    if match["what"] == "Received PUBREL from":
        broker.handled = published
    if published is not None and match["what"] in ("Sending PUBACK to", "Sending PUBCOMP to"):
        published.answered = True
    if sent is not None and match["what"] in ("Received PUBACK from", "Received PUBREC from"):
        return {"entity": packet[0], "event": "ack", "message": sent.name}
    return None


def _about(message: _Message, match: re.Match[str]) -> Row:
    """What sends and deliveries have in common."""
    return {
        "entity": match["client"],
        "message": message.name,
        "topic": message.topic,
        "qos": number(match["qos"], "q"),
        "retained": match["retain"] == "1",
    }
