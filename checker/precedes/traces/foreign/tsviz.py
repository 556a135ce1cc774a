r"""Logs of TSViz: those of ShiViz with a time before the text of each event. Its README has the expression
`(?<timestamp>(\d*)) (?<event>.*)\n(?<host>\w*) (?<clock>.*)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from precedes.traces.foreign import shiviz
from precedes.traces.formats.registry import BY_SUFFIX
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = shiviz.SETTINGS | {
    "time": "what the group `timestamp` is, if not ns: s, ms, us, or a pattern such as %Y-%m-%d %H:%M:%S.%f"
}

_EVENT: Final = re.compile(
    r"^(?P<timestamp>[0-9]+) (?P<event>.*)\n(?P<host>\S++) (?P<clock>\{.*\})$", re.ASCII | re.MULTILINE
)
_STATED: Final = "(?<timestamp>"


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an event as TSViz has it, or with an expression that finds its time."""
    if Path(name).suffix.lower() in BY_SUFFIX:
        return False
    text = start.replace("\r\n", "\n")
    first = _EVENT.match(text)
    if first is not None:
        return f'"{first["host"]}"' in first["clock"]
    return _STATED in text.partition("\n")[0] and "(?<clock>" in text.partition("\n")[0]


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a log. Raises PrecedesError."""
    timed = replace(source, settings=(("time", "ns"), *source.settings))
    yield from shiviz.read_as(timed, notices, lambda _: _EVENT)
