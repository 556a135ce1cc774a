"""Made JSON Lines and CSV: nearly as programs write them, with whatever else may stand in a line of a trace."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Final

IDS: Final = (
    *(
        "E1",
        "E2",
        "m",
        "x0000000",
        "x0000001",
        "x00000010",
        "a rather long id",
        "a rather long iD",
        "é",
        "日本",
        "7",
    ),
    *("-7", "05", "a;b", "a,b", "[", "group:g", 'q"', "\\", "\n", "\t\u0001", "\U0001f600", "null", "true"),
)
PLAIN: Final = ("E1", "E2", "E3", "x0000000", "x0000001", "topic-1-17", "topic-1-18")
NUMBERS: Final = ("0", "1", "7", "-7", "123456789012345678", "1234567890123456789", "-0", "01", "1.0", "1e3")
EVENTS: Final = ("send", "deliver", "deliver", "arrive", "crash", "recover", "local", "view", "ack")
TIMES: Final = (
    *(
        "1700000000.000056",
        "1700000000.1234567",
        "0",
        "5",
        "-3.25",
        "0.1234567895",
        "0.1234567885",
        "1.00000000050",
    ),
    *(
        "1700000000",
        "9000000000.5",
        "9000000001",
        "12345678901",
        "1e3",
        "1.5E-5",
        "0.0000000005",
        "-0.5",
        "00.5",
        "5.",
    ),
    *(f"0.{'3' * 29}", f"0.{'3' * 31}", "-", "1.5.5", "+1.5", ".5"),
)
MOMENTS: Final = (
    *(
        "2026-11-27T10:15:30Z",
        "2026-11-27t10:15:30.25z",
        "2024-02-29 23:59:59.999999999+05:30",
        "1969-12-31T23:59:59Z",
    ),
    *(
        "1700-03-01T00:00:00Z",
        "2199-12-31T23:59:59-23:59",
        "2023-02-29T00:00:00Z",
        "2026-11-27T10:15:30",
        "2026-11-27",
    ),
    *(
        "2026-11-27T10:15:60Z",
        "2026-13-01T00:00:00Z",
        "2026-11-27T24:00:00Z",
        "2026-11-27T10:15:30.Z",
        "1.5",
        "x",
        "",
    ),
    *(
        "2026-11-27T10:15:30.1234567891Z",
        "2026-11-27T10:15:30+0900",
        "2000-02-29T12:00:00Z",
        "2100-02-29T12:00:00Z",
    ),
)
OTHERS: Final = (
    *(
        "1",
        "-1.5e300",
        "true",
        "null",
        '"a\\u00e9\\n"',
        '"\\ud800"',
        "[]",
        "{}",
        '[1,{"a":[{"b":null}]},"]"]',
    ),
    *(
        '{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}',
        '{"a":1,"b":{"a":2},"a":3}',
        '{"a":{"a":1},"a":1}',
        "NaN",
        "01",
    ),
    *(
        '"\t"',
        '"\\x"',
        "[1,]",
        "{,}",
        "[" * 20 + "]" * 20,
        "1.",
        "-",
        '{"a" : [ 1 , 2 ] }',
        "tru",
        '{"a":1}}',
        "[1]]",
    ),
)


def json_text(made: random.Random) -> bytes:
    """Lines of JSON, in some files all of them plain."""
    wild = made.choice((0.0, 0.0, 0.01, 0.1))
    blank = made.choice(("", "", " ", "\t"))
    end = made.choice(("\n", "\n", "\r\n", "\n\n", " \n"))
    names = _names(made)
    lines = []
    for k in range(made.randrange(1, 12)):
        order = list(names)
        if made.random() < wild:
            made.shuffle(order)
        if made.random() < wild:
            order.append(made.choice(order))
        cells = [
            f'"{name}"{blank}:{blank}{_value(made, name, wild, k)}'
            for name in order
            if made.random() > 0.1 * (name not in names[:4])
        ]
        lines.append(f"{blank}{{{blank}{f'{blank},{blank}'.join(cells)}{blank}}}")
    return _damaged(made, end.join(lines) + made.choice((end, end, "")), wild)


def csv_text(made: random.Random) -> bytes:
    """A header and records, in some files all of them plain."""
    wild = made.choice((0.0, 0.0, 0.01, 0.1))
    end = made.choice(("\n", "\n", "\r\n"))
    names = list(_names(made))
    made.shuffle(names)
    quoted = made.choice((0.0, 0.2, 1.0))
    records = [",".join(names)]
    for k in range(made.randrange(1, 12)):
        cells = [_cell(made, name, wild, k) for name in names]
        if made.random() < wild:
            cells = cells[:-1] if made.random() < 0.5 else [*cells, ""]
        records.append(",".join(_quoted(cell, made.random() < quoted) for cell in cells))
        if made.random() < wild:
            records.append("")
    return _damaged(made, end.join(records) + made.choice((end, end, "")), wild)


def _names(made: random.Random) -> tuple[str, ...]:
    optional = (
        "seq",
        "time",
        "dest",
        "sender",
        "view",
        "members",
        "group",
        "redelivered",
        "key",
        "note",
        "labels",
    )
    return ("execution", "entity", "event", "message", *(name for name in optional if made.random() < 0.4))


def _value(made: random.Random, name: str, wild: float, k: int) -> str:
    """A value of JSON for a column."""
    if made.random() < wild:
        return made.choice((*OTHERS, *NUMBERS, *map(json.dumps, IDS), '""'))
    if name not in ("execution", "entity", "event", "message") and made.random() < 0.1:
        return "null"
    match name:
        case "event":
            return json.dumps(made.choice(EVENTS))
        case "seq":
            return str(k)
        case "time":
            return _time(made, wild, json.dumps)
        case "dest" | "members":
            return (
                f"[{made.choice((',', ', '))}".replace("[,", "[").replace("[, ", "[ ")
                + ",".join(_id(made, wild) for _ in range(made.randrange(4)))
                + "]"
            )
        case "group":
            return made.choice((_id(made, wild), f"[{_id(made, wild)}]"))
        case "redelivered":
            return made.choice(("true", "false"))
        case "key":
            return made.choice((_id(made, wild), "true", '""'))
        case "note" | "labels":
            return made.choice(OTHERS[:10])
        case _:
            return _id(made, wild)


def _id(made: random.Random, wild: float) -> str:
    if made.random() < 0.2:
        return made.choice(NUMBERS[:5])
    text = made.choice(IDS if made.random() < max(wild, 0.1) else PLAIN)
    return json.dumps(text, ensure_ascii=made.random() < 0.5)


def _time(made: random.Random, wild: float, quoted: Callable[[str], str]) -> str:
    few = 8 if wild == 0.0 else None
    if made.random() < 0.3:
        return quoted(made.choice(MOMENTS[: 6 if wild == 0.0 else None]))
    return made.choice(TIMES[:few])


def _cell(made: random.Random, name: str, wild: float, k: int) -> str:
    """The text of a cell."""
    if made.random() < wild:
        return made.choice((*OTHERS, *NUMBERS, *IDS, "", '["a"', "a;;b", "[1.5]", '[""]', "TRUE", "\r"))
    if name not in ("execution", "entity", "event", "message") and made.random() < 0.2:
        return ""
    plain = IDS if made.random() < max(wild, 0.1) else PLAIN
    match name:
        case "event":
            return made.choice(EVENTS)
        case "seq":
            return made.choice((str(k), f"0{k}"))
        case "time":
            return _time(made, wild, str)
        case "dest" | "members" | "group":
            ids = [made.choice(plain) for _ in range(made.randrange(1, 4))]
            return made.choice(
                (
                    ";".join(PLAIN[: len(ids)]),
                    json.dumps(ids),
                    json.dumps([*ids, 7], ensure_ascii=False),
                    "[]",
                )
            )
        case "redelivered":
            return made.choice(("true", "false", "1", "0"))
        case _:
            return made.choice(plain)


def _quoted(cell: str, wanted: bool) -> str:
    return (
        '"' + cell.replace('"', '""') + '"' if wanted or any(letter in cell for letter in '",\n\r') else cell
    )


def _damaged(made: random.Random, text: str, wild: float) -> bytes:
    """The text, in some files with a letter that is gone or another one."""
    data = bytearray(text.encode())
    if data and made.random() < wild:
        place = made.randrange(len(data))
        data[place : place + made.randrange(2)] = made.choice(
            (b'"', b",", b"\n", b"\r", b"\\", b"{", b"]", b"\0", b" ", b"")
        )
    return bytes(data)
