"""Damage to bytes, as disks, networks and editors do it."""

from __future__ import annotations

import random
from typing import Final

_TOKENS: Final = (
    *(b"\n", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"}", b"{", b"[", b"]", b'"', b",", b":", b"null"),
    *(b"NaN", b"1e-400000000", b"9" * 40, b'"time":1e99,', b'"clock":[1,2],', b'"clock":{"E1":1},', b"\\ud800"),
    *(b"\xff\xff\xff\xff\x0f", b"\x80" * 9 + b"\x01", b"\xfe" + b"\xff" * 8 + b"\x01"),
    *(b"\x00\x00\x00\x80", b"\x7f\xff\xff\xff", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"),
)  # fmt: skip


def damaged(choice: random.Random, data: bytes) -> bytes:
    """The same bytes but for some."""
    changed = bytearray(data)
    for _ in range(choice.choice((1, 1, 2, 5))):
        if not changed:
            break
        place = choice.randrange(len(changed))
        match choice.randrange(7):
            case 0 | 1:
                changed[place] ^= 1 << choice.randrange(8)
            case 2:
                changed[place] = choice.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 3:
                changed[place : place + choice.randrange(9)] = choice.choice(_TOKENS)
            case 4:
                end = place + choice.choice((1, 8, 200))
                changed[place:place] = changed[place:end] * choice.choice((1, 2, 30))
            case 5:
                del changed[place : place + choice.choice((1, 4, 300))]
            case _:
                if choice.random() < 0.2:
                    del changed[place:]
    return bytes(changed)
