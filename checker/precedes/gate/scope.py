"""How far a check goes, in numbers and names, and whether that is less than before.

A check records its scope whether or not anything is violated, and the baseline stores it. The requirements
are not part of the scope: the solver decides whether they became weaker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Final, TypeAlias, assert_never

from precedes.core.faults import COUNTS, RATES, UNRECORDED

Value: TypeAlias = int | str | tuple[str, ...]
"""A number, a name, or names."""
Scope: TypeAlias = Mapping[str, Value]

PER_MILLION: Final = " per million"


class Weaker(Enum):
    """What makes a check weaker."""

    FEWER = "less than before"
    MORE = "more than before"
    GONE = "names that are not there any more"
    ADDED = "names that were not there"
    OTHER = "anything else than before"


WEAKER: Final[Mapping[str, Weaker]] = {
    "entities": Weaker.FEWER,
    "messages": Weaker.FEWER,
    **dict.fromkeys(COUNTS, Weaker.FEWER),
    "ticks": Weaker.FEWER,
    "destinations": Weaker.GONE,
    "unmet": Weaker.ADDED,
    "quiescent": Weaker.MORE,
    "seed": Weaker.OTHER,
    **dict.fromkeys((f"{rate}{PER_MILLION}" for rate in RATES), Weaker.FEWER),
    "files": Weaker.GONE,
    "delta in ns": Weaker.MORE,
    "epsilon in ns": Weaker.MORE,
    "incomplete": Weaker.MORE,
    "delivery": Weaker.OTHER,
    "order": Weaker.OTHER,
    "cluster": Weaker.GONE,
    "groups": Weaker.OTHER,
    "log": Weaker.OTHER,
    "strict": Weaker.FEWER,
    "accept-bounds": Weaker.MORE,
    **dict.fromkeys((f"{name} allowed" for name in UNRECORDED), Weaker.MORE),
    "entities at least": Weaker.OTHER,
    "recorded to the end": Weaker.FEWER,
    "ignored": Weaker.ADDED,
    "states compared": Weaker.GONE,
}
"""Everything that can stand in a scope."""

ELSEWHERE: Final[Mapping[str, str]] = {
    "model": "the name of the check",
    "as_written": "the name of the check",
    "set": "the name of the check; of logs in `log`",
    "mapping": "in `log`",
    "script": "the name of the check",
    "require": "the solver compares what is required",
    "profile": "the solver compares what is required",
    "specs": "the solver compares what is required, with its definitions",
    "expect": "the properties that are expected to hold are missed",
    "executions": "a fact of each property",
    "budget": "a fact of each property",
    "states": "what passed and is open is told",
    "time_limit": "what passed and is open is told",
    "timeout": "what passed and is open is told",
    "memory": "what passed and is open is told",
    "engine": "every engine says the same",
    "depends": "says what is to be done again",
    "timeouts": "in `timeouts allowed`",
    "ignore": "in `ignored`",
    "state": "in `states compared`",
}
"""Settings that stand in no scope, and how it is seen that one of them makes a check weaker."""

SENT_TO: Final[Mapping[str, tuple[str, ...]]] = {
    "unicast": ("unicast",),
    "multicast": ("multicast", "unicast"),
    "broadcast": ("broadcast",),
    "any": ("any", "broadcast", "multicast", "unicast"),
}
"""The destination sets that a choice of them covers."""


def weaker(before: Scope, now: Scope) -> Iterator[tuple[str, str]]:
    """What is weaker than before: its name, and how. Of what only one of them knows, nothing is said."""
    for name, how in WEAKER.items():
        if name in before and name in now:
            said = _said(name, how, before[name], now[name])
            if said:
                yield name, said


def gone(before: Value, now: Value) -> tuple[str, ...]:
    """The names that are not there any more."""
    return tuple(name for name in _names(before) if name not in _names(now))


def _said(name: str, how: Weaker, was: Value, is_: Value) -> str:
    match how:
        case Weaker.FEWER if isinstance(was, int) and isinstance(is_, int):
            return instead(name, was, is_) if is_ < was else ""
        case Weaker.MORE if isinstance(was, int) and isinstance(is_, int):
            return instead(name, was, is_) if is_ > was else ""
        case Weaker.GONE:
            missing = gone(was, is_)
            return f"{name}: without {', '.join(missing)}, which the baseline has" if missing else ""
        case Weaker.ADDED:
            added = gone(is_, was)
            return f"{name}: with {', '.join(added)}, which the baseline does not have" if added else ""
        case Weaker.OTHER | Weaker.FEWER | Weaker.MORE:
            # A number where there was a name says something else, whatever it says.
            return f"{name}: {is_}; the baseline has {was}" if is_ != was else ""
    assert_never(how)


def instead(name: str, was: int, is_: int) -> str:
    """That a number is another one than in the baseline."""
    return f"{name}: {is_:,}; the baseline has {was:,}"


def _names(value: Value) -> Sequence[str]:
    return value if isinstance(value, tuple) else (str(value),)
